// SPDX-License-Identifier: BSD-2-Clause
// How far entries reach along lines, and rings, compared with plain loops on the host.
#include "graph_lines.hpp"

#include <ribbon/matrix/line_reach.hpp>

#include <cmath>
#include <limits>
#include <random>

using namespace test;

namespace {

using Exec   = Kokkos::DefaultExecutionSpace;
using Memory = Exec::memory_space;

/// A matrix and lines in the memory of Exec.
template <class Scalar>
struct Device {
  Exec                                    exec;
  Kokkos::View<std::int32_t *, Memory>    row_begin, column;
  Kokkos::View<Scalar *, Memory>          value;
  ribbon::CsrMatrix<Scalar, std::int32_t> A;
  ribbon::LinesInMemory<Memory>           lines;
  ribbon::PackedLinesInMemory<Memory>     packed;

  Device(Host<Scalar> &from, const ribbon::LinesOfGraph &of)
  {
    from.csr();
    row_begin = ribbon::upload(exec, "row_begin", from.row_begin);
    column    = ribbon::upload(exec, "column", from.column);
    value     = ribbon::upload(exec, "value", from.value);
    A         = {from.rows, row_begin.data(), column.data(), value.data()};
    lines     = {ribbon::upload(exec, "order", of.order), ribbon::upload(exec, "begin", of.begin)};
    packed    = ribbon::pack(exec, lines);
  }
  ribbon::LinePlaces places() const
  {
    ribbon::LinePlaces places{ribbon::LineSet::interleaved(packed.rows, packed.pieces)};
    places.place = packed.position_of.data(), places.element = packed.row_at.data();
    places.part = packed.line_at.data();
    return places;
  }
};

/// Random lines of all rows.
ribbon::LinesOfGraph random_lines(Row n, std::mt19937 &random)
{
  ribbon::LinesOfGraph lines;
  lines.order = shuffled(n, static_cast<unsigned>(random()));
  lines.begin = {0};
  while (lines.begin.back() < n)
    lines.begin.push_back(std::min<Row>(n, lines.begin.back() + 1 + static_cast<Row>(random() % 40)));
  return lines;
}

template <class Scalar>
void check_weights(unsigned seed)
{
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937                           random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const Row                              n = 1 + static_cast<Row>(random() % 300);
  Host<Scalar>                           A(n);
  const ribbon::LinesOfGraph             lines = random_lines(n, random);
  std::vector<Row>                       line(static_cast<std::size_t>(n)), along(line.size());
  for (std::size_t l = 0; l + 1 < lines.begin.size(); ++l)
    for (Row k = lines.begin[l]; k < lines.begin[l + 1]; ++k) {
      const auto row = static_cast<std::size_t>(lines.order[static_cast<std::size_t>(k)]);
      line[row] = static_cast<Row>(l), along[row] = k - lines.begin[l];
    }
  for (Row k = 0; k < 12 * n; ++k) {
    const Row from = static_cast<Row>(random() % static_cast<unsigned>(n)),
              // mostly on the same line
      to                  = random() % 4 == 0
                              ? static_cast<Row>(random() % static_cast<unsigned>(n))
                              : lines.order[static_cast<std::size_t>(std::min<Row>(
                 n - 1, lines.begin[static_cast<std::size_t>(line[static_cast<std::size_t>(from)])] +
                          static_cast<Row>(random() % 40)))];
    A.entries[{from, to}] = Scalar(static_cast<ribbon::real_t<Scalar>>(uniform(random)));
  }
  if (seed % 5 == 0) A.entries[{0, n - 1}] = Scalar(std::numeric_limits<ribbon::real_t<Scalar>>::quiet_NaN());
  std::vector<double> largest(static_cast<std::size_t>(n), 0);
  for (const auto &[at, a] : A.entries)
    largest[static_cast<std::size_t>(at.first)] =
      std::max(largest[static_cast<std::size_t>(at.first)], static_cast<double>(ribbon::magnitude(a)));
  std::vector<double> expected(ribbon::largest_half_bandwidth + 2, 0);
  for (const auto &[at, a] : A.entries) {
    const auto   i = static_cast<std::size_t>(at.first), j = static_cast<std::size_t>(at.second);
    const double size = static_cast<double>(ribbon::magnitude(a));
    if (line[i] != line[j] || i == j || !(size > 0)) continue;
    expected[static_cast<std::size_t>(
      std::min<Row>(std::abs(along[i] - along[j]), ribbon::largest_half_bandwidth + 1))] += size / largest[i];
  }
  const Device<Scalar> device(A, lines);
  const auto           found = ribbon::reach_weights(device.exec, device.A, device.places());
  for (std::size_t d = 0; d < found.size(); ++d)
    EXPECT_NEAR(found[d], expected[d], static_cast<double>(n) * 1e-6) << d;
}

TEST(LineReach, WeightsOfRandomLines)
{
  for (unsigned seed = 1; seed <= 20; ++seed) {
    check_weights<double>(seed);
    check_weights<float>(seed + 100);
    check_weights<Kokkos::complex<double>>(seed + 200);
  }
}

TEST(LineReach, RingsAreFoundAndFolded)
{
  // lines of 1, 2, 3, ... rows; ends of all couple by 1, but those of odd lengths above 3 only by 0.2
  ribbon::LinesOfGraph lines;
  lines.begin = {0};
  for (Row length = 1; length <= 12; ++length) lines.begin.push_back(lines.begin.back() + length);
  const Row n = lines.begin.back();
  Host<>    A(n);
  lines.order         = shuffled(n, 3);
  const auto       at = [&lines](Row k) { return lines.order[static_cast<std::size_t>(k)]; };
  std::vector<Row> expected;
  Row              rings = 0, rows = 0;
  for (std::size_t l = 0; l + 1 < lines.begin.size(); ++l) {
    const Row begin = lines.begin[l], end = lines.begin[l + 1], length = end - begin;
    for (Row k = begin; k + 1 < end; ++k) A.couple(at(k), at(k + 1), 1);
    const bool ring = length >= 3 && (length <= 3 || length % 2 == 0);
    if (length >= 3) A.couple(at(begin), at(end - 1), ring ? 1 : 0.2);
    rings += ring, rows += ring ? length : 0;
    for (Row k = 0; k < length; ++k)
      expected.push_back(at(!ring ? begin + k : k % 2 == 0 ? begin + k / 2 : end - 1 - k / 2));
  }
  const Device<double> device(A, lines);
  const auto           found = ribbon::find_rings(device.exec, device.A, device.lines, 0.25);
  EXPECT_EQ(found.lines, rings);
  EXPECT_EQ(found.elements, rows);
  const auto folded = ribbon::on_host(device.exec, ribbon::fold(device.exec, device.lines, found));
  EXPECT_EQ(folded.order, expected);
  EXPECT_EQ(folded.begin, lines.begin);
}

TEST(LineReach, RingsOfBlocks)
{
  // two lines of four blocks of two rows; the ends of the second one couple, by their second rows alone
  const ribbon::LinesOfGraph lines{{0, 1, 2, 3, 4, 5, 6, 7}, {0, 4, 8}};
  Host<>                     A(16);
  for (Row line : {0, 8})
    for (Row k = 0; k < 3; ++k)
      A.couple(line + 2 * k, line + 2 * k + 2, 1), A.couple(line + 2 * k + 1, line + 2 * k + 3, 1);
  for (Row k = 0; k < 8; ++k) A.couple(2 * k, 2 * k + 1, 100); // inside of blocks
  A.couple(9, 15, 1);
  A.couple(1, 7, 0.1);
  const Device<double> device(A, lines);
  const auto           found = ribbon::find_rings(device.exec, device.A, device.lines, 0.25, 2);
  EXPECT_EQ(found.lines, 1);
  EXPECT_EQ(found.elements, 4);
  EXPECT_EQ(ribbon::on_host(device.exec, ribbon::fold(device.exec, device.lines, found)).order,
            (std::vector<Row>{0, 1, 2, 3, 4, 7, 5, 6}));
}

TEST(LineReach, NoRows)
{
  Host<>               A(0);
  ribbon::LinesOfGraph none;
  none.begin = {0};
  const Device<double> device(A, none);
  EXPECT_EQ(ribbon::reach_weights(device.exec, device.A, device.places())[1], 0);
  const auto rings = ribbon::find_rings(device.exec, device.A, device.lines, 0.25);
  EXPECT_EQ(rings.lines, 0);
  EXPECT_EQ(ribbon::on_host(device.exec, ribbon::fold(device.exec, device.lines, rings)).order.size(), 0u);
}

} // namespace
