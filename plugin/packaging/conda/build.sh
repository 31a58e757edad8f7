#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs in the root of the sources; conda sets PREFIX, CPU_COUNT and CMAKE_ARGS.
set -euo pipefail
export PETSC_DIR=$PREFIX PETSC_ARCH=
# The options of CMAKE_ARGS are separate words.
cmake -S . -B build ${CMAKE_ARGS:-} -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" \
  -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_RPATH_USE_LINK_PATH=ON -DKokkos_ROOT="$PREFIX" -DRIBBON_EXAMPLES=OFF
cmake --build build -j"${CPU_COUNT:-1}"
cmake --install build
