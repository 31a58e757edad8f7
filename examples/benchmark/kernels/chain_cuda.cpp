// SPDX-License-Identifier: BSD-2-Clause
#include "chain_bench.hpp"

#ifndef KOKKOS_ENABLE_CUDA
namespace bench {
template <class Scalar>
std::vector<ChainTiming> chain_cuda(const BandOf<Scalar> &, const std::vector<int> &, int)
{
  return {};
}
template std::vector<ChainTiming> chain_cuda(const BandOf<double> &, const std::vector<int> &, int);
template std::vector<ChainTiming> chain_cuda(const BandOf<float> &, const std::vector<int> &, int);
} // namespace bench
#else
  #pragma GCC diagnostic ignored                                                                             \
    "-Wdeprecated-declarations" // cuSOLVER's sparse solvers, which cuDSS supersedes

  #include <cusolverSp.h>
  #include <cusparse.h>

  #ifdef RIBBON_BENCH_CUDSS
    #include <cudss.h>
  #endif

  #include <array>

namespace bench {

namespace {

template <class Status>
void check(Status status, const char *what)
{
  if (static_cast<int>(status) != 0)
    throw std::runtime_error(std::string(what) + " ends with " + std::to_string(static_cast<int>(status)));
}

using Integers = Kokkos::View<int *, Memory>;

/// The matrices, right-hand sides and solutions of some columns on the device. The chains have one pattern, and
/// their arrays stand one behind the other: `n` rows, `entries` entries and `columns` columns of one chain.
template <class Scalar>
struct DeviceBand {
  const BandOf<Scalar> &A;
  int                   n, columns, entries;
  Integers              row_begin, column;
  VectorOf<Scalar>      value, b, x;

  DeviceBand(const BandOf<Scalar> &band, int m)
      : A(band), n(static_cast<int>(band.shape.rows)), columns(m),
        entries(band.row_begin[static_cast<std::size_t>(band.shape.rows)])
  {
    const Exec exec;
    row_begin = ribbon::upload(exec, "bench::row_begin", band.row_begin);
    column    = ribbon::upload(exec, "bench::column", band.column);
    value     = ribbon::upload(exec, "bench::value", band.value);
    std::vector<Scalar> loads(static_cast<std::size_t>(band.rows()) * static_cast<std::size_t>(m));
    for (std::size_t k = 0; k < loads.size(); ++k)
      loads[k] = static_cast<Scalar>(
        load(static_cast<std::int64_t>(k) % n, static_cast<int>(static_cast<std::int64_t>(k) / n)));
    b = ribbon::upload(exec, "bench::b", loads), x = VectorOf<Scalar>("bench::x", loads.size());
  }
  /// The last column of every chain, on the host.
  std::vector<Scalar> last_column(const VectorOf<Scalar> &v) const
  {
    const auto          all = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), v);
    std::vector<Scalar> last;
    for (std::int64_t chain = 1; chain <= A.shape.chains; ++chain) {
      const Scalar *const end = all.data() + chain * columns * n;
      last.insert(last.end(), end - n, end);
    }
    return last;
  }
  /// Backward error of the last column.
  double error() const { return A.residual(last_column(x).data(), last_column(b).data()); }
  /// Entries d columns right of the diagonal. Entry i belongs to row i.
  VectorOf<Scalar> diagonal(int d) const
  {
    std::vector<Scalar> to(static_cast<std::size_t>(n), Scalar(0));
    for (std::size_t i = 0; i < to.size(); ++i)
      for (auto e = static_cast<std::size_t>(A.row_begin[i]);
           e < static_cast<std::size_t>(A.row_begin[i + 1]); ++e)
        if (A.column[e] - static_cast<int>(i) == d) to[i] = A.value[e];
    return ribbon::upload(Exec(), "bench::diagonal", to);
  }
};

  #ifdef RIBBON_BENCH_CUDSS
/// Several chains are a uniform batch of cuDSS: matrices with one pattern.
template <class Scalar>
void cudss(const BandOf<Scalar> &A, const std::vector<int> &columns, int repeat,
           std::vector<ChainTiming> &result)
{
  constexpr cudaDataType_t type  = std::is_same_v<Scalar, double> ? CUDA_R_64F : CUDA_R_32F;
  const int                batch = static_cast<int>(A.shape.chains);
  cudssHandle_t            handle;
  cudssConfig_t            config;
  cudssData_t              data;
  const auto               nothing = [] {};
  check(cudssCreate(&handle), "cudssCreate");
  check(cudssConfigCreate(&config), "cudssConfigCreate");
  check(cudssDataCreate(handle, &data), "cudssDataCreate");
  if (batch > 1)
    check(cudssConfigSet(config, CUDSS_CONFIG_UBATCH_SIZE, &batch, sizeof(batch)), "the batch of cuDSS");
  double megabytes = 0;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const DeviceBand<Scalar> d(A, columns[k]);
    cudssMatrix_t            matrix, b, x;
    check(cudssMatrixCreateCsr(&matrix, d.n, d.n, d.entries, d.row_begin.data(), nullptr, d.column.data(),
                               d.value.data(), CUDA_R_32I, CUDA_R_32I, type, CUDSS_MTYPE_GENERAL,
                               CUDSS_MVIEW_FULL, CUDSS_BASE_ZERO),
          "cudssMatrixCreateCsr");
    check(cudssMatrixCreateDn(&b, d.n, d.columns, d.n, d.b.data(), type, CUDSS_LAYOUT_COL_MAJOR),
          "cudssMatrixCreateDn");
    check(cudssMatrixCreateDn(&x, d.n, d.columns, d.n, d.x.data(), type, CUDSS_LAYOUT_COL_MAJOR),
          "cudssMatrixCreateDn");
    const auto phase = [&](int which, const char *what) {
      check(cudssExecute(handle, which, config, data, matrix, x, b), what);
    };
    if (k == 0) {
      Kokkos::Timer timer;
      phase(CUDSS_PHASE_ANALYSIS, "analysis of cuDSS");
      Kokkos::fence();
      result.push_back({"cuDSS", "analysis", 1, 1e3 * timer.seconds(), 0, 0});
      phase(CUDSS_PHASE_FACTORIZATION, "factorization of cuDSS");
      const double                 ms = median_ms(repeat, 1, nothing,
                                                  [&] { phase(CUDSS_PHASE_REFACTORIZATION, "refactorization of cuDSS"); });
      std::array<std::int64_t, 16> estimates{};
      std::size_t                  written = 0;
      if (cudssDataGet(handle, data, CUDSS_DATA_MEMORY_ESTIMATES, estimates.data(), sizeof(estimates),
                       &written) == CUDSS_STATUS_SUCCESS)
        megabytes = 1e-6 * static_cast<double>(estimates[0]);
      result.push_back({"cuDSS", "factor", 1, ms, 0, megabytes});
    }
    const double ms = median_ms(repeat, 1, nothing, [&] { phase(CUDSS_PHASE_SOLVE, "solve of cuDSS"); });
    result.push_back({"cuDSS", "solve", columns[k], ms, d.error(), megabytes});
    cudssMatrixDestroy(matrix), cudssMatrixDestroy(b), cudssMatrixDestroy(x);
  }
  cudssDataDestroy(handle, data), cudssConfigDestroy(config), cudssDestroy(handle);
}
  #endif

/// gtsv2 (tridiagonal, pivoting, any number of right-hand sides) and gpsvInterleavedBatch (pentadiagonal,
/// QR, one thread per matrix). Both factor and solve at once.
void cusparse(const Band &A, const std::vector<int> &columns, int repeat, std::vector<ChainTiming> &result)
{
  cusparseHandle_t handle;
  std::size_t      bytes = 0;
  // one thread needs seconds for larger ones
  if (A.shape.kl > 2 || (A.shape.kl == 2 && A.rows() > 100000)) return;
  check(cusparseCreate(&handle), "cusparseCreate");
  for (int m : columns) {
    if (A.shape.kl == 2 && m > 1) continue;
    const DeviceBand<double> d(A, m);
    std::vector<Vector>      original, work;
    for (int k = -A.shape.kl; k <= A.shape.kl; ++k)
      original.push_back(d.diagonal(k)), work.push_back(Vector("bench::diagonal", original.back().extent(0)));
    const auto reset = [&] {
      for (std::size_t k = 0; k < work.size(); ++k) Kokkos::deep_copy(work[k], original[k]);
      Kokkos::deep_copy(d.x, d.b);
    };
    const auto at = [&](int k) { return work[static_cast<std::size_t>(k)].data(); };
    reset();
    if (A.shape.kl == 1)
      check(cusparseDgtsv2_bufferSizeExt(handle, d.n, m, at(0), at(1), at(2), d.x.data(), d.n, &bytes),
            "gtsv2");
    else
      check(cusparseDgpsvInterleavedBatch_bufferSizeExt(handle, 0, d.n, at(0), at(1), at(2), at(3), at(4),
                                                        d.x.data(), 1, &bytes),
            "gpsvInterleavedBatch");
    const Kokkos::View<char *, Memory> buffer("bench::buffer", bytes);
    const double                       ms = median_ms(repeat, 1, reset, [&] {
      if (A.shape.kl == 1)
        check(cusparseDgtsv2(handle, d.n, m, at(0), at(1), at(2), d.x.data(), d.n, buffer.data()), "gtsv2");
      else
        check(cusparseDgpsvInterleavedBatch(handle, 0, d.n, at(0), at(1), at(2), at(3), at(4), d.x.data(), 1,
                                                                  buffer.data()),
                                    "gpsvInterleavedBatch");
    });
    result.push_back({A.shape.kl == 1 ? "cuSPARSE gtsv2" : "cuSPARSE gpsvInterleavedBatch", "factor + solve",
                      m, ms, d.error(), 1e-6 * static_cast<double>(bytes)});
  }
  cusparseDestroy(handle);
}

/// csrlsvqr, natural order, one right-hand side.
void cusolver(const Band &A, std::vector<ChainTiming> &result)
{
  cusolverSpHandle_t handle;
  cusparseMatDescr_t description;
  int                singularity = -1;
  if (A.rows() > 10000) return; // seconds and more
  check(cusolverSpCreate(&handle), "cusolverSpCreate");
  check(cusparseCreateMatDescr(&description), "cusparseCreateMatDescr");
  const DeviceBand<double> d(A, 1);
  const double             ms = median_ms(
                3, 1, [] {},
                [&] {
      check(cusolverSpDcsrlsvqr(handle, d.n, d.entries, description, d.value.data(), d.row_begin.data(),
                                            d.column.data(), d.b.data(), 0, 0, d.x.data(), &singularity),
                        "csrlsvqr");
    });
  result.push_back({"cuSOLVER csrlsvqr", "factor + solve", 1, ms, d.error(), 0});
  cusparseDestroyMatDescr(description), cusolverSpDestroy(handle);
}

} // namespace

template <class Scalar>
std::vector<ChainTiming> chain_cuda(const BandOf<Scalar> &A, const std::vector<int> &columns, int repeat)
{
  std::vector<ChainTiming> result;
  const auto               attempt = [&](const auto &peer) {
    try {
      peer();
    } catch (const std::runtime_error &e) {
      result.push_back({e.what(), "failed", 0, 0, 0, 0});
    }
  };
  #ifdef RIBBON_BENCH_CUDSS
  attempt([&] { cudss(A, columns, std::min(repeat, 5), result); });
  #endif
  if constexpr (std::is_same_v<Scalar, double>) {
    if (A.shape.chains > 1) return result;
    attempt([&] { cusparse(A, columns, std::min(repeat, 5), result); });
    attempt([&] { cusolver(A, result); });
  }
  return result;
}
template std::vector<ChainTiming> chain_cuda(const BandOf<double> &, const std::vector<int> &, int);
template std::vector<ChainTiming> chain_cuda(const BandOf<float> &, const std::vector<int> &, int);

} // namespace bench
#endif
