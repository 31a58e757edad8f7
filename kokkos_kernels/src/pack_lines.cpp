// SPDX-License-Identifier: BSD-2-Clause
// Lines in any memory: copied to the host, packed, and divided into rows.
#include <ribbon/lines_by_rounds.hpp>

#include "fit_lines.hpp"
#include "instantiate.hpp"
#include "positions.hpp"
#include "row_on_lines.hpp"

namespace ribbon {

namespace {

/// Every place of packed lines gets its row.
struct FillKernel {
  const std::int64_t  *order, *begin, *piece, *first; ///< packed line of every line, and its first element
  std::int64_t         lines, pieces;
  std::int64_t        *row_at, *line_at, *position_of;
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const std::int64_t line = detail::row_at(begin, lines, k);
    const std::int64_t row = order[k], position = (first[line] + k - begin[line]) * pieces + piece[line];
    row_at[position]  = row;
    line_at[position] = line;
    position_of[row]  = position;
  }
};

struct RowsOfBlocksKernel {
  const std::int64_t  *order;
  std::int64_t         block;
  std::int64_t        *rows;
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const std::int64_t element = quotient(k, block);
    rows[k]                    = order[element] * block + (k - element * block);
  }
};

struct ScaleKernel {
  const std::int64_t  *from;
  std::int64_t         factor;
  std::int64_t        *to;
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const { to[k] = factor * from[k]; }
};

} // namespace

template <class Exec>
LinesInMemory<typename Exec::memory_space>
lines_of_rows(const Exec &exec, const LinesInMemory<typename Exec::memory_space> &lines, int block)
{
  using Array                                             = decltype(lines.order);
  const auto                                       factor = static_cast<std::size_t>(block);
  const LinesInMemory<typename Exec::memory_space> rows   = {
      allocate<Array>(exec, "ribbon::order", factor * lines.order.extent(0)),
      allocate<Array>(exec, "ribbon::begin", lines.begin.extent(0))};
  Kokkos::parallel_for("ribbon::lines_of_rows",
                       indices(exec, static_cast<std::int64_t>(rows.order.extent(0))),
                       RowsOfBlocksKernel{lines.order.data(), block, rows.order.data()});
  Kokkos::parallel_for("ribbon::lines_of_rows",
                       indices(exec, static_cast<std::int64_t>(rows.begin.extent(0))),
                       ScaleKernel{lines.begin.data(), block, rows.begin.data()});
  exec.fence();
  return rows;
}

template <class Exec>
LinesOfGraph on_host(const Exec &exec, const LinesInMemory<typename Exec::memory_space> &lines)
{
  LinesOfGraph to;
  const auto   copy = [&exec](const auto &from, std::vector<std::int64_t> *into) {
    into->resize(from.extent(0));
    Kokkos::deep_copy(
        exec,
        Kokkos::View<std::int64_t *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(into->data(),
                                                                                               into->size()),
        from);
  };
  copy(lines.order, &to.order);
  copy(lines.begin, &to.begin);
  exec.fence();
  return to;
}

template <class Exec>
PackedLinesInMemory<typename Exec::memory_space>
pack(const Exec &exec, const LinesInMemory<typename Exec::memory_space> &lines, std::int64_t rows)
{
  using Memory = typename Exec::memory_space;
  using Array  = Kokkos::View<std::int64_t *, Memory>;
  std::vector<std::int64_t> begin(lines.begin.extent(0));
  Kokkos::deep_copy(exec,
                    Kokkos::View<std::int64_t *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                      begin.data(), begin.size()),
                    lines.begin);
  exec.fence();
  const graph::FittedLines fitted = graph::fit_lines(begin, rows);
  const std::int64_t       places = fitted.rows * fitted.pieces,
                     elements     = static_cast<std::int64_t>(lines.order.extent(0));
  // one allocation: those of a device take longer than kernels
  const auto all  = allocate<Array>(exec, "ribbon::places", static_cast<std::size_t>(2 * places + elements));
  const auto part = [&all](std::int64_t first, std::int64_t end) {
    return Kokkos::subview(all, std::make_pair(first, end));
  };
  PackedLinesInMemory<Memory> packed = {fitted.rows, fitted.pieces, part(0, places), part(places, 2 * places),
                                        part(2 * places, 2 * places + elements)};
  if (places == 0) return packed;
  const auto piece = upload(exec, "ribbon::pack", fitted.piece_of),
             first = upload(exec, "ribbon::pack", fitted.first_of);
  if (places > elements) { // padding
    Kokkos::deep_copy(exec, packed.row_at, -1);
    Kokkos::deep_copy(exec, packed.line_at, -1);
  }
  Kokkos::parallel_for("ribbon::pack", indices(exec, elements),
                       FillKernel{lines.order.data(), lines.begin.data(), piece.data(), first.data(),
                                  lines.lines(), fitted.pieces, packed.row_at.data(), packed.line_at.data(),
                                  packed.position_of.data()});
  exec.fence();
  return packed;
}

#define RIBBON_INSTANTIATE_SPACE(Scalar, Exec)                                                               \
  template LinesInMemory<typename Exec::memory_space> lines_of_rows(                                         \
    const Exec &, const LinesInMemory<typename Exec::memory_space> &, int);                                  \
  template LinesOfGraph on_host(const Exec &, const LinesInMemory<typename Exec::memory_space> &);           \
  template PackedLinesInMemory<typename Exec::memory_space> pack(                                            \
    const Exec &, const LinesInMemory<typename Exec::memory_space> &, std::int64_t);
RIBBON_INSTANTIATE_SPACES(RIBBON_INSTANTIATE_SPACE, double)

} // namespace ribbon
