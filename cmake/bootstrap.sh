# Sourced by examples/run and tests/run: sees to packages, configures and builds. A second call finds everything done.
# Uses PETSC_DIR/PETSC_ARCH and Kokkos_ROOT/Kokkos_DIR from the environment when they are set. RIBBON_BUILD names another build folder.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${RIBBON_BUILD:-$root/build}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_pml=ob1 # Open MPI looks for networks in every process otherwise, which takes longer than most cases
# Programs of Open MPI that run at a time share a folder, which the one that ends may remove while another that starts relies on it: it stays while something is in it.
node=$(uname -n)
mkdir -p "${TMPDIR:-/tmp}/ompi.${node%%.*}.$(id -u)/kept"

# What the kernels are compiled with; what the examples need as well; what tests, ribbon-bench and the other examples need on top.
kernel_packages=(cmake g++ make python3)
packages=(pkg-config libopenmpi-dev python3-matplotlib)
test_packages=(gfortran libgtest-dev libgmock-dev liblapack-dev libcli11-dev nlohmann-json3-dev openmpi-bin valgrind)
[ -n "${Kokkos_ROOT:-}${Kokkos_DIR:-}" ] || kernel_packages+=(libtrilinos-kokkos-dev)
[ -n "${PETSC_DIR:-}" ] || packages+=(libpetsc-real-dev)
[ -n "${PETSC_DIR:-}" ] || test_packages+=(python3-petsc4py python3-petsc4py-real)

# missing_packages PACKAGE...: those that are not installed; none where this is no Debian: CMake says what is missing
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

# The tutorials' sources come in a package of their own, named after PETSc's version.
require_tutorials() {
  [ -z "${PETSC_DIR:-}" ] || return 0
  local version
  version=$(pkg-config --modversion PETSc | cut -d. -f1,2)
  require_packages "libpetsc$version-dev-examples"
}

# CMake writes down which objects a build folder has, for cmake/progress.
ask_for_objects() {
  mkdir -p "$1/.cmake/api/v1/query"
  touch "$1/.cmake/api/v1/query/codemodel-v2"
}

# configure_ribbon OPTION...: a folder that was configured keeps its options, but for those that are turned on here
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

# build_examples TARGET...: without tests, and without the kernels that they alone need
build_examples() {
  local options=() installs=""
  [ -f "$build/CMakeCache.txt" ] || options=(RIBBON_WERROR=ON RIBBON_SINGLE=OFF) # the former as for tests, so that these compile nothing again
  # packages are installed one after another, which leaves processors idle: they compile kernels meanwhile
  if [ ${#options[@]} -gt 0 ] && [ -z "${PETSC_DIR:-}" ] && [ "$(id -u)" -eq 0 ] && [ -n "$(missing_packages "${packages[@]}")" ]; then
    require_packages "${kernel_packages[@]}"
    configure_ribbon "${options[@]}" RIBBON_PETSC=OFF RIBBON_EXAMPLES=OFF
    (require_packages "${packages[@]}" && require_tutorials) & # not interrupted by the keyboard
    installs=$!
    build_targets ribbon_kernels_double
    wait "$installs" || exit 1
  fi
  require_packages "${kernel_packages[@]}" "${packages[@]}"
  require_tutorials
  configure_ribbon "${options[@]}" RIBBON_PETSC=ON RIBBON_EXAMPLES=ON
  build_targets "$@"
}

# build_ribbon TARGET...: of everything there is
build_ribbon() {
  require_packages "${kernel_packages[@]}" "${packages[@]}" "${test_packages[@]}"
  require_tutorials
  configure_ribbon RIBBON_TESTS=ON RIBBON_WERROR=ON RIBBON_SINGLE=ON
  build_targets "$@"
}

# How long all tests take: as those of an earlier run in this folder, else 690 seconds of one core. ctest itself counts them.
announce_tests() {
  local costs=$build/Testing/Temporary/CTestCostData.txt log=$build/Testing/Temporary/LastTest.log
  { cat "$costs" 2> /dev/null || echo "all 1 690"; } |
    awk -v cores="$(nproc)" -v log_file="$log" 'NF == 3 { s += $3 } END { printf "Running the tests, about %.1f minutes; log: %s\n", s / 60 / cores, log_file }'
}

# A Python that has matplotlib: the one on PATH, else the system's, for which the package was installed.
python_with_matplotlib() {
  local p
  for p in python3 /usr/bin/python3; do
    "$p" -c 'import matplotlib' 2> /dev/null && { echo "$p"; return; }
  done
  echo "No python3 has matplotlib: install python3-matplotlib." >&2
  return 1
}
