// SPDX-License-Identifier: BSD-2-Clause
#include "petsc_build.hpp"

#include "compat.h"
#include "format.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

namespace ribbon::petsc {

namespace {

/// The properties of a PETSc on which its binary interface depends.
struct Build {
  int         major = 0, minor = 0;
  std::string scalar, precision; ///< "real", "complex"; "single", "double", ...
  int         index_bits = 0;
  bool        debugging  = false; ///< _p_Vec has more members
  std::string device;             ///< "CUDA", "HIP" or ""; _p_Vec and _p_Mat have more members
  std::string mpi;                ///< "Open MPI", "MPICH", "MPIUNI"; "" if unknown

  bool same_mpi(const Build &b) const { return mpi.empty() || b.mpi.empty() || mpi == b.mpi; }
  bool operator==(const Build &b) const
  {
    const bool same_numbers = scalar == b.scalar && precision == b.precision && index_bits == b.index_bits;
    return major == b.major && minor == b.minor && same_numbers && debugging == b.debugging &&
           device == b.device && same_mpi(b);
  }
  std::string text() const
  {
    return format("PETSc %d.%d (%s scalars, %s precision, %d-bit indices, %s debugging, %s%s%s)", major,
                  minor, scalar.c_str(), precision.c_str(), index_bits, debugging ? "with" : "without",
                  device.empty() ? "no device" : device.c_str(), mpi.empty() ? "" : ", ", mpi.c_str());
  }
};

/// A library, or the program.
struct Image {
  const void *base = nullptr; ///< null: unknown
  std::string path;

  static Image of(const void *address)
  {
    Dl_info info;
    if (!address || dladdr(address, &info) == 0) return {};
    return {info.dli_fbase, info.dli_fname ? info.dli_fname : ""};
  }
  bool is_library() const // dlopen() needs null for a program
  {
    void *handle = base ? dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    if (handle) dlclose(handle);
    return handle != nullptr;
  }
  /// The address of a symbol of this image or of the libraries on which it depends; null if there is none.
  void *find(const char *symbol) const
  {
    void *handle = base ? dlopen(is_library() ? path.c_str() : nullptr, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    if (!handle) return nullptr;
    void *address = dlsym(handle, symbol);
    dlclose(handle);
    return address;
  }
  bool has(const char *symbol) const { return base && of(find(symbol)).base == base; }
};

/// The functions that return properties of a PETSc. Their arguments are the same in all builds, except the
/// width of integers behind pointers.
struct Functions { // those that libribbon calls
  decltype(&PetscGetVersionNumber)   version = PetscGetVersionNumber;
  decltype(&PetscDataTypeFromString) type_of = PetscDataTypeFromString;
  decltype(&PetscDataTypeGetSize)    size_of = PetscDataTypeGetSize;
  decltype(&PetscError)              raise   = PetscError;
  Image                              image   = Image::of(reinterpret_cast<const void *>(PetscInitialize));

  Functions() = default;
  explicit Functions(const Image &of) : image(of)
  {
    version = reinterpret_cast<decltype(version)>(of.find("PetscGetVersionNumber"));
    type_of = reinterpret_cast<decltype(type_of)>(of.find("PetscDataTypeFromString"));
    size_of = reinterpret_cast<decltype(size_of)>(of.find("PetscDataTypeGetSize"));
    raise   = reinterpret_cast<decltype(raise)>(of.find("PetscError"));
  }
};

Build built_for()
{
  Build b;
  b.major = PETSC_VERSION_MAJOR, b.minor = PETSC_VERSION_MINOR,
  b.index_bits = 8 * static_cast<int>(sizeof(PetscInt));
  b.scalar     = PetscDefined(USE_COMPLEX) ? "complex" : "real";
  b.precision  = sizeof(PetscReal) == 4 ? "single" : "double"; // compat.h accepts no other precision
  b.debugging  = PetscDefined(USE_DEBUG);
  b.device     = PetscDefined(HAVE_CUDA) ? "CUDA" : PetscDefined(HAVE_HIP) ? "HIP" : "";
#if defined(PETSC_HAVE_MPIUNI)
  b.mpi = "MPIUNI";
#elif defined(OMPI_MAJOR_VERSION)
  b.mpi = "Open MPI";
#elif defined(MPICH_VERSION)
  b.mpi = "MPICH";
#endif
  return b;
}

/// The family of the MPI of this process. MPICH, Intel MPI, MVAPICH and Cray MPI have the same binary
/// interface.
std::string mpi_of_process(const Image &petsc)
{
  if (petsc.has("Petsc_MPI_Init")) return "MPIUNI";
#if !defined(PETSC_HAVE_MPIUNI)
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int  length                               = 0;
  if (MPI_Get_library_version(text, &length) != MPI_SUCCESS) return "";
  const std::string version(text);
  for (const char *name : {"Open MPI", "MPICH", "Intel(R) MPI", "MVAPICH"})
    if (version.find(name) != std::string::npos) return name == std::string("Open MPI") ? name : "MPICH";
#endif
  return "";
}

PetscErrorCode Read(const Functions &f, const Build &mine, Build *b)
{
  PetscDataType        type;
  PetscBool            found;
  std::size_t          size;
  alignas(8) std::byte number[2][8] = {}; // wide enough for the integers of any PETSc
  const auto           value        = [&](const std::byte *from) {
    std::int32_t narrow;
    std::int64_t wide;
    std::memcpy(&narrow, from, sizeof narrow);
    std::memcpy(&wide, from, sizeof wide);
    return static_cast<int>(size == sizeof narrow ? narrow : wide);
  };
  PetscFunctionBegin;
  PetscCall((*f.type_of)("int", &type, &found));
  PetscCall((*f.size_of)(type, &size));
  PetscCall((*f.version)(reinterpret_cast<PetscInt *>(number[0]), reinterpret_cast<PetscInt *>(number[1]),
                         nullptr, nullptr));
  b->major = value(number[0]), b->minor = value(number[1]), b->index_bits = 8 * static_cast<int>(size);
  PetscCall((*f.type_of)("scalar", &type, &found));
  b->scalar = type == PETSC_COMPLEX ? "complex" : "real";
  PetscCall((*f.type_of)("real", &type, &found));
  b->precision = type == PETSC_FLOAT        ? "single"
                 : type == PETSC_DOUBLE     ? "double"
                 : type == PETSC___FLOAT128 ? "quadruple"
                                            : "half";
  b->mpi       = mpi_of_process(f.image);
  // a program with a static PETSc exports only some functions
  const bool exports_all = f.image.is_library() && f.image.has("PetscInitialize");
  b->debugging = exports_all && !PetscDefined(HAVE_THREADSAFETY) ? f.image.has("petscstack") : mine.debugging;
  b->device    = exports_all ? (f.image.has("VecCreateSeqCUDA")  ? "CUDA"
                                : f.image.has("VecCreateSeqHIP") ? "HIP"
                                                                 : "")
                             : mine.device;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode CheckPetscBuild(const void *caller)
{
  Functions   running;
  const Image loader = Image::of(caller), self = Image::of(reinterpret_cast<const void *>(CheckPetscBuild));
  const Build mine = built_for();
  Build       theirs;
  PetscFunctionBegin;
  // if a program does not export its PETSc, the dynamic linker binds libribbon to the PETSc on which
  // libribbon depends
  const bool is_another =
    loader.has("PetscInitialize") && running.image.base && loader.base != running.image.base;
  if (is_another) running = Functions(loader);
  PetscCall(Read(running, mine, &theirs));
  if (!is_another && mine == theirs) PetscFunctionReturn(PETSC_SUCCESS);

  const Image brought  = Image::of(self.find("PetscInitialize"));
  std::string sentence = "libribbon was built for " + mine.text();
  if (brought.base && brought.base != running.image.base)
    sentence += ", loads a second PETSc (" + brought.path + ")";
  sentence += ", and runs with " + theirs.text() + " of " + running.image.path +
              ": rebuild it with the PETSC_DIR and PETSC_ARCH of the latter";
  if (mine.same_mpi(theirs)) // the PETSc of libribbon is not initialized, and would not print
    return (*running.raise)(PETSC_COMM_SELF, __LINE__, PETSC_FUNCTION_NAME, __FILE__, PETSC_ERR_LIB,
                            PETSC_ERROR_INITIAL, "%s", sentence.c_str());
  std::fprintf(stderr, "%s\n", sentence.c_str()); // another MPI does not know PETSC_COMM_SELF of this one
  return PETSC_ERR_LIB;
}

} // namespace ribbon::petsc
