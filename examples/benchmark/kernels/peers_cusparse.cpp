// SPDX-License-Identifier: BSD-2-Clause
#include "bench.hpp"

#ifndef KOKKOS_ENABLE_CUDA
namespace bench {
std::vector<Timing> cusparse(const Case &, const Vector &, const Vector &, const Vector &, int, bool)
{
  return {};
}
} // namespace bench
#else
  #include <cusparse.h>

  #include <cstdio>

namespace bench {

namespace {

void check(cusparseStatus_t status, const char *what)
{
  if (status != CUSPARSE_STATUS_SUCCESS)
    throw std::runtime_error(std::string(what) + ": " + cusparseGetErrorString(status));
}

/// Diagonals of the batch, each as large as the right-hand sides. The routines read and overwrite them.
std::vector<Vector> diagonals(const Case &c)
{
  const int           h = c.half_bandwidth;
  const auto          n = static_cast<std::size_t>(c.rows);
  const auto          s = c.layout();
  std::vector<Vector> bands;
  for (int d = 0; d <= 2 * h; ++d) {
    Kokkos::View<double *, Memory> row("bench::row", n);
    const auto                     host = Kokkos::create_mirror_view(row);
    for (int i = 0; i < c.rows; ++i)
      host(static_cast<std::size_t>(i)) =
        i + d - h < 0 || i + d - h >= c.rows ? 0.0 : c.row(i)[static_cast<std::size_t>(d)];
    Kokkos::deep_copy(row, host);
    Vector all(Kokkos::view_alloc("bench::diagonal", Kokkos::WithoutInitializing),
               n * static_cast<std::size_t>(c.lines));
    Kokkos::parallel_for(
      "bench::diagonal", Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(0, s.unknowns()),
      KOKKOS_LAMBDA(const std::int64_t k) {
        const std::int64_t line = k % s.lines(), i = k / s.lines();
        all(s(line, i)) = row(i);
      });
    bands.push_back(all);
  }
  return bands;
}

} // namespace

std::vector<Timing> cusparse(const Case &c, const Vector &b, const Vector &x, const Vector &expected,
                             int repeat, bool rewrites)
{
  if (c.periodic) return {}; // cuSPARSE has no periodic matrices
  std::vector<Timing> result;
  cusparseHandle_t    handle;
  check(cusparseCreate(&handle), "cusparseCreate");
  check(cusparseSetStream(handle, Exec().cuda_stream()), "cusparseSetStream");
  const auto original = diagonals(c), work = diagonals(c);
  const int  n = c.rows, m = static_cast<int>(c.lines);
  auto       d = [&](int k) { return work[static_cast<std::size_t>(k)].data(); };
  const Exec exec;
  auto       rewrite = [&] {
    for (std::size_t k = 0; k < work.size(); ++k) Kokkos::deep_copy(exec, work[k], original[k]);
  };
  auto reset = [&] {
    if (!rewrites) rewrite();
    Kokkos::deep_copy(exec, x, b);
  };
  auto time = [&](const std::string &name, const std::function<void(void *)> &solve, std::size_t bytes) {
    Kokkos::View<char *, Memory> buffer(Kokkos::view_alloc("bench::buffer", Kokkos::WithoutInitializing),
                                        bytes);
    Timing                       t;
    t.solver        = name;
    const auto call = [&] {
      if (rewrites) rewrite();
      solve(buffer.data());
    };
    t.milliseconds = median_ms(std::min(repeat, 5), 1, reset, call);
    t.error        = difference(x, expected);
    if (rewrites) t.joules = joules_per_call(call);
    t.bytes = bytes + work.size() * work[0].size() * sizeof(double);
    result.push_back(t);
  };
  std::size_t       bytes   = 0;
  const char *const kinds[] = {"cuThomas", "LU", "QR"}; // LU exchanges rows, QR is orthogonal
  for (int algo = 0; c.interleaved && c.half_bandwidth == 1 && algo < 3; ++algo) {
    check(cusparseDgtsvInterleavedBatch_bufferSizeExt(handle, algo, n, d(0), d(1), d(2), x.data(), m, &bytes),
          "gtsvInterleavedBatch");
    time(
      std::string("cuSPARSE gtsvInterleavedBatch ") + kinds[algo],
      [&](void *w) {
        check(cusparseDgtsvInterleavedBatch(handle, algo, n, d(0), d(1), d(2), x.data(), m, w),
              "gtsvInterleavedBatch");
      },
      bytes);
  }
  if (!c.interleaved && c.half_bandwidth == 1) {
    check(cusparseDgtsv2StridedBatch_bufferSizeExt(handle, n, d(0), d(1), d(2), x.data(), m, n, &bytes),
          "gtsv2StridedBatch");
    time(
      "cuSPARSE gtsv2StridedBatch",
      [&](void *w) {
        check(cusparseDgtsv2StridedBatch(handle, n, d(0), d(1), d(2), x.data(), m, n, w),
              "gtsv2StridedBatch");
      },
      bytes);
  }
  if (c.interleaved && c.half_bandwidth == 2) {
    check(cusparseDgpsvInterleavedBatch_bufferSizeExt(handle, 0, n, d(0), d(1), d(2), d(3), d(4), x.data(), m,
                                                      &bytes),
          "gpsvInterleavedBatch");
    time(
      "cuSPARSE gpsvInterleavedBatch",
      [&](void *w) {
        check(cusparseDgpsvInterleavedBatch(handle, 0, n, d(0), d(1), d(2), d(3), d(4), x.data(), m, w),
              "gpsvInterleavedBatch");
      },
      bytes);
  }
  cusparseDestroy(handle);
  return result;
}

} // namespace bench
#endif
