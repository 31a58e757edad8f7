# SPDX-License-Identifier: BSD-2-Clause
# Copy this file into config/BuildSystem/config/packages of PETSc's sources: ./configure then has the option
# --download-ribbon. docs/getting_started/packages.md describes the build.
import os

import config.package


class Configure(config.package.CMakePackage):
    def __init__(self, framework):
        config.package.CMakePackage.__init__(self, framework)
        self.version = '1.0.0'
        self.gitcommit = 'v' + self.version
        self.download = ['ribbon-' + self.version + '.tar.gz']  # no address yet: --download-ribbon=FILE
        self.includes = ['ribbon_petsc/ribbon.h']
        self.functions = ['RibbonInitialize']
        self.liblist = [['libribbon.a']]
        self.buildLanguages = ['Cxx']
        self.minCxxVersion = 'c++17'
        self.minCmakeVersion = (3, 22, 0)
        self.precisions = ['single', 'double']
        self.linkedbypetsc = 0
        self.builtafterpetsc = 1
        self.skippackagewithoptions = 1
        self.providesDocs = 1
        self.docsDirs = ['petsc_interface/ribbon_petsc']

    def setupHelp(self, help):
        import nargs
        config.package.CMakePackage.setupHelp(self, help)
        help.addArgument('RIBBON', '-download-ribbon-at-start=<bool>', nargs.ArgBool(
            None, 1, 'PetscInitialize() loads Ribbon: adds a call to src/sys/dll/reg.c. 0: programs use -dll_append'))

    def setupDependencies(self, framework):
        config.package.CMakePackage.setupDependencies(self, framework)
        if not hasattr(self, 'addPost'):
            if self.argDB['download-ribbon']:
                raise RuntimeError('--download-ribbon needs PETSc 3.24 or newer: build Ribbon with CMake after PETSc')
            return
        self.scalartypes = framework.require('PETSc.options.scalarTypes', self)
        self.mpi = framework.require('config.packages.MPI', self)
        self.cuda = framework.require('config.packages.CUDA', self)
        self.kokkos = framework.require('config.packages.kokkos', self)
        self.deps = [self.mpi]
        self.odeps = [self.cuda, self.kokkos]

    def consistencyChecks(self):
        config.package.CMakePackage.consistencyChecks(self)
        if not self.argDB['download-ribbon']:
            return
        if not isinstance(self.argDB['download-ribbon'], str):
            raise RuntimeError('--download-ribbon needs an archive of Ribbon: --download-ribbon=FILE')
        if not self.checkSharedLibrariesEnabled():
            raise RuntimeError('--download-ribbon needs shared libraries: remove --with-shared-libraries=0')
        if self.scalartypes.scalartype == 'complex' and self.scalartypes.precision == 'single':
            raise RuntimeError('--download-ribbon needs real or complex double scalars, or real single scalars')

    def petscOfRibbon(self):
        '''PETSC_DIR and PETSC_ARCH of the PETSc that Ribbon is built with'''
        if self.argDB['prefix'] and 'package-prefix-hash' not in self.argDB:
            return os.path.abspath(os.path.expanduser(self.argDB['prefix'])), ''
        return self.petscdir.dir, self.arch

    def formCMakeConfigureArgs(self):
        args = config.package.CMakePackage.formCMakeConfigureArgs(self)
        args = self.rmArgs(args, ['--debug-find'])
        petsc_dir, petsc_arch = self.petscOfRibbon()
        args += ['-DPETSC_DIR="%s"' % petsc_dir, '-DPETSC_ARCH="%s"' % petsc_arch, '-DRIBBON_EXAMPLES=OFF']
        if self.kokkos.found:
            args.append('-DKokkos_ROOT="%s"' % self.kokkos.directory)
            if self.cuda.found and not self.cuda.cudaclang:
                args = self.rmArgsStartsWith(args, '-DCMAKE_CXX_COMPILER=')
                args.append('-DCMAKE_CXX_COMPILER="%s"' % os.path.join(self.kokkos.directory, 'bin', 'nvcc_wrapper'))
        return args

    def loadAtStart(self):
        '''Adds a call to PetscInitialize_DynamicLibraries(), next to those for other packages'''
        source = os.path.join(self.petscdir.dir, 'src', 'sys', 'dll', 'reg.c')
        with open(source) as f:
            text = f.read()
        if '"ribbon"' in text:
            return
        place = '''
  nmax = 32;
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-dll_append",'''
        if text.count(place) != 1:
            raise RuntimeError('--download-ribbon found no place for its call in %s: add '
                               '--download-ribbon-at-start=0, and start programs with -dll_append' % source)
        call = '''
#if defined(PETSC_HAVE_DYNAMIC_LIBRARIES) && defined(PETSC_USE_SHARED_LIBRARIES) && defined(PETSC_HAVE_RIBBON)
  {
    PetscBool found;

    PetscCall(PetscLoadDynamicLibrary("ribbon", &found));
    PetscCheck(found, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Unable to locate libpetscribbon. Run make install of PETSc again, or move the library back.");
  }
#endif
'''
        with open(source, 'w') as f:
            f.write(text.replace(place, call + place))
        self.logPrintBox('Added to src/sys/dll/reg.c: PetscInitialize() loads Ribbon')

    def Install(self):
        args = ' '.join(self.formCMakeConfigureArgs())
        extra = self.argDB['download-ribbon-cmake-arguments']
        if extra:
            args += ' ' + extra
        if self.argDB['download-ribbon-at-start']:
            self.loadAtStart()
        petsc_dir, petsc_arch = self.petscOfRibbon()
        petsc = 'PETSC_DIR="%s" PETSC_ARCH="%s"' % (petsc_dir, petsc_arch)
        folder = os.path.join(self.packageDir, 'petsc-build')
        if not os.path.isdir(folder):
            os.mkdir(folder)
        wrapper = ''
        if self.kokkos.found and self.cuda.found:
            with self.Language('Cxx'):
                wrapper = 'NVCC_WRAPPER_DEFAULT_COMPILER="%s" ' % self.getCompiler()
        library = 'libpetscribbon' + self.argDB['with-library-name-suffix'] + '.' + self.setCompilers.sharedLibraryExt
        self.addPost(folder, [
            wrapper + '"%s" .. %s' % (self.cmake.cmake, args),
            wrapper + self.make.make_jnp + ' ribbon',
            '"%s" -DCMAKE_INSTALL_COMPONENT=plugin -P cmake_install.cmake' % self.cmake.cmake,
            'ln -sf libribbon.%s "%s"' % (self.setCompilers.sharedLibraryExt, os.path.join(self.libDir, library))])
        load = '' if self.argDB['download-ribbon-at-start'] else ' -dll_append "%s"' % os.path.join(self.libDir, library)
        tutorials = os.path.join(self.petscdir.dir, 'src', 'ksp', 'ksp', 'tutorials')
        self.addMakeCheck(tutorials, '${OMAKE} %s ex2 > /dev/null && ./ex2 -pc_type line -ksp_error_if_not_converged%s'
                          ' > /dev/null && ${RM} ex2' % (petsc, load))
        return self.installDir
