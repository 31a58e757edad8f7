// SPDX-License-Identifier: BSD-2-Clause
/// @file problem.hpp  The input of a factorization, for the candidates, the policy and the judge of a
///   LineSolver.
#pragma once

#include "algorithms.hpp"
#include "all_rows.hpp"
#include "choices.hpp"
#include "host_matrices.hpp"
#include "measured_choice.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace ribbon::detail {

template <class Scalar, class Exec>
struct Problem {
  using Real    = real_t<Scalar>;
  using Memory  = typename Exec::memory_space;
  using Input   = Bands<Scalar, Memory>;
  using Classes = Kokkos::View<int *, Memory>;

  static constexpr Real eps = unit_roundoff<Scalar>();

  Exec              exec;
  LineSet           lines;
  LineSolverOptions options;
  SolverChoices     choices;                    ///< those of the options
  Input             bands;                      ///< with scaled columns, if there are scales
  Classes           class_of_line;              ///< empty for partition, which stores one matrix per line
  std::int64_t      matrices = 0, unknowns = 0; ///< unknowns: of a line
  int               reach     = 1;              ///< the half-bandwidth, at least 1
  bool              one_chunk = false;          ///< only `pivoted` on whole lines is tried
  PartitionCut      cut;                        ///< of partition
  RowDominance      dominance;                  ///< if it was computed
  /// factors of matrices with other values; the first candidate that can reuse their memory uses it; null:
  /// there are no such factors
  mutable Made<Scalar, Exec> again;

  bool asks_for(Algorithm algorithm) const { return choices.algorithm == algorithm; }
  bool automatic() const { return asks_for(Algorithm::automatic); }
  /// One matrix per line, stored or alpha_l A + beta_l B.
  bool one_per_line() const { return bands.lhs == Lhs::per_line || bands.lhs == Lhs::shifted; }
  /// thomas with lines_per_team: through scratch in every layout.
  bool staged() const { return asks_for(Algorithm::thomas) && options.lines_per_team > 0; }
  /// Scalar bands for which elimination has an unrolled kernel.
  bool unrolled() const
  {
    return bands.block == 1 && reach <= (is_device_space<Exec> || bands.periodic || staged() ? 2 : 4);
  }
  bool is_short_ring() const { return bands.periodic && lines.rows < 2 * reach; }
  /// Fewer unknowns than separators of a chunk of a scalar band.
  bool is_short(int kl, int ku) const { return unknowns < (kl + ku + 2) * bands.block - 2; }

  /// The unit of roundoff of entries.
  Real entry_eps() const { return options.single_entries ? static_cast<Real>(unit_roundoff<float>()) : eps; }
  /// Largest relative pivot that counts as zero.
  double tolerance() const
  {
    return static_cast<double>(options.zero_pivot > 0 ? static_cast<Real>(options.zero_pivot)
                                                      : 100 * entry_eps());
  }

  /// Replaces the bands for the same lines.
  void set_bands(const Input &other)
  {
    bands = other, matrices = other.matrices();
    class_of_line = other.lhs == Lhs::classes ? other.class_of_line : Classes();
    on_host_.reset(), fastest_.reset();
  }
  /// Stores every row, for algorithms that do not support repeated rows.
  void expand()
  {
    if (bands.repeats > 1) bands = all_rows(exec, bands);
  }

  /// A few matrices, on the host.
  const std::vector<HostMatrix<Scalar>> &on_host() const
  {
    if (!on_host_)
      on_host_ =
        std::make_shared<const std::vector<HostMatrix<Scalar>>>(host_matrices(bands, choices.continued));
    return *on_host_;
  }
  /// The same, padded to K diagonals on either side.
  std::vector<HostMatrix<Scalar>> on_host_with(int K) const
  {
    return K == reach ? on_host() : padded(on_host(), K);
  }

  /// The algorithm in the table of measurements on devices. May copy a matrix to the host.
  Algorithm fastest() const
  {
    if (!fastest_)
      fastest_ = measured_fastest(lines, bands, [&] { return on_host()[0].has_constant_stencil(); });
    return *fastest_;
  }
  bool prefers_tile_products() const
  {
    return is_for_tile_products(bands) &&
           (only_tile_products(lines, bands) || fastest() == Algorithm::tile_products);
  }
  /// Calls f(K) with the unrolled half-bandwidth for these bands.
  template <class F>
  void with_reach(const F &f) const
  {
    if (reach == 1) return f(std::integral_constant<int, 1>());
    if (reach == 2) return f(std::integral_constant<int, 2>());
    if constexpr (!is_device_space<Exec>)
      with_system<Scalar>(reach, 1, [&](auto K, auto) {
        if constexpr (K() > 2) f(K);
      });
  }

private:
  mutable std::shared_ptr<const std::vector<HostMatrix<Scalar>>> on_host_;
  mutable std::optional<Algorithm>                               fastest_;
};

} // namespace ribbon::detail
