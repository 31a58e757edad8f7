// SPDX-License-Identifier: BSD-2-Clause
#include "peers.hpp"

#include <Kokkos_Macros.hpp> // all of Kokkos takes seconds to compile

#if !defined(KOKKOS_ENABLE_CUDA) || !defined(PETSC_USE_REAL_DOUBLE) || defined(PETSC_USE_COMPLEX)
std::unique_ptr<Peer> MakeCusparse(const TridiagonalRows &)
{
  return nullptr;
}
#else
  #include "petsc_space.hpp"

  #include <cusparse.h>

  #include <stdexcept>
  #include <string>

using Exec   = Kokkos::Cuda;
using Vector = Kokkos::View<double *, Exec::memory_space>;

static void Check(cusparseStatus_t status, const char *what)
{
  if (status != CUSPARSE_STATUS_SUCCESS)
    throw std::runtime_error(std::string(what) + ": " + cusparseGetErrorString(status));
}

/// w = B u on the lines of a box of n^3 points whose points are `stride` apart.
static void Product(const Exec &exec, const TridiagonalRows &rows, unsigned stride, const double *u,
                    double *w)
{
  const auto                B     = rows.product;
  const auto                n     = static_cast<unsigned>(rows.n);
  const int                 reach = rows.reach;
  Kokkos::Array<double, 49> table;
  for (std::size_t k = 0; k < 49; ++k) table[k] = B[k / 7][k % 7];
  Kokkos::parallel_for(
    "compact::product",
    Kokkos::RangePolicy<Exec, Kokkos::IndexType<Index>>(exec, 0, rows.n * rows.n * rows.n),
    KOKKOS_LAMBDA(const Index k) {
      const auto i     = static_cast<int>(static_cast<unsigned>(k) / stride % n);
      const int  after = static_cast<int>(n) - 1 - i, at = i < 3 ? i : after < 3 ? 6 - after : 3;
      const int  most = at == 3 ? reach : 3;
      double     sum  = 0;
      for (int d = -most; d <= most; ++d)
        if (i + d >= 0 && d <= after)
          sum += table[static_cast<std::size_t>(7 * at + d + 3)] * u[k + d * static_cast<Index>(stride)];
      w[k] = sum;
    });
}

/// to[p][c][r] = from[p][r][c], the last index fastest.
static void Transpose(const Exec &exec, int planes, int rows, int columns, const double *from, double *to)
{
  constexpr int tile = 32, team_size = 256;
  using Teams = Kokkos::TeamPolicy<Exec>;
  // a column more than a tile: columns then lie in different banks
  using Tile       = Kokkos::View<double[tile][tile + 1], Kokkos::LayoutRight, Exec::scratch_memory_space,
                            Kokkos::MemoryUnmanaged>;
  const int across = (columns + tile - 1) / tile, down = (rows + tile - 1) / tile;
  Kokkos::parallel_for(
    "compact::transpose",
    Teams(exec, planes * across * down, team_size).set_scratch_size(0, Kokkos::PerTeam(Tile::shmem_size())),
    KOKKOS_LAMBDA(const Teams::member_type &team) {
      const Tile  values(team.team_scratch(0));
      const int   c0 = team.league_rank() % across * tile, r0 = team.league_rank() / across % down * tile;
      const Index base = static_cast<Index>(team.league_rank() / across / down) * rows * columns;
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, tile * tile), [&](int e) {
        const int r = e / tile, c = e % tile;
        if (r0 + r < rows && c0 + c < columns)
          values(r, c) = from[base + static_cast<Index>(r0 + r) * columns + c0 + c];
      });
      team.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, tile * tile), [&](int e) {
        const int c = e / tile, r = e % tile;
        if (r0 + r < rows && c0 + c < columns)
          to[base + static_cast<Index>(c0 + c) * rows + r0 + r] = values(r, c);
      });
    });
}

/// A diagonal of one matrix per line: that of one line, n^2 times.
static Vector Spread(const Exec &exec, const std::vector<double> &diagonal)
{
  const Index  n = static_cast<Index>(diagonal.size());
  const Vector all(Kokkos::view_alloc("compact::diagonal", Kokkos::WithoutInitializing),
                   static_cast<std::size_t>(n * n * n)),
    one("compact::one", diagonal.size());
  Kokkos::deep_copy(one, Kokkos::View<const double *, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                           diagonal.data(), diagonal.size()));
  Kokkos::parallel_for(
    "compact::diagonal", Kokkos::RangePolicy<Exec, Kokkos::IndexType<Index>>(exec, 0, n * n * n),
    KOKKOS_LAMBDA(const Index k) { all(k) = one(k % n); });
  return all;
}

class Cusparse final : public Peer {
public:
  explicit Cusparse(const TridiagonalRows &rows) : rows_(rows), n_(static_cast<int>(rows.n))
  {
    if (rows.n * rows.n * rows.n > 2147483647) throw std::runtime_error("cuSPARSE: more than 2^31 unknowns");
    if (GetSpace(&exec_)) throw std::runtime_error("PETSc has no stream");
    Check(cusparseCreate(&handle_), "cusparseCreate");
    Check(cusparseSetStream(handle_, exec_.cuda_stream()), "cusparseSetStream");
    lower_    = Spread(exec_, rows.lower);
    diagonal_ = Spread(exec_, rows.diagonal);
    upper_    = Spread(exec_, rows.upper);
    product_  = Vector(Kokkos::view_alloc("compact::product", Kokkos::WithoutInitializing), lower_.size());
    lines_    = Vector(Kokkos::view_alloc("compact::lines", Kokkos::WithoutInitializing), lower_.size());
    std::size_t bytes = 0;
    Check(cusparseDgtsv2StridedBatch_bufferSizeExt(handle_, n_, lower_.data(), diagonal_.data(),
                                                   upper_.data(), lines_.data(), n_ * n_, n_, &bytes),
          "gtsv2StridedBatch_bufferSizeExt");
    buffer_ = Kokkos::View<char *, Exec::memory_space>(
      Kokkos::view_alloc("compact::buffer", Kokkos::WithoutInitializing), bytes);
  }
  Cusparse(const Cusparse &)            = delete;
  Cusparse &operator=(const Cusparse &) = delete;
  ~Cusparse() override { cusparseDestroy(handle_); }
  const char *name() const override { return "cuSPARSE gtsv2StridedBatch"; }

  void apply(int direction, const double *u, double *y) override
  {
    const auto n = static_cast<unsigned>(n_);
    if (direction == 0) {
      Product(exec_, rows_, 1, u, y);
      solve(y);
      return;
    }
    const int planes = direction == 1 ? n_ : 1, columns = direction == 1 ? n_ : n_ * n_;
    Product(exec_, rows_, direction == 1 ? n : n * n, u, product_.data());
    Transpose(exec_, planes, n_, columns, product_.data(), lines_.data());
    solve(lines_.data());
    Transpose(exec_, planes, columns, n_, lines_.data(), y);
  }

private:
  void solve(double *b)
  {
    Check(cusparseDgtsv2StridedBatch(handle_, n_, lower_.data(), diagonal_.data(), upper_.data(), b, n_ * n_,
                                     n_, buffer_.data()),
          "gtsv2StridedBatch");
  }

  const TridiagonalRows                    rows_;
  const int                                n_;
  Exec                                     exec_;
  cusparseHandle_t                         handle_ = nullptr;
  Vector                                   lower_, diagonal_, upper_, product_, lines_;
  Kokkos::View<char *, Exec::memory_space> buffer_;
};

std::unique_ptr<Peer> MakeCusparse(const TridiagonalRows &rows)
{
  return std::make_unique<Cusparse>(rows);
}
#endif
