// SPDX-License-Identifier: BSD-2-Clause
/// @file row_splitter.hpp  The numbers of A_1 .. A_D from the rows of J: the rules of docs/adi.md, row by row.
#pragma once

#include "row_grid.hpp"

#include <memory>
#include <string>
#include <vector>

namespace ribbon::petsc {

/// Along which way an entry couples, in one byte: RowGrid::same, RowGrid::mixed, or the axis and the offset along it; offsets of more than 8 count as 9.
struct Way {
  static constexpr int farthest = largest_half_bandwidth + 1, offsets = 2 * farthest + 1;
  static signed char   of(int axis, PetscInt offset) { return static_cast<signed char>(axis < 0 ? axis : axis * offsets + farthest + static_cast<int>(PetscMax(-farthest, PetscMin(offset, farthest)))); }
  static int           axis(signed char way) { return way / offsets; }
  static int           offset(signed char way) { return way % offsets - farthest; }
};

/// Rows of this rank, as a diagonal block (columns of this rank) and an off-diagonal one. Each row of A_d has the entries of J along d in their order, in the diagonal block those of the
/// element, too, and the diagonal; each row of algebraic couplings has all entries of J but the diagonal.
class RowSplitter {
public:
  struct Block {
    HostRows           J{}, M{};          ///< M of the same pattern, or without values
    const signed char *way     = nullptr; ///< see Way
    const PetscInt    *columns = nullptr; ///< global numbers; null: those from `first` on
  };
  Block            block[2];
  int              reach      = 1; ///< largest offset of a way
  PetscInt         first      = 0; ///< row
  int              components = 1;
  std::vector<int> axes; ///< of the directions
  Scalar           shift     = 0;
  const Scalar    *mass      = nullptr; ///< null: ones
  const char      *algebraic = nullptr;

  static constexpr int couplings = -1; ///< in place of a direction

  PetscInt rows() const { return static_cast<PetscInt>(block[0].J.rows); }

  /// Calls emit(d, block, value) for every entry of A_d, and for `couplings`, in the order in which they are stored; stops where it returns false.
  template <class Emit>
  bool each(const Emit &emit)
  {
    clear();
    for (PetscInt r = 0; r < rows(); ++r) {
      sum_up(r);
      if (algebraic[r] ? !emit_algebraic(r, emit) : !emit_differential(r, emit)) return false;
    }
    return true;
  }

  Scalar scale(PetscInt r) const; ///< s_b of an algebraic row

  PetscInt mixed = 0, growth = 0, torn = 0; ///< what each() left out

private:
  using Reals = std::vector<double>;
  std::size_t D() const { return axes.size(); }
  std::size_t nc() const { return static_cast<std::size_t>(components); }
  std::size_t at(std::size_t d, std::size_t c) const { return d * nc() + c; }
  std::size_t component(const Block &b, PetscInt column) const { return static_cast<std::size_t>((b.columns ? b.columns[column] : first + column) % components); }
  void        clear();
  void        sum_up(PetscInt r);
  Scalar     &beside(std::size_t d, int offset) { return beside_[d * static_cast<std::size_t>(2 * reach + 1) + static_cast<std::size_t>(reach + offset)]; }
  void        find_missing();
  Scalar      rest_of(PetscInt r) const;
  bool        share_of_end(PetscInt r, std::size_t d, int depth, Scalar *share);
  void        weigh_ends(PetscInt r);
  void        share(PetscInt r);

  /// Entries of row r, in the order of storage, with the diagonal where J has none.
  template <class OnDiagonal, class OnEntry>
  bool walk(PetscInt r, const OnDiagonal &on_diagonal, const OnEntry &on_entry) const
  {
    for (int b = 0; b < 2; ++b) {
      const Block &blk  = block[b];
      bool         done = b == 1;
      if (blk.J.rows == 0) continue;
      for (PetscInt k = blk.J.row_begin[r]; k < blk.J.row_begin[r + 1]; ++k) {
        const PetscInt c = blk.J.column[k];
        if (!done && c >= r) {
          done = true;
          if (!on_diagonal()) return false;
        }
        if ((b == 1 || c != r) && !on_entry(b, k, direction_of(blk.way[k]), component(blk, c))) return false;
      }
      if (!done && !on_diagonal()) return false;
    }
    return true;
  }

  /// Number of the direction, RowGrid::same, or RowGrid::mixed for couplings of an axis without a direction, too.
  int direction_of(signed char way) const
  {
    if (way < 0) return way;
    return direction_of_axis_[Way::axis(way)];
  }

  template <class Emit>
  bool emit_differential(PetscInt r, const Emit &emit)
  {
    share(r);
    const std::size_t c0 = static_cast<std::size_t>((first + r) % components);
    return walk(
      r,
      [&] {
        for (std::size_t d = 0; d < D(); ++d)
          if (!emit(static_cast<int>(d), 0, local_[at(d, c0)])) return false;
        return true;
      },
      [&](int b, PetscInt k, int d, std::size_t c) {
        const Scalar own = block[b].M.value && D() == 1 ? shift * block[b].M.value[k] - block[b].J.value[k] : -block[b].J.value[k];
        if (d >= 0) return emit(d, b, own);
        for (std::size_t e = 0; e < D() && d == RowGrid::same; ++e)
          if (!emit(static_cast<int>(e), b, D() == 1 ? own : local_[at(e, c)])) return false;
        return true;
      });
  }

  template <class Emit>
  bool emit_algebraic(PetscInt r, const Emit &emit)
  {
    const std::size_t c0 = static_cast<std::size_t>((first + r) % components);
    const Scalar      s = scale_of(inner_[c0]), diagonal = s * inner_[c0];
    std::size_t       own = 0, along = 0;
    for (std::size_t d = 0; d < D(); ++d) {
      if (every_[d] > every_[own]) own = d;
      along += every_[d] > 0;
    }
    if (along + (stray_ > 0) > 1) ++torn;
    return walk(
      r,
      [&] {
        for (std::size_t d = 0; d < D(); ++d)
          if (!emit(static_cast<int>(d), 0, d == own ? -diagonal : Scalar(-1))) return false;
        return true;
      },
      [&](int b, PetscInt k, int d, std::size_t) {
        const Scalar v = s * block[b].J.value[k];
        if (!emit(couplings, b, v)) return false;
        if (d >= 0) return emit(d, b, static_cast<std::size_t>(d) == own ? -v : Scalar(0));
        for (std::size_t e = 0; e < D() && d == RowGrid::same; ++e)
          if (!emit(static_cast<int>(e), b, e == own ? -v : Scalar(0))) return false;
        return true;
      });
  }

  static Scalar scale_of(Scalar diagonal) { return diagonal == Scalar(0) ? Scalar(1) : Scalar(1) / diagonal; }

  int                          direction_of_axis_[3] = {RowGrid::mixed, RowGrid::mixed, RowGrid::mixed};
  std::vector<Scalar>          sums_, inner_, other_, local_; ///< S_d by component; entries of the element; couplings along no direction by component; entries of the element in A_d
  std::vector<Scalar>          beside_, missing_;             ///< couplings of this component by direction and offset; what stood for neighbours that are not there, by direction
  std::unique_ptr<RowSplitter> neighbour_;                    ///< looks at other rows
  Reals                        size_, every_;                 ///< sum of |J_ij| along d: of this component, of all
  double                       stray_ = 0;                    ///< sum of |J_ij| along no direction
};

} // namespace ribbon::petsc
