// SPDX-License-Identifier: BSD-2-Clause
/// @file policy.hpp  The order in which candidates are tried: the fastest by measurement first, the safest
///   last.
#pragma once

#include "judge.hpp"

#include <stdexcept>

namespace ribbon::detail {

template <class Scalar, class Exec>
class Policy {
  using Of   = Problem<Scalar, Exec>;
  using All  = Candidates<Scalar, Exec>;
  using Row  = Candidate<Scalar, Exec>;
  using Real = real_t<Scalar>;
  using By   = Judge<Scalar, Exec>;

  static constexpr Real sound = By::sound, most_unsound = By::most_unsound;
  static constexpr auto measured = "measured to be the fastest for lines of this length";
  static constexpr auto whole    = "whole lines are the fastest on a host";

public:
  Policy(Of &problem, Selection<Scalar, Exec> &selection)
      : problem_(problem), selection_(selection), judge_(problem, selection)
  {
  }

  /// Factors. The result is in the report of the selection.
  /// @throws std::invalid_argument if an algorithm that was requested by name rejects these lines
  void factor()
  {
    if (try_factored_reduction() || try_partition(false)) return;
    problem_.expand();
    if (try_by_name()) return;
    if (problem_.one_per_line()) factor_own();
    else factor_few();
  }

  /// Factors if a certificate makes scales and the probe unnecessary. False: no factors are kept.
  bool factor_certified() { return factor_whole_lines() || factor_dominant(); }

private:
  /// Tries whole lines if they come first.
  bool factor_whole_lines()
  {
    const bool first =
      problem_.asks_for(Algorithm::thomas) || (problem_.automatic() && !is_device_space<Exec>);
    const bool blocks = problem_.bands.block > 1;
    const Row &row    = blocks ? All::block_thomas : All::thomas_per_line;
    const bool takes =
      blocks ? row.refusal(problem_).empty() : problem_.one_per_line() && problem_.unrolled();
    if (!first || !takes || problem_.bands.periodic || problem_.choices.continued) return false;
    problem_.expand();
    return judge_.attempt_certified(row, problem_.one_per_line() ? reason_of_own()
                                         : problem_.automatic()  ? whole
                                                                 : "asked for");
  }
  /// Lines that are eliminated in flight: dominant rows can be judged without elimination.
  bool factor_dominant()
  {
    const bool in_flight =
      problem_.asks_for(Algorithm::one_pass) || (problem_.automatic() && is_device_space<Exec>);
    if (!in_flight || !problem_.one_per_line() || problem_.bands.block > 1 || problem_.choices.continued)
      return false;
    problem_.dominance = row_dominance<Scalar>(problem_.exec, problem_.bands);
    if (!problem_.dominance.certifies(problem_.reach)) return false;
    factor();
    if (selection_.ok()) return true;
    selection_.factored.reset();
    return false;
  }

  /// Uses an algorithm that was requested by name, even if the judge rejects it; the report holds the
  /// reason.
  /// @throws std::invalid_argument if it cannot be constructed
  void take_named(const Row &candidate, const std::string &reason = "asked for")
  {
    if (!judge_.attempt(candidate, most_unsound, reason) && !selection_.factored)
      throw std::invalid_argument("ribbon: algorithm " + problem_.options.algorithm + ": " +
                                  selection_.failure);
  }
  /// Tries a candidate; deletes its factors if it fails.
  bool try_first(const Row &candidate, const std::string &reason)
  {
    const bool taken = judge_.attempt(candidate, sound, reason);
    if (!taken) selection_.factored.reset();
    return taken;
  }

  /// Tries factored_reduction for few wide lines with one matrix each. False: others are tried.
  bool try_factored_reduction()
  {
    if (problem_.asks_for(Algorithm::factored_reduction)) return take_named(All::factored_reduction), true;
    return problem_.automatic() && !problem_.one_chunk && !problem_.options.refactors &&
           few_wide_lines(problem_.lines, problem_.bands) &&
           try_first(All::factored_reduction, "few wide lines");
  }

  /// Tries partition if it is requested or likely to be faster. False: others are tried.
  /// @param no_tile  no tile of these lines fits a team
  bool try_partition(bool no_tile)
  {
    const LineSolverOptions &options = problem_.options;
    const bool               named   = problem_.asks_for(Algorithm::partition);
    if (problem_.one_chunk) return false;
    if (!named && (!problem_.automatic() || options.whole_lines || options.refactors ||
                   problem_.lines.merged().count1 > most_runs))
      return false;
    const std::int64_t piece = rows_per_piece(no_tile);
    problem_.cut             = piece > 0
                                 ? partition_cut(problem_.lines, problem_.bands, piece, options.rows_per_piece > 0)
                                 : PartitionCut();
    if (problem_.cut.pieces < 2 && named) take_named(All::partition); // raises an error
    if (problem_.cut.pieces < 2) return false;
    const std::string reason   = named || options.rows_per_piece > 0              ? "asked for"
                                 : no_tile                                        ? selection_.failure
                                 : few_long_lines(problem_.lines, problem_.bands) ? "few long lines"
                                                                                  : measured;
    const auto        given    = problem_.bands;
    const bool        by_class = given.lhs == Lhs::classes;
    // partition finds equal segments again and shares their factors
    if (by_class) problem_.set_bands(all_rows(problem_.exec, given, true));
    const bool taken = judge_.attempt(All::partition, named ? most_unsound : sound, reason);
    if (!taken && named && !selection_.factored) {
      selection_.report           = selection_.pivots.of_pieces;
      selection_.report.algorithm = to_string(Algorithm::partition);
      selection_.report.used = Algorithm::partition, selection_.report.reason = selection_.failure;
    }
    FactorReport &r = selection_.report;
    if (by_class && r.line >= 0)
      r.line = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(),
                                                   given.class_of_line)(static_cast<std::size_t>(r.line));
    if (!taken && !named) {
      selection_.factored.reset();
      if (by_class) problem_.set_bands(given);
    }
    return taken || named;
  }

  /// Tries the algorithms that are used only if requested by name.
  bool try_by_name()
  {
    for (const Row &candidate : All::by_name()) {
      if (!problem_.asks_for(candidate.algorithm)) continue;
      std::string reason = "asked for";
      if (candidate.algorithm == Algorithm::cr_pcr)
        reason += "; parallel cyclic reduction takes over at " +
                  std::to_string(equations_at_switch(problem_.lines, problem_.options)) + " equations";
      take_named(candidate, reason);
      return true;
    }
    return false;
  }

  /// One matrix for all lines, or a few.
  void factor_few()
  {
    if (problem_.asks_for(Algorithm::one_pass)) return take_named(All::one_pass);
    if (problem_.asks_for(Algorithm::tile_products)) return take_named(All::tile_products);
    if (problem_.asks_for(Algorithm::thomas) && !problem_.is_short_ring()) return take_named(All::thomas);
    if (problem_.one_chunk) return void(judge_.attempt(All::pivoted, most_unsound, selection_.failure));
    if (problem_.asks_for(Algorithm::pivoted)) return factor_orthogonally("asked for");
    if (problem_.is_short_ring())
      return void(judge_.attempt(All::pivoted, most_unsound, All::a_short_ring(problem_)));
    if (problem_.prefers_tile_products() && try_first(All::tile_products, measured)) return;
    const bool  device = is_device_space<Exec>;
    std::string reason = device ? measured : whole;
    if (device && problem_.fastest() != Algorithm::thomas) {
      if (judge_.attempt(All::one_pass, sound, "a tile of lines fits the scratch of a team")) return;
      reason = selection_.failure;
      if (!selection_.factored && try_partition(true)) return;
    }
    // if a tile fits, pivoted elimination in one pass is faster
    if (!selection_.factored && judge_.attempt(All::thomas, sound, reason)) return;
    // a single matrix with an entry that is not finite has no other option; several matrices are not all
    // judged yet
    const auto &matrices = problem_.on_host();
    if (matrices.size() == 1 && selection_.report.status == FactorStatus::not_finite &&
        !matrices[0].is_finite())
      return;
    reason = selection_.failure;
    selection_.factored.reset();
    if (!device) return void(judge_.attempt(All::pivoted, most_unsound, reason));
    factor_orthogonally(reason);
    if (selection_.report.status == FactorStatus::zero_pivot) try_triangular();
  }

  /// Elimination by reflections: first in chunks; if the reduced system is inaccurate, whole lines.
  void factor_orthogonally(const std::string &reason)
  {
    if (judge_.attempt(All::pivoted_one_pass, sound, reason)) return;
    const bool singular = selection_.factored && selection_.report.status != FactorStatus::unsound;
    if (!singular || problem_.on_host().size() > 1)
      judge_.attempt(All::pivoted, most_unsound, reason + "; " + selection_.failure);
  }

  /// `thomas` may solve a triangular matrix that orthogonal elimination found singular, because its pivots
  /// do not shrink. Otherwise the selection is unchanged.
  void try_triangular()
  {
    const auto before = selection_;
    if (!judge_.attempt(All::thomas, sound, before.failure)) selection_ = before;
  }

  /// One matrix per line. Elimination in flight is the fastest wherever matrices change with every solve.
  void factor_own()
  {
    if (problem_.asks_for(Algorithm::tile_products)) return take_named(All::tile_products);
    const std::string reason = reason_of_own();
    if (problem_.asks_for(Algorithm::one_pass)) return take_named(All::in_flight, reason);
    const bool automatic = problem_.automatic();
    if (automatic && !problem_.one_chunk && is_device_space<Exec> &&
        (problem_.options.refactors || problem_.fastest() == Algorithm::one_pass) &&
        judge_.attempt(All::in_flight, sound, reason))
      return;
    if (problem_.one_chunk) judge_.attempt(All::pivoted_per_line, most_unsound, selection_.failure);
    else if (problem_.asks_for(Algorithm::pivoted) || problem_.is_short_ring())
      judge_.attempt(All::pivoted_per_line, most_unsound,
                     problem_.is_short_ring() ? All::a_short_ring(problem_) : reason);
    else if (judge_.attempt(All::block_rings, automatic ? sound : most_unsound, reason)) return;
    else if (!judge_.attempt(All::thomas_per_line, automatic ? sound : most_unsound, reason) && automatic)
      judge_.attempt(All::pivoted_per_line, most_unsound, selection_.failure);
  }

  /// Rows of a segment of partition; 0 if whole lines are the better choice. partition stores one matrix
  /// per line for classes, so that `auto` chooses it only for few long lines for which no tile fits a team.
  std::int64_t rows_per_piece(bool no_tile) const
  {
    const LineSet &lines = problem_.lines;
    const auto    &bands = problem_.bands;
    if (problem_.options.rows_per_piece > 0) return problem_.options.rows_per_piece;
    const bool         classes = bands.lhs == Lhs::classes;
    const std::int64_t n = lines.rows, piece = longest_piece(lines, bands);
    const std::int64_t fitting = std::min(piece, std::max<std::int64_t>(4 * problem_.reach, n / 2));
    const std::int64_t numbers = classes ? bands.values.extent_int(2) / bands.block : 1;
    if (problem_.asks_for(Algorithm::partition)) return fitting;
    // memory of a right-hand side of all lines, or of classes with one matrix per line: at most 8 GiB
    const std::int64_t bytes =
      lines.lines() * problem_.unknowns * numbers * static_cast<std::int64_t>(sizeof(Scalar));
    if (!is_device_space<Exec> || bytes > (std::int64_t(1) << 33)) return 0;
    const bool few = few_team_lines(lines, bands);
    if (classes) return no_tile && few && n > 4096 ? piece : 0;
    if ((few || only_tile_products(lines, bands)) && !no_tile) return 0;
    if (few_long_lines(lines, bands)) return piece;
    // On an H100, for 2048 unknowns per line, partition takes 0.09 (4096 lines) to 0.53 (65536 lines) of the
    // time of thomas with blocks of 4, and 0.02 to 0.13 with K = 4 and 1024 to 8192 lines.
    // Segments of 2048 rows may have been rejected before.
    if (no_tile && by_teams(bands)) return std::min<std::int64_t>(fitting, 1024);
    return problem_.fastest() == Algorithm::partition ? fitting : 0;
  }

  std::string reason_of_own() const
  {
    return !problem_.automatic()                ? "asked for"
           : problem_.bands.lhs == Lhs::shifted ? "one matrix per line, shifted"
                                                : "one matrix per line";
  }

  Of                      &problem_;
  Selection<Scalar, Exec> &selection_;
  By                       judge_;
};

} // namespace ribbon::detail
