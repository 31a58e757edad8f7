// SPDX-License-Identifier: BSD-2-Clause
#include <ribbon/multicolor.hpp>

#include <algorithm>
#include <cstddef>

namespace ribbon {

namespace {

void append(std::vector<ColorStep> *steps, int color)
{
  if (!steps->empty() && steps->back().color == color) ++steps->back().repeats;
  else {
    ColorStep step;
    step.color = color;
    steps->push_back(step);
  }
}

/// The next step that relaxes the colour of step k, if no step between changes earlier colours.
std::size_t next_with_same_sums(const std::vector<ColorStep> &steps, std::size_t k)
{
  std::size_t next = k + 1;
  while (next < steps.size() && steps[next].color > steps[k].color) ++next;
  return next < steps.size() && steps[next].color == steps[k].color ? next : steps.size();
}

} // namespace

std::vector<ColorStep> color_sequence(int colors, bool forward, bool backward, int sweeps, bool zero)
{
  std::vector<ColorStep> steps;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (int c = 0; forward && c < colors; ++c) append(&steps, c);
    for (int c = colors; backward && c-- > 0;) append(&steps, c);
  }
  int               first = colors, last = -1; // colours that are not zero
  std::vector<char> relaxed(static_cast<std::size_t>(colors), 0);
  for (std::size_t k = 0; k < steps.size(); ++k) {
    ColorStep &step = steps[k];
    if (zero)
      step.set     = !relaxed[static_cast<std::size_t>(step.color)],
      step.earlier = first<step.color, step.later = last> step.color;
    relaxed[static_cast<std::size_t>(step.color)] = 1;
    first = std::min(first, step.color), last = std::max(last, step.color);
    const std::size_t next = step.color > 0 ? next_with_same_sums(steps, k) : steps.size();
    if (next < steps.size()) step.keep = !step.reuse, steps[next].reuse = true;
  }
  return steps;
}

} // namespace ribbon
