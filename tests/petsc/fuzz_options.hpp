// SPDX-License-Identifier: BSD-2-Clause
/// @file fuzz_options.hpp  Random options of PC line, and the errors that they may cause.
#pragma once

#include "fuzz_matrices.hpp"
#include "sweep_reference.hpp"

namespace test {

/// A string of options and its meaning.
struct Options {
  std::string text = "-pc_line_view ascii:/dev/null";
  std::string error; ///< part of the error of an invalid option; empty: no error
  std::string direction = "auto", lhs = "auto", cut = "auto", exchange = "auto", algorithm = "auto",
              shift = "none", strength = "abs", search = "auto";
  PCLineComposition composition = PC_LINE_COMPOSITION_AUTO;
  PCLineOrdering    ordering    = PC_LINE_ORDERING_JACOBI;
  double            omega = 0, zero_pivot = 0, lhs_tol = 0;
  PetscInt          iterations = 1, switch_rows = 0;

  /// Writes every option by name, so that no option of an earlier case remains.
  void say()
  {
    for (const auto &[name, value] : {std::pair<const char *, std::string>{"direction", direction},
                                      {"composition", PCLineCompositions[composition]},
                                      {"ordering", PCLineOrderings[ordering]},
                                      {"strength", strength},
                                      {"search", search},
                                      {"omega", std::to_string(omega)},
                                      {"iterations", std::to_string(iterations)},
                                      {"lhs", lhs},
                                      {"cut", cut},
                                      {"cut_exchange", exchange},
                                      {"algorithm", algorithm},
                                      {"switch_rows", std::to_string(switch_rows)},
                                      {"zeropivot", std::to_string(zero_pivot)},
                                      {"shift_type", shift},
                                      {"lhs_tol", lhs_tol == 0 ? "0" : "1e-15"}})
      text += std::string(" -pc_line_") + name + " " + value;
  }
};

inline Options draw_options(Draw *draw)
{
  Options    o;
  const auto sometimes = [&] { return draw->one_in(3); };
  if (draw->one_in(2))
    o.direction = draw->of<const char *>({"x", "y", "z", "rows", "matrix", "x,y", "y,x", "x,y,z", "z,x"});
  if (sometimes())
    o.composition = draw->of(
      {PC_LINE_COMPOSITION_MULTIPLICATIVE, PC_LINE_COMPOSITION_ADDITIVE, PC_LINE_COMPOSITION_SYMMETRIC});
  if (sometimes()) o.ordering = PC_LINE_ORDERING_ZEBRA;
  if (sometimes()) o.omega = draw->of({1.0, 0.5, 0.75, 1.5});
  if (sometimes()) o.iterations = draw->between(1, 3);
  if (sometimes()) o.lhs = draw->of<const char *>({"shared", "classes", "per_line"});
  Draw aside = *draw;
  o.cut      = aside.of<const char *>({"auto", "exact", "local"});
  o.exchange = aside.of<const char *>({"auto", "every_rank", "dealt_out"});
  o.strength = aside.of<const char *>({"abs", "sa", "negative"});
  o.search   = aside.of<const char *>({"auto", "host", "rounds"});
  if (draw->one_in(6)) o.cut = "error";
  if (sometimes())
    o.algorithm = draw->of<const char *>({"one_pass", "thomas", "pivoted", "partition", "tile_products",
                                          "factored_reduction", "cyclic_reduction",
                                          "parallel_cyclic_reduction", "cr_pcr", "toeplitz_cr"});
  if (o.algorithm == "cr_pcr") o.switch_rows = aside.between(0, 40);
  if (draw->one_in(6)) o.zero_pivot = draw->of({1e-6, 0.5});
  if (draw->one_in(6)) o.shift = draw->of<const char *>({"nonzero", "pin"});
  if (draw->one_in(6)) o.lhs_tol = 1e-15;
  o.say();
  if (draw->one_in(12)) {
    const char *const bad[][2] = {
      {"direction", "w"},       {"direction", "x,x"},    {"direction", "x,rows"}, {"direction", ","},
      {"composition", "other"}, {"ordering", "rainbow"}, {"omega", "2"},          {"omega", "-1"},
      {"omega", "nan"},         {"iterations", "0"},     {"iterations", "-7"},    {"lhs", "all"},
      {"cut", "both"},          {"algorithm", "best"},   {"zeropivot", "-1"},     {"zeropivot", "1"},
      {"direction", "auto,x"},  {"strength", "most"},    {"search", "rows"},      {"shift_type", "some"},
      {"shift_amount", "1"},    {"lhs_tol", "-1"},
    };
    const auto &[name, value] = bad[draw->below(static_cast<PetscInt>(std::size(bad)))];
    o.error                   = std::string("-pc_line_") + name;
    o.text += " " + o.error + " " + value;
  }
  return o;
}

/// Whether an error message fits the case: an option or a property of the matrix explains it.
inline bool is_to_the_point(const std::string &text, const Options &o, const Problem &p, PetscMPIInt ranks)
{
  if (!p.error.empty() && contains(text, p.error)) return true;
  const bool named =
    o.direction == "x" || o.direction == "y" || o.direction == "z" || contains(o.direction, ",");
  const std::string named_algorithm = "PC line: -pc_line_algorithm " + o.algorithm + ": ";
  const struct {
    const char *part;
    bool        may_be;
  } sentences[] = {
    {"PC line: lines span ranks: ", (o.cut == "error" || o.cut == "exact") && ranks > 1},
    {"PC line: -pc_line_lhs shared, but lines ", o.lhs == "shared"},
    {"PC line: -pc_line_search rounds: ", o.search == "rounds"},
    {named_algorithm.c_str(), o.algorithm != "auto" && o.algorithm != "thomas" && o.algorithm != "pivoted"},
    {" needs a grid, but ", named && !p.da},
    {": the grid has ", named},
    {" have one row each; the grid has lines of more along ", named},
    {"blocks reach up to 8", p.components > 8},
    {"block lines reach the next element only", p.components > 1 && (p.width > 1 || o.direction == "rows")},
    {"wider bands are not supported", named && !p.da},
    {" stores no diagonal entry", !p.sound}, // a dense matrix stores no zeros
  };
  for (const auto &s : sentences)
    if (s.may_be && contains(text, s.part)) return true;
  return false;
}

} // namespace test
