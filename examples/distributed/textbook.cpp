// SPDX-License-Identifier: BSD-2-Clause
// The textbook method for distributed tridiagonal lines, as a reference. A modified Thomas algorithm leaves
// two unknowns of every sub-line. Neighbours combine them to one unknown. Parallel cyclic reduction over
// the ranks solves for these in log2 P exchanges (Laszlo, Giles & Appleyard, ACM TOMS 42, 2016, section 3;
// Kim, Kang, Pan & Choi, "PaScaL_TDMA", CPC 260, 2021, with an all-to-all instead of the last step; Hockney
// & Jesshope, Parallel Computers, 1981). There is one matrix per line, and no solve reuses results of
// another one: 136 bytes per unknown.
//
//   textbook [-lines <n>] [-rows <n>] [-sigma <s>] [-repeat <n>]
//
// Options are those of `distributed`. It runs on Kokkos' default device with messages through host memory.
#include <petscsys.h>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <vector>

namespace {

using Device = Kokkos::DefaultExecutionSpace;
using Array  = Kokkos::View<double *, Device>;
using Lines  = Kokkos::RangePolicy<Device, Kokkos::IndexType<long>>;

/// Sub-lines of all lines: element (row i, line l) has index i lines + l.
struct Pieces {
  long lines, rows, first, all; ///< lines; rows of a sub-line; position of its first row; rows of a line
  /// sub-, main and superdiagonal, right-hand side; d receives the solution
  Array a, b, c, d;
  Array p, q, r; ///< p x_first + x_i + q x_last = r, in every row between first and last

  KOKKOS_FUNCTION static double given(long i, long l)
  {
    return static_cast<double>((i * 7919 + l * 104729) % 2003) / 1001.5 - 1;
  }
};

struct FillPieces {
  Pieces               v;
  double               sigma;
  KOKKOS_FUNCTION void operator()(const long k) const
  {
    const long i = v.first + k / v.lines, l = k % v.lines;
    v.a(k) = i > 0 ? -sigma : 0, v.c(k) = i + 1 < v.all ? -sigma : 0, v.b(k) = 1 + 2 * sigma;
    v.d(k) =
      v.b(k) * Pieces::given(i, l) + v.a(k) * Pieces::given(i - 1, l) + v.c(k) * Pieces::given(i + 1, l);
  }
};

/// Leaves the first and the last row of the sub-line: p x_left + x_first + q x_last = r and p x_first +
/// x_last + q x_right = r.
struct ReducePieces {
  Pieces               v;
  KOKKOS_FUNCTION void operator()(const long l) const
  {
    const long n = v.lines, m = v.rows;
    double     p = 0, q = 0, r = 0;
    for (long i = 0; i < m; ++i) { // from the third row on, x_first replaces the previous unknown
      const long   k = i * n + l;
      const double a = v.a(k), w = 1 / (i < 2 ? v.b(k) : v.b(k) - a * q);
      v.p(k) = p = w * (i < 2 ? a : -a * p), v.q(k) = q = w * v.c(k),
      v.r(k) = r = w * (i < 2 ? v.d(k) : v.d(k) - a * r);
    }
    p = v.p((m - 2) * n + l), q = v.q((m - 2) * n + l), r = v.r((m - 2) * n + l);
    for (long i = m - 3; i > 0; --i) { // x_last replaces the next unknown
      const long   k   = i * n + l;
      const double own = v.q(k);
      v.p(k) = p = v.p(k) - own * p, v.r(k) = r = v.r(k) - own * r, v.q(k) = q = -own * q;
    }
    const double own = v.q(l), w = 1 / (1 - own * p); // eliminates the second unknown from the first row
    v.r(l) = w * (v.r(l) - own * r), v.q(l) = -w * own * q, v.p(l) *= w;
  }
};
struct ReplaceUnknowns {
  Pieces               v;
  Array                left, own; ///< x_last of the sub-line to the left, and x_last of this one
  KOKKOS_FUNCTION void operator()(const long l) const
  {
    const long   n = v.lines, m = v.rows;
    const double last = own(l), x = v.r(l) - v.p(l) * left(l) - v.q(l) * last;
    v.d(l) = x, v.d((m - 1) * n + l) = last;
    for (long i = 1; i + 1 < m; ++i)
      v.d(i * n + l) = v.r(i * n + l) - v.p(i * n + l) * x - v.q(i * n + l) * last;
  }
};

/// A row of the system between ranks: word w of line l has index w lines + l.
struct FirstRow {
  Pieces               v;
  Array                row;
  KOKKOS_FUNCTION void operator()(const long l) const
  {
    row(l) = v.p(l), row(v.lines + l) = v.q(l), row(2 * v.lines + l) = v.r(l);
  }
};
/// a x_last(left) + x_last + c x_last(right) = d, from the last row of a sub-line, the first row of the
/// same sub-line and the first row of the next one.
struct LastRow {
  Pieces               v;
  Array                next, row;
  bool                 has_next;
  KOKKOS_FUNCTION void operator()(const long l) const
  {
    const long   n = v.lines, k = (v.rows - 1) * n + l;
    const double p = v.p(k), q = has_next ? v.q(k) : 0,
                 w = 1 / (1 - p * v.q(l) - (has_next ? q * next(l) : 0));
    row(l) = -w * p * v.p(l), row(n + l) = has_next ? -w * q * next(n + l) : 0,
    row(2 * n + l) = w * (v.r(k) - p * v.r(l) - (has_next ? q * next(2 * n + l) : 0));
  }
};
struct CyclicReduction {
  long                 n;
  Array                left, right, row;
  bool                 has_left, has_right;
  KOKKOS_FUNCTION void operator()(const long l) const
  {
    const double a = has_left ? row(l) : 0, c = has_right ? row(n + l) : 0,
                 w = 1 / (1 - (has_left ? a * left(n + l) : 0) - (has_right ? c * right(l) : 0));
    row(2 * n + l) =
      w * (row(2 * n + l) - (has_left ? a * left(2 * n + l) : 0) - (has_right ? c * right(2 * n + l) : 0));
    row(l) = has_left ? -w * a * left(l) : 0, row(n + l) = has_right ? -w * c * right(n + l) : 0;
  }
};
struct Error {
  Pieces               v;
  KOKKOS_FUNCTION void operator()(const long k, double &most) const
  {
    const double e = v.d(k) - Pieces::given(v.first + k / v.lines, k % v.lines), size = e < 0 ? -e : e;
    if (!(size <= most)) most = size;
  }
};

/// Messages between ranks `apart`, through host memory.
class Exchange {
public:
  Exchange(int rank, int ranks, long words)
      : rank_(rank), ranks_(ranks), out_("textbook::out", static_cast<std::size_t>(words)),
        in_("textbook::in", static_cast<std::size_t>(words))
  {
  }
  bool has(int other) const { return other >= 0 && other < ranks_; }
  /// Receives the words of rank - apart in `received`. Beyond the ends there is no rank, and nothing is
  /// received.
  void from(int apart, const Array &sent, const Array &received)
  {
    const auto out   = Kokkos::subview(out_, std::make_pair(std::size_t(0), sent.size())),
               in    = Kokkos::subview(in_, std::make_pair(std::size_t(0), sent.size()));
    const int to     = has(rank_ + apart) ? rank_ + apart : MPI_PROC_NULL,
              source = has(rank_ - apart) ? rank_ - apart : MPI_PROC_NULL;
    Kokkos::deep_copy(out, sent);
    MPI_Sendrecv(out.data(), static_cast<int>(sent.size()), MPI_DOUBLE, to, 0, in.data(),
                 static_cast<int>(sent.size()), MPI_DOUBLE, source, 0, PETSC_COMM_WORLD, MPI_STATUS_IGNORE);
    Kokkos::deep_copy(received, in);
  }

private:
  int rank_, ranks_;
#if defined(KOKKOS_ENABLE_CUDA)
  Kokkos::View<double *, Kokkos::CudaHostPinnedSpace> out_, in_;
#else
  Kokkos::View<double *, Kokkos::HostSpace> out_, in_;
#endif
};

void solve(const Pieces &v, Exchange &exchange, int rank, int ranks, const Array &row, const Array &left,
           const Array &right)
{
  const Lines lines(0, v.lines);
  const auto  third =
    std::make_pair(static_cast<std::size_t>(2 * v.lines), static_cast<std::size_t>(3 * v.lines));
  Kokkos::parallel_for("textbook::reduce", lines, ReducePieces{v});
  Kokkos::parallel_for("textbook::first_row", lines, FirstRow{v, row});
  exchange.from(-1, row, right);
  Kokkos::parallel_for("textbook::last_row", lines, LastRow{v, right, row, exchange.has(rank + 1)});
  for (int apart = 1; apart < ranks; apart *= 2) {
    exchange.from(apart, row, left), exchange.from(-apart, row, right);
    Kokkos::parallel_for(
      "textbook::cyclic_reduction", lines,
      CyclicReduction{v.lines, left, right, row, exchange.has(rank - apart), exchange.has(rank + apart)});
  }
  const Array own = Kokkos::subview(row, third), before = Kokkos::subview(left, third);
  exchange.from(1, own, before);
  if (rank == 0) Kokkos::deep_copy(before, 0);
  Kokkos::parallel_for("textbook::replace", lines, ReplaceUnknowns{v, before, own});
  Kokkos::fence();
}

PetscErrorCode Run()
{
  PetscInt    lines = 2048, all = 512, repeat = 21;
  PetscReal   sigma = 0.4;
  PetscMPIInt ranks, rank;
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-lines", &lines, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-rows", &all, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-repeat", &repeat, nullptr));
  PetscCall(PetscOptionsGetReal(nullptr, nullptr, "-sigma", &sigma, nullptr));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCheck(all >= 3 * ranks, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "every rank needs three rows of a line");
  Pieces v{
    lines, (all * (rank + 1)) / ranks - all * rank / ranks, all * rank / ranks, all, {}, {}, {}, {}, {}, {},
    {}};
  const auto words = static_cast<std::size_t>(v.lines * v.rows);
  for (Array *array : {&v.a, &v.b, &v.c, &v.d, &v.p, &v.q, &v.r}) *array = Array("textbook::pieces", words);
  const Array row("textbook::row", static_cast<std::size_t>(3 * lines)), left("textbook::left", row.size()),
    right("textbook::right", row.size());
  Exchange            exchange(rank, ranks, 3 * lines);
  std::vector<double> seconds;
  double              most = 0;
  for (PetscInt k = -2; k < repeat; ++k) {
    Kokkos::parallel_for("textbook::fill", Lines(0, v.lines * v.rows),
                         FillPieces{v, static_cast<double>(sigma)});
    Kokkos::fence();
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    const double began = MPI_Wtime();
    solve(v, exchange, rank, ranks, row, left, right);
    double took = MPI_Wtime() - began;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
    if (k >= 0) seconds.push_back(took);
  }
  Kokkos::parallel_reduce("textbook::error", Lines(0, v.lines * v.rows), Error{v}, Kokkos::Max<double>(most));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  std::sort(seconds.begin(), seconds.end());
  const double median = seconds[seconds.size() / 2];
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%d ranks, %" PetscInt_FMT " lines of %" PetscInt_FMT
                        " rows, textbook: %.3e s, %.3e unknowns/s, error %.1e\n",
                        ranks, lines, all, median, (double)lines * (double)all / median, most));
  PetscFunctionReturn(PetscErrorCode(0));
}

} // namespace

int main(int argc, char **argv)
{
  PetscCall(PetscInitialize(&argc, &argv, nullptr, nullptr));
  Kokkos::initialize(argc, argv);
  const PetscErrorCode ierr = Run();
  Kokkos::finalize();
  PetscCall(ierr);
  PetscCall(PetscFinalize());
  return 0;
}
