// SPDX-License-Identifier: BSD-2-Clause
// The table of `auto`: its form, its look-up, the choices that follow from it, and the rule by which the
// benchmark makes it.
#include "batch.hpp"

#include "../../examples/benchmark/kernels/table_rule.hpp"

#include <ribbon/algorithm/in_flight/per_line_plan.hpp>
#include <ribbon/algorithm/one_pass/plan.hpp>
#include <ribbon/algorithm/auto_table.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

using namespace test;
using namespace ribbon::choice;

namespace {

using bench::Candidate;
using bench::Measurement;

ribbon::LineSet lines_of(Layout layout, std::int64_t rows, std::int64_t lines)
{
  return layout == Layout::contiguous ? ribbon::LineSet::contiguous(rows, lines)
                                      : ribbon::LineSet::interleaved(rows, lines);
}

TEST(AutoTable, EveryEntryIsReachedAndLinesOfAnyLengthFindOne)
{
  EXPECT_TRUE(well_formed(auto_table));
  for (const Entry &entry : auto_table) {
    EXPECT_EQ(find(auto_table, entry.key, entry.rows), &entry);
    EXPECT_EQ(find(auto_table, entry.key, any_rows)->rows, any_rows);
  }
}

TEST(AutoTable, NoEntryRepeatsTheOneBefore)
{
  const Entry *before = nullptr;
  for (const Entry &entry : auto_table) {
    EXPECT_FALSE(before && before->key == entry.key && before->algorithm == entry.algorithm &&
                 before->rows_per_thread == entry.rows_per_thread)
      << entry.key.K << " " << entry.key.B << " " << to_string(entry.key.layout) << " "
      << to_string(entry.key.source) << " to " << before->rows << " rows";
    before = &entry;
  }
}

TEST(AutoTable, EverySystemLayoutAndSourceHasEntries)
{
  for (auto [K, B] :
       {std::pair(1, 1), std::pair(2, 1), std::pair(3, 1), std::pair(4, 1), std::pair(1, 2), std::pair(1, 4)})
    for (Layout layout : {Layout::interleaved, Layout::contiguous})
      for (Source source : {Source::constant, Source::general, Source::per_line, Source::shifted})
        EXPECT_TRUE(find(auto_table, {K, B, layout, source}, 1))
          << K << " " << B << " " << to_string(layout) << " " << to_string(source);
}

TEST(AutoTable, FormsThatAreNotWellFormed)
{
  const Key one{1, 1, Layout::interleaved, Source::constant},
    two{2, 1, Layout::interleaved, Source::constant};
  using Table = std::vector<Entry>;
  EXPECT_TRUE(well_formed(Table{{one, 64}, {one, any_rows}, {two, any_rows}}));
  EXPECT_FALSE(well_formed(Table{{one, 64}, {one, 32}, {one, any_rows}})) << "rows descend";
  EXPECT_FALSE(well_formed(Table{{one, 64}, {one, 64}, {one, any_rows}}))
    << "the second one is never reached";
  EXPECT_FALSE(well_formed(Table{{one, 64}, {two, any_rows}})) << "long lines find nothing";
  EXPECT_FALSE(well_formed(Table{{one, any_rows}, {two, any_rows}, {one, any_rows}})) << "a key comes back";
}

TEST(AutoTable, LookUpTakesTheFirstEntryThatReaches)
{
  const Key                key{1, 1, Layout::contiguous, Source::general};
  const std::vector<Entry> table{{key, 64, Algorithm::one_pass, 16},
                                 {key, 128, Algorithm::thomas, 32},
                                 {key, any_rows, Algorithm::partition, 64}};
  for (auto [rows, rows_per_thread] : {std::pair(1, 16), std::pair(64, 16), std::pair(65, 32),
                                       std::pair(128, 32), std::pair(129, 64), std::pair(1 << 30, 64)})
    EXPECT_EQ(fastest(table, key, rows).rows_per_thread, rows_per_thread) << rows;
  const Entry other = fastest(table, {8, 1, Layout::contiguous, Source::general}, 64);
  EXPECT_EQ(other.algorithm, Algorithm::one_pass) << "systems without entries";
  EXPECT_EQ(other.rows_per_thread, 0);
}

TEST(AutoTable, AlgorithmsAndShapesAreKnownToTheSolver)
{
  for (const Entry &entry : auto_table) {
    const bool per_line = entry.key.source == Source::per_line || entry.key.source == Source::shifted;
    if (entry.key.B > 1 || (per_line && entry.key.K > 2)) {
      EXPECT_EQ(entry.rows_per_thread, 0);
      continue;
    }
    std::mt19937_64 g(5);
    const auto      lhs = entry.key.source == Source::per_line  ? ribbon::Lhs::per_line
                          : entry.key.source == Source::shifted ? ribbon::Lhs::shifted
                                                                : ribbon::Lhs::shared;
    auto bands = random_bands<double>(g, matrices_for(lhs, 5), 130, entry.key.K, false, Kind::dominant);
    assign(g, bands, lhs, 5);
    const auto set = lines_of(entry.key.layout, 130, 5);
    EXPECT_NO_THROW(ribbon::LineSolver<double>(Exec(), set, to_device(bands), {to_string(entry.algorithm)}));
    EXPECT_NO_THROW(
      ribbon::LineSolver<double>(Exec(), set, to_device(bands), {"one_pass", 0, entry.rows_per_thread}));
  }
}

TEST(AutoTable, OnePassHasTheShapeOfTheTable)
{
  for (const Entry &entry : auto_table) {
    const std::int64_t rows = std::min<std::int64_t>(entry.rows, 1024);
    if (entry.key.B > 1 || entry.key.K != 1 || find(auto_table, entry.key, rows) != &entry) continue;
    const auto set = lines_of(entry.key.layout, rows, 1 << 20); // few lines have shorter chunks
    if (entry.key.source == Source::per_line || entry.key.source == Source::shifted) {
      const auto shape = ribbon::OnePassPerLine<double, Exec, 1>::choose(Exec(), set, false,
                                                                         entry.key.source == Source::shifted);
      EXPECT_EQ(shape.split.length, entry.rows_per_thread) << rows;
    } else
      EXPECT_EQ((ribbon::OnePass<ribbon::PlainScheme<double, 1, 1>, Exec>::choose(
                   ribbon::TeamRoom::of(Exec()), set, false, entry.key.source == Source::constant, false)
                   .slots),
                entry.rows_per_thread)
        << rows;
  }
}

TEST(AutoTable, LinesOfWhichNoTileFitsAreSolvedInSegments)
{
  for (const auto &[rows, expected] : {std::pair(1024, "one_pass"), std::pair(2048, "partition")}) {
    std::mt19937_64 g(6);
    const auto      bands  = random_bands<double>(g, 1, rows, 4, false, Kind::dominant);
    const auto      report = ribbon::LineSolver<double>(
                          Exec(), lines_of(ribbon::choice::Layout::contiguous, rows, 1024), to_device(bands))
                          .report();
    EXPECT_TRUE(report.ok()) << report.reason;
    EXPECT_EQ(report.algorithm.find(ribbon::is_device_space<Exec> ? expected : "thomas"), 0U)
      << report.algorithm;
  }
}

TEST(AutoTable, DevicesTakeWhatItSaysAndHostsTheirRule)
{
  for (const Entry &entry : auto_table) {
    const auto [K, B] = std::pair(entry.key.K, entry.key.B);
    if (entry.rows != any_rows || B > 1 ||
        (entry.key.source != Source::constant && entry.key.source != Source::per_line))
      continue;
    // Fewer lines with one matrix per line do not fill a device. Hosts do not use the table.
    const std::int64_t n = 64, lines = ribbon::is_device_space<Exec> ? 32768 : 64;
    const auto      lhs = entry.key.source == Source::constant ? ribbon::Lhs::shared : ribbon::Lhs::per_line;
    std::mt19937_64 g(5);
    auto            bands = random_bands<double>(g, matrices_for(lhs, lines), n, K, false,
                                      lhs == ribbon::Lhs::shared && K <= 2 ? Kind::poisson : Kind::dominant);
    bands.lhs             = lhs;
    const ribbon::LineSolver<double> solver(Exec(), lines_of(entry.key.layout, n, lines), to_device(bands));
    const bool                       shared = lhs == ribbon::Lhs::shared;
    // Here auto does not follow the table. docs/methods/selection.md has the rule.
    const bool        in_flight = lhs == ribbon::Lhs::per_line && K == 3;
    const std::string expected =
      ribbon::is_device_space<Exec>
        ? in_flight
            ? "one_pass"
            : to_string(
                fastest(auto_table,
                        {K, B, entry.key.layout, shared && K > 2 ? Source::general : entry.key.source}, n)
                  .algorithm)
        : "thomas"; // hosts: thomas is unrolled up to K = 4
    EXPECT_EQ(solver.report().algorithm.substr(0, expected.size()), expected)
      << K << " " << to_string(entry.key.layout) << " " << to_string(entry.key.source) << ": "
      << solver.report().reason;
  }
}

// The rule by which the benchmark makes the table.

const Key any_key{1, 1, Layout::interleaved, Source::constant};

Measurement measured(std::int64_t rows, double short_shape, double long_shape, double thomas,
                     double partition)
{
  return {any_key,
          rows,
          {{Algorithm::one_pass, 16, short_shape},
           {Algorithm::one_pass, 64, long_shape},
           {Algorithm::thomas, 0, thomas},
           {Algorithm::partition, 0, partition}}};
}

void expect_table(const std::vector<Measurement> &measurements, const std::vector<Entry> &expected)
{
  const auto table = bench::condense(measurements);
  ASSERT_EQ(table.size(), expected.size());
  for (std::size_t k = 0; k < table.size(); ++k) {
    EXPECT_EQ(table[k].rows, expected[k].rows);
    EXPECT_STREQ(to_string(table[k].algorithm), to_string(expected[k].algorithm));
    EXPECT_EQ(table[k].rows_per_thread, expected[k].rows_per_thread);
  }
  EXPECT_TRUE(well_formed(table));
}

TEST(AutoTableRule, OnlyWhatIsFasterByMoreThanTheMarginDisplaces)
{
  expect_table({measured(64, 1.01, 1.00, 1.00, 1.00)}, {{any_key, any_rows, Algorithm::one_pass, 16}});
  expect_table({measured(64, 1.03, 1.00, 2.00, 2.00)}, {{any_key, any_rows, Algorithm::one_pass, 64}});
  expect_table({measured(64, 1.03, 1.03, 2.00, 1.00), measured(128, 1.01, 1.01, 2.00, 1.02)},
               {{any_key, any_rows, Algorithm::partition, 16}});
}

TEST(AutoTableRule, AnEntryIsWrittenWhereTheChoiceChanges)
{
  expect_table({measured(64, 1, 2, 3, -1), measured(128, 1, 2, 3, -1), measured(256, 2, 1, 3, -1),
                measured(512, 2, 1.5, 1, 1.5), measured(1024, 3, 3, 3, 1)},
               {{any_key, 128, Algorithm::one_pass, 16},
                {any_key, 256, Algorithm::one_pass, 64},
                {any_key, 512, Algorithm::thomas, 64},
                {any_key, any_rows, Algorithm::partition, 64}});
}

TEST(AutoTableRule, TheShapeStaysWhereNoOnePassRuns)
{
  expect_table({measured(64, 2, 1, 3, 3), measured(128, -1, -1, 3, 2), measured(256, -1, -1, -1, -1)},
               {{any_key, 64, Algorithm::one_pass, 64}, {any_key, any_rows, Algorithm::partition, 64}});
}

TEST(AutoTableRule, KeysBeginAnew)
{
  auto other     = measured(64, 1, 1, 3, 3);
  other.key.K    = 2;
  const auto all = bench::condense({measured(64, 2, 1, 3, 3), other});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].rows, any_rows);
  EXPECT_EQ(all[1].rows_per_thread, 16) << "what another key took is not preferred";
}

TEST(AutoTableRule, ALineIsWrittenForEveryEntry)
{
  std::ostringstream text;
  bench::write_table(text,
                     {{any_key, 64, Algorithm::one_pass, 16}, {any_key, any_rows, Algorithm::thomas, 0}},
                     {"machine  one", "date     today"});
  EXPECT_NE(text.str().find("///     machine  one\n///     date     today\n#pragma once\n"),
            std::string::npos);
  EXPECT_NE(text.str().find(
              "\n  {{1, 1, Layout::interleaved, Source::constant},       64, Algorithm::one_pass,  16},\n"
              "  {{1, 1, Layout::interleaved, Source::constant}, any_rows, Algorithm::thomas,     0},\n};\n"),
            std::string::npos)
    << text.str();
}

} // namespace
