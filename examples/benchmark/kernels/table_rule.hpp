// SPDX-License-Identifier: BSD-2-Clause
/// @file table_rule.hpp  From times to the table of `auto`: which candidate is written down, and how.
#pragma once

#include <ribbon/algorithm/choice.hpp>

#include <ostream>
#include <string>
#include <vector>

namespace bench {

namespace choice = ribbon::choice;

/// A way to solve. `milliseconds` < 0 stands for "cannot do this case".
struct Candidate {
  choice::Algorithm algorithm       = choice::Algorithm::one_pass;
  int               rows_per_thread = 0;
  double            milliseconds    = -1;
};

/// The candidates for lines of one length, the simplest first.
struct Measurement {
  choice::Key            key;
  std::int64_t           rows = 0; ///< of B unknowns
  std::vector<Candidate> candidates;
};

constexpr double margin = 1.01; ///< what is slower by less is as fast

/// Of the candidates that are as fast as the fastest one the one that is preferred, else the first. Null
/// where none could do the case.
template <class Prefer>
const Candidate *pick(const std::vector<const Candidate *> &candidates, const Prefer &prefer)
{
  double least = -1;
  for (const Candidate *c : candidates)
    if (c->milliseconds >= 0 && (least < 0 || c->milliseconds < least)) least = c->milliseconds;
  const Candidate *found = nullptr;
  for (const Candidate *c : candidates)
    if (c->milliseconds >= 0 && c->milliseconds <= margin * least &&
        (!found || (prefer(*c) && !prefer(*found))))
      found = c;
  return found;
}

/// What is written for a measurement: first the shape of one_pass, then that shape against the other
/// algorithms. What was taken for shorter lines stays where nothing is faster by more than the margin; so
/// does its shape where no one_pass could do the case.
/// @param shorter  of the same key; null for the shortest lines
inline choice::Entry decide(const Measurement &m, const choice::Entry *shorter)
{
  std::vector<const Candidate *> shapes, others;
  for (const auto &c : m.candidates)
    (c.algorithm == choice::Algorithm::one_pass ? shapes : others).push_back(&c);
  const Candidate *shape = pick(
    shapes, [&](const Candidate &c) { return shorter && c.rows_per_thread == shorter->rows_per_thread; });
  if (shape) others.insert(others.begin(), shape);
  const Candidate *best =
    pick(others, [&](const Candidate &c) { return shorter && c.algorithm == shorter->algorithm; });
  choice::Entry entry{m.key, m.rows};
  if (shorter) entry.algorithm = shorter->algorithm, entry.rows_per_thread = shorter->rows_per_thread;
  if (shape) entry.rows_per_thread = shape->rows_per_thread;
  if (best) entry.algorithm = best->algorithm;
  return entry;
}

/// The table: an entry where the choice changes, and one for all longer lines.
/// @param measurements  those of a key side by side, their rows ascending
inline std::vector<choice::Entry> condense(const std::vector<Measurement> &measurements)
{
  std::vector<choice::Entry> table;
  for (const auto &m : measurements) {
    const bool first = table.empty() || !(table.back().key == m.key);
    const auto entry = decide(m, first ? nullptr : &table.back());
    if (first && !table.empty()) table.back().rows = choice::any_rows;
    if (!first && entry.algorithm == table.back().algorithm &&
        entry.rows_per_thread == table.back().rows_per_thread)
      table.back().rows = m.rows;
    else table.push_back(entry);
  }
  if (!table.empty()) table.back().rows = choice::any_rows;
  return table;
}

/// Writes the header. @param origin  lines of the comment at its top
inline void write_table(std::ostream &to, const std::vector<choice::Entry> &table,
                        const std::vector<std::string> &origin)
{
  const auto padded = [](std::string text, std::size_t width) {
    return text + std::string(text.size() < width ? width - text.size() : 0, ' ');
  };
  const auto number = [](std::string text, std::size_t width) {
    return std::string(text.size() < width ? width - text.size() : 0, ' ') + text;
  };
  to << "// SPDX-License-Identifier: BSD-2-Clause\n"
        "/// @file auto_table.hpp  What `auto` tries first on a device, and the shapes of one_pass. Made by "
        "ribbon-bench --make-table, not by hand.\n///\n";
  for (const auto &line : origin) to << "///     " << line << '\n';
  to << "#pragma once\n\n#include <ribbon/algorithm/choice.hpp>\n\nnamespace ribbon::choice {\n\n// "
        "clang-format off\ninline constexpr Entry auto_table[] = {\n"
        "  // K  B                                             rows up to              algorithm  rows per "
        "thread\n";
  const choice::Entry *last = nullptr;
  for (const auto &e : table) {
    if (last && (last->key.K != e.key.K || last->key.B != e.key.B)) to << '\n';
    to << "  {{" << e.key.K << ", " << e.key.B << ", "
       << padded("Layout::" + std::string(to_string(e.key.layout)) + ",", 20) << ' '
       << padded("Source::" + std::string(to_string(e.key.source)) + "},", 18) << ' '
       << number((e.rows == choice::any_rows ? "any_rows" : std::to_string(e.rows)) + ",", 9) << ' '
       << padded("Algorithm::" + std::string(to_string(e.algorithm)) + ",", 21) << ' '
       << number(std::to_string(e.rows_per_thread), 2) << "},\n";
    last = &e;
  }
  to << "};\n// clang-format on\n\n} // namespace ribbon::choice\n";
}

} // namespace bench
