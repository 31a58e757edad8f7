// SPDX-License-Identifier: BSD-2-Clause
/// @file cut_solver.hpp  Lines that the partition cuts, in parts: messages of one travel while the
///   lines of another are computed.
#pragma once

#include "cut_part.hpp"

namespace ribbon::petsc {

template <class Exec>
class CutSolver {
  using Memory = typename Exec::memory_space;
  using Input  = Bands<Scalar, Memory>;

public:
  /// Factors; see CutPart::set_up(). Collective on the chain.
  PetscErrorCode set_up(const Exec &exec, std::shared_ptr<const LineChain> chain, const LineSet &lines,
                        const Input &bands, bool periodic, const CutChoices &how,
                        const LineSolverOptions &options, std::string *why_not)
  {
    PetscFunctionBegin;
    PetscCall(Divide(exec, *chain, lines, how.parts));
    for (Part &part : parts_) {
      Input of_part;
      PetscCallCXX(of_part = bands_of(exec, part, bands));
      PetscCall(
        part.cut.set_up(exec, chain, of(part, lines), of_part, periodic, how, true, options, why_not));
      if (why_not->empty()) PetscCall(part.cut.probe(exec, of(part, lines), how.cut, why_not));
      if (!why_not->empty()) PetscFunctionReturn(PETSC_SUCCESS); // on all ranks
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  bool empty() const { return parts_.empty(); }
  /// Whether what is left out is below rounding.
  bool is_exact() const
  {
    return std::all_of(parts_.begin(), parts_.end(), [](const Part &part) { return part.cut.is_exact(); });
  }
  /// Whether several right-hand sides of a line are solved in one go, on all ranks of the chain.
  bool takes_columns() const
  {
    return has_stride_to_spare_ && std::all_of(parts_.begin(), parts_.end(),
                                               [](const Part &part) { return part.cut.takes_columns(); });
  }
  /// How these lines are solved, in words.
  std::string facts() const
  {
    return parts_[0].cut.facts() +
           (parts_.size() > 1 ? format(", in %d parts", static_cast<int>(parts_.size())) : "");
  }
  /// Of the first part, with the worst of the others.
  FactorReport report() const
  {
    FactorReport all = parts_[0].cut.report();
    for (std::size_t k = 1; k < parts_.size(); ++k) {
      const FactorReport r = parts_[k].cut.report();
      all.smallest_pivot   = std::min(all.smallest_pivot, r.smallest_pivot),
      all.growth = std::max(all.growth, r.growth), all.rcond = std::min(all.rcond, r.rcond);
      all.probe_error = std::max(all.probe_error, r.probe_error), all.bytes += r.bytes;
    }
    return all;
  }

  /// x = A^-1 b. Collective on the chain. Allocates where there are more lines than ever before, as with
  /// several right-hand sides.
  PetscErrorCode solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out)
  {
    const bool one = parts_.size() == 1;
    PetscFunctionBegin;
    if (one) {
      PetscCall(parts_[0].cut.solve(exec, b, in, x, out));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (is_device_space<Exec>) PetscCallCXX(exec.fence()); // parts have streams of their own
    for (Part &part : parts_) {
      PetscCall(part.cut.forward(part.exec, b, of(part, in), x, of(part, out)));
      if (!is_device_space<Exec>) PetscCall(part.cut.send(part.exec, of(part, in).lines()));
    }
    for (Part &part : parts_)
      if (is_device_space<Exec>)
        PetscCall(part.cut.send(part.exec, of(part, in).lines())); // waits for this part alone
    for (Part &part : parts_) PetscCall(part.cut.meanwhile(part.exec, b, of(part, in), x, of(part, out)));
    for (Part &part : parts_) {
      PetscCall(part.cut.reduce(part.exec, of(part, in).lines()));
      if (part.cut.takes_columns())
        PetscCall(part.cut.backward(part.exec, b, of(part, in), x, of(part, out)));
    }
    for (Part &part : parts_)
      if (!part.cut.takes_columns())
        PetscCall(part.cut.backward(part.exec, b, of(part, in), x, of(part, out))); // more messages
    for (Part &part : parts_)
      if (is_device_space<Exec>) PetscCallCXX(part.exec.fence());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  /// Lines [first, first + lines).
  struct Part {
    Exec          exec;
    std::int64_t  first, lines;
    CutPart<Exec> cut;
  };

  /// Ranks may see the lines as one run or as rows of them: parts are whole rows where some do.
  PetscErrorCode Divide(const Exec &exec, const LineChain &chain, const LineSet &lines, std::int64_t parts)
  {
    std::int64_t row = lines.count1 > 1 ? lines.count0 : 0;
    PetscFunctionBegin;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &row, 1, MPI_INT64_T, MPI_MAX, chain.comm));
    has_stride_to_spare_    = row == 0;
    const std::int64_t each = std::max<std::int64_t>(1, row), all = lines.lines() / each;
    const LineShares   units{all, std::max<std::int64_t>(1, std::min(parts, all))};
    parts_.clear();
    for (std::int64_t k = 0; k < units.parts; ++k) {
      PetscCallCXX(parts_.push_back(
        {units.parts > 1 ? own_stream(exec) : exec, units.begin(k) * each, units.count(k) * each, {}}));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Kokkos before 4 has none to give, nor have hosts.
  static Exec own_stream(const Exec &exec)
  {
#if KOKKOS_VERSION >= 40000
    if constexpr (is_device_space<Exec>) return Kokkos::Experimental::partition_space(exec, 1)[0];
#endif
    return exec;
  }

  /// The lines of a part among those of all parts, or of all right-hand sides.
  static LineSet of(const Part &part, LineSet set)
  {
    if (set.lines() == part.lines) return set;
    const std::int64_t rows = part.first / set.count0;
    if (part.lines % set.count0 == 0 && part.first % set.count0 == 0)
      set.offset += rows * set.stride1, set.count1 = part.lines / set.count0;
    else set.offset += part.first * set.stride0, set.count0 = part.lines;
    return set;
  }

  /// The matrices of a part.
  static Input bands_of(const Exec &exec, const Part &part, const Input &all)
  {
    Input      bands = all;
    const auto range =
      std::make_pair(static_cast<std::size_t>(part.first), static_cast<std::size_t>(part.first + part.lines));
    if (all.lhs == Lhs::classes) {
      bands.class_of_line =
        allocate<typename Input::classes_type>(exec, "ribbon::classes", static_cast<std::size_t>(part.lines));
      Kokkos::deep_copy(exec, bands.class_of_line, Kokkos::subview(all.class_of_line, range));
    } else if (all.lhs == Lhs::per_line && static_cast<std::int64_t>(all.values.extent(0)) != part.lines) {
      bands.values =
        allocate<typename Input::values_type>(exec, "ribbon::bands", static_cast<std::size_t>(part.lines),
                                              all.values.extent(1), all.values.extent(2));
      Kokkos::deep_copy(exec, bands.values, Kokkos::subview(all.values, range, Kokkos::ALL(), Kokkos::ALL()));
    }
    return bands;
  }

  std::vector<Part> parts_;
  bool              has_stride_to_spare_ = true;
};

} // namespace ribbon::petsc
