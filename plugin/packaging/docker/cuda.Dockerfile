# SPDX-License-Identifier: BSD-2-Clause
# Ribbon for NVIDIA GPUs, with the versions of docs/getting_started/gpu.md. In the root of the checkout:
#   docker build -f plugin/packaging/docker/cuda.Dockerfile --build-arg ARCH=90 --build-arg KOKKOS_ARCH=HOPPER90 \
#     -t ribbon-cuda .
FROM nvidia/cuda:13.0.1-devel-ubuntu24.04
ARG ARCH=90
ARG KOKKOS_ARCH=HOPPER90
ENV DEBIAN_FRONTEND=noninteractive
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates cmake g++ git make pkg-config \
    python3 openmpi-bin libopenmpi-dev liblapack-dev && rm -rf /var/lib/apt/lists/*
RUN git clone --depth 1 --branch 4.7.01 https://github.com/kokkos/kokkos /kokkos \
    && cmake -S /kokkos -B /build -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_STANDARD=17 -DBUILD_SHARED_LIBS=ON \
    -DCMAKE_CXX_COMPILER=/kokkos/bin/nvcc_wrapper -DKokkos_ENABLE_SERIAL=ON -DKokkos_ENABLE_CUDA=ON \
    -DKokkos_ARCH_${KOKKOS_ARCH}=ON -DCMAKE_INSTALL_PREFIX=/opt/kokkos \
    && cmake --build /build -j"$(nproc)" && cmake --install /build && rm -rf /build /kokkos
RUN git clone --depth 1 --branch v3.24.6 https://gitlab.com/petsc/petsc /petsc && cd /petsc \
    && ./configure PETSC_ARCH=arch-cuda --prefix=/opt/petsc --with-fc=0 --with-debugging=0 --with-x=0 \
    --with-cuda-dir=/usr/local/cuda --with-cuda-arch=${ARCH} COPTFLAGS=-O2 CXXOPTFLAGS=-O2 CUDAOPTFLAGS=-O2 \
    && make PETSC_DIR=/petsc PETSC_ARCH=arch-cuda all install && rm -rf /petsc
ENV PETSC_DIR=/opt/petsc PETSC_ARCH= Kokkos_ROOT=/opt/kokkos
COPY . /ribbon
RUN cmake -S /ribbon -B /build -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=/opt/kokkos/bin/nvcc_wrapper \
    -DCMAKE_INSTALL_RPATH_USE_LINK_PATH=ON -DRIBBON_EXAMPLES=OFF && cmake --build /build -j"$(nproc)" \
    && cmake --install /build --prefix /usr/local && rm -rf /build /ribbon
# Open MPI of Ubuntu is not CUDA-aware.
ENV PETSC_OPTIONS="-dll_append /usr/local/lib/libribbon.so -use_gpu_aware_mpi 0"
