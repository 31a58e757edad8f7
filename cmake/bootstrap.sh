# SPDX-License-Identifier: BSD-2-Clause
# Sourced by examples/run and tests/run. Installs packages, configures and builds; a second call has nothing
# to do. Uses PETSC_DIR/PETSC_ARCH and Kokkos_ROOT/Kokkos_DIR of the environment if they are set.
# RIBBON_BUILD sets another build folder.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${RIBBON_BUILD:-$root/build}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_pml=ob1 # else every process searches for networks, which takes longer than most cases
# Programs of Open MPI that run at the same time share a folder. A program that ends may remove it while
# another one starts. A folder that is not empty is not removed.
node=$(uname -n)
mkdir -p "${TMPDIR:-/tmp}/ompi.${node%%.*}.$(id -u)/kept"

# Packages for the kernels; for the examples in addition; for tests, ribbon-bench and the other examples in
# addition.
kernel_packages=(cmake g++ make python3)
packages=(pkg-config libopenmpi-dev python3-matplotlib)
test_packages=(gfortran libgtest-dev libgmock-dev liblapack-dev libcli11-dev nlohmann-json3-dev openmpi-bin valgrind)
[ -n "${Kokkos_ROOT:-}${Kokkos_DIR:-}" ] || kernel_packages+=(libtrilinos-kokkos-dev)
[ -n "${PETSC_DIR:-}" ] || packages+=(libpetsc-real-dev)
[ -n "${PETSC_DIR:-}" ] || test_packages+=(python3-petsc4py python3-petsc4py-real python3-dolfinx-real python3-scipy python3-pip)

# missing_packages PACKAGE...: prints those that are not installed. Prints nothing if this is not Debian:
# CMake then reports missing packages.
missing_packages() {
  command -v dpkg-query > /dev/null || return 0
  local p
  for p in "$@"; do
    dpkg-query -W -f='${Status}' "$p" 2> /dev/null | grep -q 'install ok installed' || echo "$p"
  done
}

require_packages() {
  local missing
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    echo "Missing packages. Install them with: sudo apt-get install ${missing[*]}" >&2
    exit 1
  fi
  echo "Installing: ${missing[*]}"
  [ -n "${package_lists:-}" ] || apt-get update -qq
  package_lists=updated
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}" > /dev/null
}

# The sources of the tutorials are in a separate package, whose name contains the version of PETSc.
require_tutorials() {
  [ -z "${PETSC_DIR:-}" ] || return 0
  local version
  version=$(pkg-config --modversion PETSc | cut -d. -f1,2)
  require_packages "libpetsc$version-dev-examples"
}

# Requests a list of the objects of a build folder from CMake, for cmake/progress.
ask_for_objects() {
  mkdir -p "$1/.cmake/api/v1/query"
  touch "$1/.cmake/api/v1/query/codemodel-v2"
}

# configure_ribbon OPTION...: a configured folder keeps its options, except those that are given here
configure_ribbon() {
  local option changed=()
  for option in "$@"; do
    grep -qs "^${option%%=*}:[A-Z]*=${option#*=}$" "$build/CMakeCache.txt" || changed+=("-D$option")
  done
  [ ${#changed[@]} -gt 0 ] || return 0
  echo "Configuring in $build"
  ask_for_objects "$build"
  [ -f "$build/CMakeCache.txt" ] || changed+=(-DCMAKE_BUILD_TYPE=Release -DRIBBON_PRECOMPILE=ON)
  cmake -S "$root" -B "$build" "${changed[@]}" > "$build/configure.log" 2>&1 || { cat "$build/configure.log" >&2; exit 1; }
}

# build_targets TARGET...
build_targets() {
  echo "Building $*"
  cmake --build "$build" --parallel "$(nproc)" --target "$@" 2>&1 | "$root/cmake/progress" "$build" "$build/build.log" "$@" || { tail -40 "$build/build.log" >&2; exit 1; }
}

# build_examples TARGET...: without tests, and without the kernels that only tests need
build_examples() {
  local options=() installs=""
  [ -f "$build/CMakeCache.txt" ] || options=(RIBBON_WERROR=ON RIBBON_SINGLE=OFF) # RIBBON_WERROR: as for tests
  # the installation of packages uses one processor: the others compile kernels meanwhile
  if [ ${#options[@]} -gt 0 ] && [ -z "${PETSC_DIR:-}" ] && [ "$(id -u)" -eq 0 ] && [ -n "$(missing_packages "${packages[@]}")" ]; then
    require_packages "${kernel_packages[@]}"
    configure_ribbon "${options[@]}" RIBBON_PETSC=OFF RIBBON_EXAMPLES=OFF
    (require_packages "${packages[@]}" && require_tutorials) & # the keyboard does not interrupt it
    installs=$!
    build_targets ribbon_kernels_double
    wait "$installs" || exit 1
  fi
  require_packages "${kernel_packages[@]}" "${packages[@]}"
  require_tutorials
  configure_ribbon "${options[@]}" RIBBON_PETSC=ON RIBBON_EXAMPLES=ON
  build_targets "$@"
}

# build_ribbon TARGET...: with all options and tests. A new build folder uses $optimization (an option of the compiler),
# except for kernels in float and complex: they are the same templates as in double, and -Og compiles them in half the time.
build_ribbon() {
  require_packages "${kernel_packages[@]}" "${packages[@]}" "${test_packages[@]}"
  require_tutorials
  local options=()
  [ -f "$build/CMakeCache.txt" ] || [ -z "${optimization:-}" ] || options=("CMAKE_CXX_FLAGS_RELEASE=$optimization -DNDEBUG" "RIBBON_OTHER_SCALARS_OPTIONS=-Og;-Wno-maybe-uninitialized")
  configure_ribbon "${options[@]}" RIBBON_TESTS=ON RIBBON_WERROR=ON RIBBON_SINGLE=ON
  build_targets "$@"
}

# Prints how long all tests take: as in an earlier run in this folder, otherwise 1800 seconds of one core.
# ctest prints how many tests there are.
announce_tests() {
  local costs=$build/Testing/Temporary/CTestCostData.txt log=$build/Testing/Temporary/LastTest.log
  { cat "$costs" 2> /dev/null || echo "all 1 1800"; } |
    awk -v cores="$(nproc)" -v log_file="$log" 'NF == 3 { s += $3 } END { printf "Running the tests, about %.1f minutes; log: %s\n", s / 60 / cores, log_file }'
}

# Prints a Python with matplotlib: that of PATH, otherwise that of the system, for which the package was
# installed.
python_with_matplotlib() {
  local p
  for p in python3 /usr/bin/python3; do
    "$p" -c 'import matplotlib' 2> /dev/null && { echo "$p"; return; }
  done
  echo "No python3 has matplotlib: install python3-matplotlib." >&2
  return 1
}
