# SPDX-License-Identifier: BSD-2-Clause
# Ribbon for CPUs, with PETSc, Kokkos and Open MPI of Debian 12. In the root of the checkout:
#   docker build -f plugin/packaging/docker/debian.Dockerfile -t ribbon .
FROM debian:12
ENV DEBIAN_FRONTEND=noninteractive
RUN apt-get update && apt-get install -y --no-install-recommends cmake g++ make pkg-config \
    openmpi-bin libopenmpi-dev libpetsc-real-dev libpetsc3.18-dev-examples libtrilinos-kokkos-dev \
    && rm -rf /var/lib/apt/lists/*
COPY . /ribbon
RUN cmake -S /ribbon -B /build -DCMAKE_BUILD_TYPE=Release -DRIBBON_EXAMPLES=OFF \
    && cmake --build /build -j"$(nproc)" && cmake --install /build --prefix /usr/local && rm -rf /build /ribbon
ENV PETSC_OPTIONS="-dll_append /usr/local/lib/libribbon.so"
# A tutorial of PETSc solves with PC line, or the image is not made.
RUN mpicc /usr/share/petsc/3.18/share/petsc/examples/src/ksp/ksp/tutorials/ex2.c $(pkg-config --cflags --libs PETSc) \
    -o /tmp/ex2 && /tmp/ex2 -pc_type line -ksp_error_if_not_converged && rm /tmp/ex2
