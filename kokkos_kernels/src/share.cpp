// SPDX-License-Identifier: BSD-2-Clause
#include <ribbon/lines_from_csr.hpp>

#include "any_numbers.hpp"
#include "instantiate.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <unordered_map>

namespace ribbon {

namespace {

KOKKOS_INLINE_FUNCTION std::uint64_t mix(std::uint64_t h, std::uint64_t k)
{
  h ^= k + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2);
  h *= 0xff51afd7ed558ccdull;
  return h ^ (h >> 32);
}
KOKKOS_INLINE_FUNCTION std::uint64_t bits_of(double a)
{
  const double  d    = a + 0.0; // -0 and 0 are the same number
  std::uint64_t u    = 0;
  const char   *from = reinterpret_cast<const char *>(&d);
  char         *to   = reinterpret_cast<char *>(&u);
  for (int k = 0; k < 8; ++k) to[k] = from[k];
  return u;
}
/// The entries of Bands, of any scalar.
struct Values {
  detail::AnyNumbers numbers;
  std::int64_t       matrices, rows, entries, row_stride, entry_stride;
  template <class View>
  explicit Values(const View &view)
      : numbers(view.data()), matrices(static_cast<std::int64_t>(view.extent(0))),
        rows(static_cast<std::int64_t>(view.extent(1))), entries(static_cast<std::int64_t>(view.extent(2))),
        row_stride(static_cast<std::int64_t>(view.stride(1))),
        entry_stride(static_cast<std::int64_t>(view.stride(2)))
  {
  }
  KOKKOS_FUNCTION std::int64_t at(std::int64_t l, std::int64_t i, std::int64_t d) const
  {
    return l + i * row_stride + d * entry_stride;
  }
  KOKKOS_FUNCTION std::uint64_t hash(std::uint64_t h, std::int64_t k) const
  {
    const auto a = numbers[k];
    h            = mix(h, bits_of(a.real()));
    return numbers.is_complex() ? mix(h, bits_of(a.imag())) : h;
  }
  /// Largest entry of row i of matrix l.
  KOKKOS_FUNCTION double largest(std::int64_t l, std::int64_t i) const
  {
    double most = 0;
    for (std::int64_t d = 0; d < entries; ++d) {
      const double size = numbers.size(at(l, i, d));
      most              = size > most ? size : most;
    }
    return most;
  }
};

/// A weight in [-1, 1).
KOKKOS_INLINE_FUNCTION double weight(std::uint64_t key)
{
  return static_cast<double>(mix(key, key * 0x94d049bb133111ebull) >> 11) * (2.0 / 9007199254740992.0) - 1.0;
}
KOKKOS_INLINE_FUNCTION double weigh(std::uint64_t key, const Kokkos::complex<double> &a, double scale)
{
  return (weight(2 * key) * a.real() + (a.imag() == 0 ? 0 : weight(2 * key + 1) * a.imag())) / scale;
}

/// A hash per matrix: equal matrices have equal hashes, different ones most likely different hashes.
/// `near`: a weighted sum, as the bits of a double, so that nearly equal matrices have nearly equal sums
/// (largest_gap()).
template <class Memory>
struct HashKernel {
  Values                                values;
  Kokkos::View<std::uint64_t *, Memory> hash;
  bool                                  near;
  std::int64_t                          rows;      ///< rows per thread
  std::int64_t                          every = 1; ///< one of this many rows enters the hash
  /// Hashes of rows add up, in any order.
  KOKKOS_FUNCTION void operator()(const std::int64_t t) const
  {
    const std::int64_t l = t % values.matrices, begin = t / values.matrices * rows, end = begin + rows;
    std::uint64_t      h   = 0;
    double             sum = 0;
    for (std::int64_t i = begin; i < end && i < values.rows; i += every) {
      const double        largest = near ? values.largest(l, i) : 0;
      const std::uint64_t key     = static_cast<std::uint64_t>(i * (values.entries + 1));
      std::uint64_t       row     = mix(0, key);
      for (std::int64_t d = 0; d < values.entries; ++d) {
        const std::int64_t k = values.at(l, i, d);
        if (!near) row = values.hash(row, k);
        else if (values.numbers.size(k) != 0)
          sum += weigh(key + static_cast<std::uint64_t>(d), values.numbers[k], largest);
      }
      h += row;
      if (largest > 0) sum += weight(2 * (key + static_cast<std::uint64_t>(values.entries))) * log2(largest);
    }
    if (near) hash(l) = bits_of(sum);
    else if (rows >= values.rows) hash(l) = h;
    else Kokkos::atomic_fetch_add(&hash(l), h);
  }
};
/// Largest difference of the sums of two matrices that agree to `tolerance`. Entries, divided by the
/// largest of their row, differ by less than 2.1 tolerances (complex ones: in each part). Logarithms of the
/// largest entries differ by less than 1.5 tolerances.
double largest_gap(std::size_t rows, std::size_t entries, double tolerance)
{
  return static_cast<double>(rows) * (static_cast<double>(entries) * 4.2 + 1.5) * tolerance / (1 - tolerance);
}

/// Counts lines that differ from the representative of their class although the hashes are equal, and
/// removes them: class -1.
template <class Memory>
struct CompareKernel {
  struct Rows { };
  Values                      values;
  Kokkos::View<int *, Memory> class_of_line, representative;
  double                      tolerance;
  KOKKOS_FUNCTION void        operator()(const std::int64_t l, std::int64_t &different) const
  {
    const int c = class_of_line(l), r = c < 0 ? 0 : representative(c);
    if (c < 0 || (r == l && tolerance > 0)) return;
    for (std::int64_t i = 0; i < values.rows; ++i) {
      const double most = tolerance > 0 ? tolerance * values.largest(r, i) : 0;
      for (std::int64_t d = 0; d < values.entries; ++d) {
        const auto mine = values.numbers[values.at(l, i, d)], its = values.numbers[values.at(r, i, d)];
        if (!(mine == its) && !(magnitude(mine - its) <= most)) {
          ++different;
          class_of_line(l) = -1;
          return;
        }
      }
    }
  }
  /// The same without tolerance, one thread per row: counts rows.
  KOKKOS_FUNCTION void operator()(Rows, const std::int64_t t, std::int64_t &different) const
  {
    const std::int64_t l = t % values.matrices, i = t / values.matrices;
    const int          r    = representative(class_of_line(l));
    bool               same = true;
    for (std::int64_t d = 0; d < values.entries; ++d)
      same = same && values.numbers[values.at(l, i, d)] == values.numbers[values.at(r, i, d)];
    if (!same) ++different;
  }
};

template <class Memory>
struct GatherKernel {
  Values                      from;
  void                       *to;
  std::int64_t                classes;
  Kokkos::View<int *, Memory> representative;
  KOKKOS_FUNCTION void        operator()(const std::int64_t k) const
  {
    const std::int64_t c = k % classes, i = k / classes;
    for (std::int64_t d = 0; d < from.entries; ++d)
      from.numbers.copy(from.at(representative(c), i, d), to, c + classes * (i + from.rows * d));
  }
};

/// Lines of one hash are one class, numbered by their first lines. False: there are more than `most`
/// classes.
template <class Hashes>
bool classes_of_equal(const Hashes &hash, std::int64_t most, std::vector<int> &first_line,
                      std::vector<int> &class_of, SharingResult &result)
{
  std::unordered_map<std::uint64_t, int> known;
  known.reserve(std::min(static_cast<std::size_t>(most) + 2, hash.extent(0)));
  for (std::size_t l = 0; l < hash.extent(0); ++l) {
    const auto found = known.emplace(hash(l), static_cast<int>(first_line.size()));
    if (found.second) first_line.push_back(static_cast<int>(l));
    class_of.push_back(found.first->second);
    if (first_line.size() == 2 && result.first < 0)
      result.first = first_line[0], result.different = first_line[1];
    if (static_cast<std::int64_t>(first_line.size()) > most && result.first >= 0) return false;
  }
  return true;
}

/// Whether lines share matrices; unknown if hashes agree and matrices do not.
enum class Equal { no, yes, unknown };

/// Every line joins the class of the first line with a nearby sum, or begins a class. compare() removes
/// lines that differ from that first line; the next round classifies these among themselves. A second round
/// is rare: it occurs only if the sums of different lines are within the gap that the tolerance permits.
/// False: there are more than `most` classes, sums that are not finite, or lines left after the last round.
constexpr int most_rounds = 64;
template <class Hashes, class Compare, class Classes>
bool classes_of_near(const Hashes &hash, double gap, std::int64_t most, const Compare &compare,
                     std::vector<int> &first_line, std::vector<int> &class_of, const Classes &classes,
                     SharingResult &result)
{
  const std::size_t   lines = hash.extent(0);
  std::vector<double> sum(lines);
  for (std::size_t l = 0; l < lines; ++l) {
    const std::uint64_t bits = hash(l);
    std::memcpy(&sum[l], &bits, sizeof bits);
    if (!std::isfinite(sum[l])) return false;
  }
  std::vector<int> found(lines, -1);
  std::int64_t     left = 1;
  for (int round = 0; left > 0; ++round) {
    if (round == most_rounds) return false;
    std::multimap<double, int> begun;
    class_of.assign(lines, -1);
    for (std::size_t l = 0; l < lines; ++l) {
      if (found[l] >= 0) continue;
      for (auto near = begun.lower_bound(sum[l] - gap); near != begun.end() && near->first <= sum[l] + gap;
           ++near)
        if (class_of[l] < 0 || near->second < class_of[l]) class_of[l] = near->second;
      if (class_of[l] >= 0) continue;
      class_of[l] = static_cast<int>(first_line.size());
      begun.emplace(sum[l], class_of[l]);
      first_line.push_back(static_cast<int>(l));
    }
    left             = compare();
    const auto taken = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, classes);
    for (std::size_t l = 0; l < lines; ++l)
      if (found[l] < 0) found[l] = taken(l);
    for (std::size_t l = 1; l < lines && result.first < 0; ++l)
      if (found[l] != found[0]) result.first = 0, result.different = static_cast<std::int64_t>(l);
    if (static_cast<std::int64_t>(first_line.size()) + (left > 0 ? 1 : 0) > most) return false;
  }
  class_of = found;
  Kokkos::deep_copy(classes,
                    Kokkos::View<const int *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                      class_of.data(), lines));
  return true;
}

/// The classes of lines with equal matrices, on the host and in the memory of Exec.
template <class Exec>
class Classes {
public:
  using Memory = typename Exec::memory_space;
  std::vector<int>            first_line, class_of;          ///< of classes; of lines
  Kokkos::View<int *, Memory> class_of_line, representative; ///< copies of class_of and first_line

  Classes(const Exec &exec, const Values &values, double tolerance)
      : exec_(exec), values_(values), tolerance_(tolerance),
        hash_(allocate<Kokkos::View<std::uint64_t *, Memory>>(exec, "ribbon::hash",
                                                              static_cast<std::size_t>(values.matrices)))
  {
  }

  /// Finds at most `most` classes. False: there are more, or lines that cannot be compared.
  bool find(std::int64_t most, SharingResult &result)
  {
    if (tolerance_ > 0)
      return classes_of_near(
        hashes(1),
        largest_gap(static_cast<std::size_t>(values_.rows), static_cast<std::size_t>(values_.entries),
                    tolerance_),
        most, [&] { return compare(); }, first_line, class_of, class_of_line, result);
    // a few rows distinguish most matrices; all rows decide if matrices agree in these and differ elsewhere
    const std::int64_t every = std::max<std::int64_t>(1, values_.rows / 4);
    Equal              equal = find_equal(every, most, result);
    if (equal == Equal::unknown && every > 1) equal = find_equal(1, most, result);
    // no: too many different matrices; unknown: NaN, or different matrices with equal hashes
    return equal == Equal::yes;
  }

private:
  /// Hashes of the lines from one of `every` rows.
  auto hashes(std::int64_t every) const
  {
    const bool         split = is_device_space<Exec> && tolerance_ == 0 && every == 1;
    const std::int64_t lines = values_.matrices,
                       rows  = split ? 1 + lines * values_.rows / (1 << 20)
                                     : std::max<std::int64_t>(1, values_.rows),
                       parts = (values_.rows + rows - 1) / rows;
    if (split) Kokkos::deep_copy(exec_, hash_, 0);
    Kokkos::parallel_for("ribbon::hash", indices(exec_, lines * parts),
                         HashKernel<Memory>{values_, hash_, tolerance_ > 0, rows, every});
    exec_.fence();
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, hash_);
  }
  /// Counts lines, or without tolerance rows, that differ from the representative of their class.
  std::int64_t compare()
  {
    class_of_line                             = upload(exec_, "ribbon::class_of_line", class_of);
    representative                            = upload(exec_, "ribbon::representative", first_line);
    std::int64_t                    different = 0;
    const CompareKernel<Memory>     kernel{values_, class_of_line, representative, tolerance_};
    const Kokkos::Sum<std::int64_t> sum(different);
    if (tolerance_ > 0)
      Kokkos::parallel_reduce("ribbon::compare", indices(exec_, values_.matrices), kernel, sum);
    else
      Kokkos::parallel_reduce(
        "ribbon::compare",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>, typename CompareKernel<Memory>::Rows>(
          exec_, 0, values_.matrices * values_.rows),
        kernel, sum);
    exec_.fence();
    return different;
  }
  /// Classes of equal hashes, if their matrices are equal.
  Equal find_equal(std::int64_t every, std::int64_t most, SharingResult &result)
  {
    first_line.clear(), class_of.clear();
    if (!classes_of_equal(hashes(every), most, first_line, class_of, result)) return Equal::no;
    return compare() == 0 ? Equal::yes : Equal::unknown;
  }

  const Exec                           &exec_;
  const Values                          values_;
  const double                          tolerance_;
  Kokkos::View<std::uint64_t *, Memory> hash_;
};

} // namespace

template <class Scalar, class Exec>
SharingResult share(const Exec &exec, Bands<Scalar, typename Exec::memory_space> &bands, std::int64_t most,
                    double tolerance)
{
  using Memory = typename Exec::memory_space;
  SharingResult result;
  if (bands.values.extent(0) == 0) return result;
  const Values  values(bands.values);
  Classes<Exec> classes(exec, values, tolerance);
  if (!classes.find(most, result)) return result;
  result.classes      = static_cast<std::int64_t>(classes.first_line.size());
  const auto distinct = allocate<typename Bands<Scalar, Memory>::values_type>(
    exec, "ribbon::bands", classes.first_line.size(), bands.values.extent(1), bands.values.extent(2));
  Kokkos::parallel_for("ribbon::gather", indices(exec, result.classes * values.rows),
                       GatherKernel<Memory>{values, distinct.data(), result.classes, classes.representative});
  exec.fence();
  bands.values = distinct;
  bands.lhs    = result.classes == 1 ? Lhs::shared : Lhs::classes;
  if (result.classes > 1) bands.class_of_line = classes.class_of_line;
  return result;
}

#define RIBBON_INSTANTIATE(Scalar, Exec)                                                                     \
  template SharingResult share(const Exec &, Bands<Scalar, typename Exec::memory_space> &, std::int64_t,     \
                               double);

RIBBON_INSTANTIATE_ALL(RIBBON_INSTANTIATE)

} // namespace ribbon
