// SPDX-License-Identifier: BSD-2-Clause
/// @file pattern_runs.hpp  Runs over a grid of mean concentrations and amplitudes of the forcing.
#pragma once

#include "settings.hpp"

namespace ch_lines {

/// Means and forcings of consecutive lines. The mean runs fastest.
std::vector<Start> pattern_starts(const Settings &s, std::int64_t first, std::int64_t lines);
/// Points of a line from one on file to the next.
std::int64_t point_stride(const Settings &s);
/// All parameters on which states depend, for scripts and for -restart.
std::string pattern_header(const Settings &s);

} // namespace ch_lines
