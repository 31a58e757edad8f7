// SPDX-License-Identifier: BSD-2-Clause
#include "pattern_runs.hpp"

#include <algorithm>
#include <sstream>

namespace ch_lines {

static double between(const double (&range)[2], std::int64_t k, std::int64_t count)
{
  return count > 1
           ? range[0] + (range[1] - range[0]) * static_cast<double>(k) / static_cast<double>(count - 1)
           : range[0];
}

std::vector<Start> pattern_starts(const Settings &s, std::int64_t first, std::int64_t lines)
{
  std::vector<Start> all(static_cast<std::size_t>(lines));
  for (std::int64_t l = 0; l < lines; ++l)
    all[static_cast<std::size_t>(l)] = {between(s.mean, (first + l) % s.map[0], s.map[0]),
                                        between(s.forcing, (first + l) / s.map[0], s.map[1])};
  return all;
}

static const char *name_of(Advection advection)
{
  return advection == Advection::weno ? "weno" : advection == Advection::flux ? "flux" : "central";
}

std::int64_t point_stride(const Settings &s)
{
  return std::max<std::int64_t>(1, s.equation.rows / s.points);
}

std::string pattern_header(const Settings &s)
{
  std::ostringstream text;
  text.precision(17);
  text << "study " << (s.study == Study::patterns ? "patterns" : "evolution") << "\nmap " << s.map[0] << ' '
       << s.map[1] << "\nmean " << s.mean[0] << ' ' << s.mean[1] << "\nforcing " << s.forcing[0] << ' '
       << s.forcing[1] << "\nrows " << s.equation.rows << "\npoints " << s.equation.rows / point_stride(s)
       << "\nlength " << s.equation.length << "\ngamma " << s.equation.gamma << "\nwaves " << s.equation.waves
       << "\nspeed " << s.equation.speed << "\nadvection " << name_of(s.equation.advection) << "\ndt "
       << s.equation.dt << "\nstabilization " << s.equation.stabilization << "\nfinal_time " << s.final_time
       << "\nwindow " << s.window << "\nreports " << s.reports << "\nconserve " << s.method.conserve
       << "\namplitude " << s.noise.amplitude << "\nseed " << s.noise.seed << '\n';
  return text.str();
}

} // namespace ch_lines
