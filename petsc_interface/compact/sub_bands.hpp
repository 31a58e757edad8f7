// SPDX-License-Identifier: BSD-2-Clause
/// @file sub_bands.hpp  Consecutive rows of A or B, with a metric, and of their transposes.
#pragma once

#include "lines.hpp"

namespace ribbon::petsc {

enum class Factor { A, B };

/// The entries of A or B on a line. With a metric D the operator is D A^-1 B = (A D^-1)^-1 B.
class CompactEntriesOf {
public:
  CompactEntriesOf(const CompactRequest &request, Factor factor)
      : rows_(factor == Factor::A ? request.scheme.A : request.scheme.B), n_(request.rows),
        periodic_(request.scheme.periodic), metric_(factor == Factor::A ? &request.metric : nullptr)
  {
    if (metric_ && metric_->empty()) metric_ = nullptr;
  }

  int lower(bool transposed) const { return transposed ? rows_.upper : rows_.lower; }
  int upper(bool transposed) const { return transposed ? rows_.lower : rows_.upper; }

  /// Entry (i, i + d); zero outside the matrix of an open line.
  Scalar operator()(std::int64_t i, std::int64_t d) const
  {
    const std::int64_t j = periodic_ ? (i + d + n_) % n_ : i + d;
    if (j < 0 || j >= n_) return Scalar(0);
    const Scalar entry = rows_.row(i, n_)[static_cast<std::size_t>(d + rows_.lower)];
    return metric_ ? entry / (*metric_)[static_cast<std::size_t>(j)] : entry;
  }
  /// The same of the transpose.
  Scalar transposed(std::int64_t i, std::int64_t d) const
  {
    const std::int64_t j = periodic_ ? (i + d + n_) % n_ : i + d;
    return j < 0 || j >= n_ ? Scalar(0) : (*this)(j, -d);
  }

private:
  const StencilRows<Scalar>    &rows_;
  std::int64_t                  n_;
  bool                          periodic_;
  const std::vector<PetscReal> *metric_;
};

/// Rows first .. first + count - 1 as bands that are not periodic. Entries beyond the ends are stored where
/// Bands ignore them.
template <class Exec>
Bands<Scalar, typename Exec::memory_space> sub_bands(const Exec &exec, const CompactRequest &request,
                                                     Factor factor, std::int64_t first, std::int64_t count,
                                                     bool transposed)
{
  const CompactEntriesOf                     entry(request, factor);
  Bands<Scalar, typename Exec::memory_space> bands;
  bands.lower = entry.lower(transposed), bands.upper = entry.upper(transposed);
  const int width = bands.lower + bands.upper + 1;
  bands.values =
    allocate<decltype(bands.values)>(exec, "ribbon::compact::bands", std::size_t(1),
                                     static_cast<std::size_t>(count), static_cast<std::size_t>(width));
  const auto host = Kokkos::create_mirror_view(bands.values);
  for (std::int64_t i = 0; i < count; ++i)
    for (int k = 0; k < width; ++k) {
      const std::int64_t d = k - bands.lower;
      host(0, static_cast<std::size_t>(i), static_cast<std::size_t>(k)) =
        transposed ? entry.transposed(first + i, d) : entry(first + i, d);
    }
  Kokkos::deep_copy(exec, bands.values, host);
  exec.fence();
  return bands;
}

/// A and B of whole lines.
template <class Exec>
CompactBands<Scalar, typename Exec::memory_space> whole_bands(const Exec &exec, const CompactRequest &request)
{
  auto bands = compact_bands(exec, request.scheme, request.rows);
  if (!request.metric.empty()) {
    bands.A          = sub_bands(exec, request, Factor::A, 0, request.rows, false);
    bands.A.periodic = request.scheme.periodic;
  }
  return bands;
}

} // namespace ribbon::petsc
