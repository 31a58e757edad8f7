// SPDX-License-Identifier: BSD-2-Clause
/// @file table_rule.hpp  Rule from times to the table of `auto`: the choice of a candidate, and the format.
#pragma once

#include <ribbon/algorithm/choice.hpp>

#include <ostream>
#include <string>
#include <vector>

namespace bench {

namespace choice = ribbon::choice;

/// A way to solve. `milliseconds` < 0 means that it cannot do this case.
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

constexpr double margin = 1.01; ///< candidates within this factor of the fastest count as equally fast

/// Of the candidates that are as fast as the fastest one: the preferred one, otherwise the first. Null if
/// no candidate can do the case.
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

/// The entry for a measurement. It first chooses the shape of one_pass, then compares that shape with the
/// other algorithms. The choice for shorter lines stays unless another candidate is faster by more than the
/// margin. The shape stays also if no one_pass can do the case.
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

/// The table: an entry at every length where the choice changes, and one for all longer lines.
/// @param measurements  grouped by key, with ascending rows
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
  to << "// SPDX-License" "-Identifier: BSD-2-Clause\n"
        "/// @file auto_table.hpp  The first choice of `auto` on a device, and the shapes of one_pass. "
        "Made by\n///   ribbon-bench --make-table.\n///\n";
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
