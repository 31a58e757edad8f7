// SPDX-License-Identifier: BSD-2-Clause
#include "layout.hpp"

#include <algorithm>
#include <numeric>

namespace ribbon::petsc {

std::vector<LineLayout> every_second_line(const std::int64_t (&box)[3], const PetscInt (&begin)[3], int d,
                                          int colour)
{
  const std::int64_t      stride[3] = {1, box[0], box[0] * box[1]};
  const int               d0 = d == 0 ? 1 : 0, d1 = d == 2 ? 1 : 2;
  std::vector<LineLayout> sets;
  for (int odd = 0; odd < 2; ++odd) { // of the second free direction
    const std::int64_t first = (colour + begin[d0] + begin[d1] + odd) % 2, count0 = (box[d0] + 1 - first) / 2,
                       count1 = (box[d1] + 1 - odd) / 2, offset = first * stride[d0] + odd * stride[d1];
    LineSet s{box[d], count0, count1, stride[d], 2 * stride[d0], 2 * stride[d1], offset};
    if (count0 == 1) s.count0 = count1, s.stride0 = s.stride1, s.count1 = 1;
    if (s.unknowns() > 0) sets.push_back({s, nullptr, nullptr});
  }
  return sets;
}

std::int64_t LineLayout::elements() const
{
  if (tables) return tables->elements;
  return std::count_if(element->begin(), element->end(), [](std::int64_t e) { return e >= 0; });
}

static LineLayout layout_of(PackedLines &&p)
{
  return {LineSet::interleaved(p.rows, p.pieces), std::make_shared<const TableOfPlaces>(std::move(p.row_at)),
          std::make_shared<const TableOfPlaces>(std::move(p.line_at))};
}

/// Packs the lines l with taken(l).
template <class F>
static LineLayout pack_some(const LinesOfGraph &lines, std::int64_t rows, const F &taken)
{
  LinesOfGraph              some; // of rows that are numbered in the order of the lines
  std::vector<std::int64_t> element, line;
  some.begin.push_back(0);
  for (std::int64_t l = 0; l < lines.lines(); ++l) {
    if (!taken(static_cast<std::size_t>(l))) continue;
    for (std::int64_t k = lines.begin[static_cast<std::size_t>(l)];
         k < lines.begin[static_cast<std::size_t>(l) + 1]; ++k)
      element.push_back(lines.order[static_cast<std::size_t>(k)]), line.push_back(l);
    some.begin.push_back(static_cast<std::int64_t>(element.size()));
  }
  some.order.resize(element.size());
  std::iota(some.order.begin(), some.order.end(), std::int64_t(0));
  PackedLines p = pack(some, rows);
  for (std::size_t place = 0; place < p.row_at.size(); ++place) {
    const auto k = static_cast<std::size_t>(p.row_at[place]);
    if (p.row_at[place] >= 0) p.row_at[place] = element[k], p.line_at[place] = line[k];
  }
  return layout_of(std::move(p));
}

LineLayout packed(const LinesOfGraph &lines)
{
  return layout_of(pack(lines));
}

std::vector<std::vector<LineLayout>> packed_by_colour(const LinesOfGraph     &lines,
                                                      const std::vector<int> &colour_of, int colours,
                                                      std::int64_t rows, bool empty)
{
  std::vector<std::vector<LineLayout>> all(static_cast<std::size_t>(colours));
  for (int colour = 0; colour < colours; ++colour) {
    const LineLayout layout = pack_some(lines, rows, [&](std::size_t l) { return colour_of[l] == colour; });
    if (empty || layout.lines.unknowns() > 0) all[static_cast<std::size_t>(colour)].push_back(layout);
  }
  return all;
}

std::vector<int> colour_lines(const HostRows &A, const LinesOfGraph &lines, PetscInt components)
{
  constexpr int             most = 4;
  std::vector<std::int64_t> line_of(lines.order.size());
  std::vector<int>          colour(static_cast<std::size_t>(lines.lines()), -1);
  std::vector<unsigned>     taken(colour.size(), 0); // bit c: a line of colour c couples with it
  for (std::size_t l = 0; l < colour.size(); ++l)
    for (std::int64_t k = lines.begin[l]; k < lines.begin[l + 1]; ++k)
      line_of[static_cast<std::size_t>(lines.order[static_cast<std::size_t>(k)])] =
        static_cast<std::int64_t>(l);
  const auto neighbours = [&](std::size_t l, const auto &f) {
    for (std::int64_t k = lines.begin[l]; k < lines.begin[l + 1]; ++k)
      for (std::int64_t r = lines.order[static_cast<std::size_t>(k)] * components, end = r + components;
           r < end; ++r)
        for (PetscInt e = A.row_begin[r]; e < A.row_begin[r + 1]; ++e) {
          const auto other =
            static_cast<std::size_t>(line_of[static_cast<std::size_t>(A.column[e] / components)]);
          if (other != l && A.value[e] != Scalar(0)) f(other);
        }
  };
  for (std::size_t l = 0; l < colour.size(); ++l) {
    neighbours(l, [&](std::size_t other) {
      if (colour[other] >= 0) taken[l] |= 1u << colour[other];
    });
    colour[l] = 0;
    while (colour[l] < most - 1 && (taken[l] >> colour[l]) % 2 == 1) ++colour[l];
    neighbours(l, [&](std::size_t other) { taken[other] |= 1u << colour[l]; });
  }
  return colour;
}

std::vector<LineSet> split_components(const LineSet &elements, int components)
{
  LineSet s = elements;
  s.row_stride *= components, s.stride0 *= components, s.stride1 *= components, s.offset *= components;
  if (components == 1) return {s};
  if (elements.stride0 == 1 || s.count0 == 1) { // components and lines are contiguous
    s.count0 *= components, s.stride0 = 1;
    return {s};
  }
  if (s.count1 == 1) {
    s.count1 = s.count0, s.stride1 = s.stride0, s.count0 = components, s.stride0 = 1;
    return {s};
  }
  std::vector<LineSet> sets(static_cast<std::size_t>(components), s);
  for (int c = 0; c < components; ++c) sets[static_cast<std::size_t>(c)].offset += c;
  return sets;
}

std::vector<LineLayout> split_components(const LineLayout &elements, int components)
{
  if (components == 1) return {elements};
  std::vector<LineLayout> all;
  for (const LineSet &set : split_components(elements.lines, components))
    all.push_back({set, nullptr, nullptr});
  if (!elements.element) return all;
  // packed lines are contiguous, so that components make them one set
  const auto                n = static_cast<std::int64_t>(components);
  std::vector<std::int64_t> element, part;
  for (std::size_t place = 0; place < elements.element->size(); ++place)
    for (std::int64_t c = 0; c < n; ++c) {
      const std::int64_t e = (*elements.element)[place];
      element.push_back(e < 0 ? -1 : e * n + c), part.push_back(e < 0 ? -1 : (*elements.part)[place] * n + c);
    }
  all[0].element = std::make_shared<const TableOfPlaces>(std::move(element));
  all[0].part    = std::make_shared<const TableOfPlaces>(std::move(part));
  return all;
}

} // namespace ribbon::petsc
