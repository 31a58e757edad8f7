// SPDX-License-Identifier: BSD-2-Clause
#include "ksp.hpp"

#include "mass.hpp"
#include "../support/session.hpp"

#include <algorithm>
#include <cmath>

namespace ribbon::petsc {

namespace {

/// rounding errors of commutators
constexpr double same_to = 1e3 * static_cast<double>(PETSC_MACHINE_EPSILON) > 1e-9
                             ? 1e3 * static_cast<double>(PETSC_MACHINE_EPSILON)
                             : 1e-9;
/// largest number of shifts in a cycle
constexpr int most = 64;
/// part of a spectrum that a smoother damps
constexpr double upper_part = 0.5;

/// Bounds of every direction. Collective.
PetscErrorCode FindSpectra(KSP_ADI *adi)
{
  const int D = adi->splitting.directions();
  PetscFunctionBegin;
  adi->spectra.assign(static_cast<std::size_t>(D),
                      {static_cast<double>(adi->bounds[0]), static_cast<double>(adi->bounds[1])});
  adi->indefinite = false;
  adi->singular.assign(static_cast<std::size_t>(D), false);
  for (int d = 0; d < D && !(adi->bounds[1] > 0); ++d) {
    bool singular = false;
    PetscCall(EstimateSpectrum(adi, d, !adi->smooths, &adi->spectra[static_cast<std::size_t>(d)], &singular));
    adi->singular[static_cast<std::size_t>(d)] = singular;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The spectrum that contains those of all directions, or the part that a smoother damps.
Spectrum Hull(const KSP_ADI *adi)
{
  Spectrum all = adi->spectra[0];
  for (const Spectrum &s : adi->spectra)
    all.least = std::min(all.least, s.least), all.largest = std::max(all.largest, s.largest);
  if (adi->smooths) {
    all.least = all.largest;
    for (const Spectrum &s : adi->spectra) all.least = std::min(all.least, upper_part * s.largest);
  }
  return all;
}

/// Shifts and scales of a cycle.
void ChooseShifts(KSP ksp, KSP_ADI *adi)
{
  const double reduction =
    std::clamp(static_cast<double>(ksp->rtol), static_cast<double>(PETSC_MACHINE_EPSILON), 0.5);
  const int  D     = adi->splitting.directions();
  Spectrum   all   = Hull(adi);
  const auto count = [&](double needed) {
    PetscInt n = adi->shifts > 0
                   ? adi->shifts
                   : static_cast<PetscInt>(std::ceil(std::min<double>(most, std::max(1., needed))));
    return static_cast<int>(adi->shifts == 0 && adi->smooths ? std::min(n, ksp->max_it) : n);
  };
  adi->pairs.clear(), adi->scale.clear();
  if (D == 1) {
    adi->predicted = 1;
    adi->scale.push_back(1);
    return;
  }
  if (!adi->separable && ksp->normtype == KSP_NORM_NONE) { // no norm would show that a cycle fails
    const double rho = std::sqrt(all.least * all.largest);
    adi->predicted   = 0;
    adi->pairs.push_back({rho, rho});
  } else if (D == 2) {
    Spectrum h = adi->spectra[0], v = adi->spectra[1];
    // one of the two may be singular. If both are, vectors that both map to 0 are in the null space of the
    // matrix. For other vectors at most one of the two factors is 0
    if (adi->singular[0] != adi->singular[1]) (adi->singular[0] ? h : v).least = 0;
    if (adi->smooths) h = v = all;
    adi->predicted = wachspress_count(condition_of(h, v), reduction);
    adi->pairs     = wachspress_shifts(h, v, count(adi->predicted));
  } else {
    std::vector<double> shifts =
      douglas_shifts(all, adi->shifts > 0 ? static_cast<int>(adi->shifts)
                          : adi->smooths  ? static_cast<int>(PetscMax(1, ksp->max_it))
                                          : 0);
    adi->predicted = douglas_count(all, shifts, reduction);
    for (double rho : shifts) adi->pairs.push_back({rho, rho});
  }
  adi->middle = adi->pairs.size() / 2;
  if (!adi->separable) adi->predicted = 0;
  for (const ShiftPair &s : adi->pairs) {
    const double whole = D == 2 ? s.p + s.q : (adi->separable ? 2 : 1) * s.p * s.p;
    adi->scale.push_back(static_cast<PetscReal>(whole));
  }
}

} // namespace

PetscErrorCode SetUpADI(KSP ksp, KSP_ADI *adi)
{
  const Mat P = ksp->pc->pmat;
  DM        dm;
  Vec       mass;
  bool      changed;
  PetscFunctionBegin;
  PetscCall(EnsureKokkos());
  adi->set_up_with = nullptr;
  PetscCall(PCGetDM(ksp->pc, &dm));
  if (!dm) dm = ksp->dm;
  PetscCall(MatCreateVecs(P, nullptr, &mass));
  PetscCall(VecSet(mass, 1));
  PetscCall(MarkDiagonalRows(P, mass));
  PetscCall(adi->splitting.update({P, dm, 0, mass, nullptr}, &changed));
  PetscCall(VecDestroy(&mass));
  const int D  = adi->splitting.directions();
  adi->smooths = ksp->normtype == KSP_NORM_NONE && ksp->max_it <= 8 && D > 1;
  if (D > 1) {
    PetscCall(Logged(&Events::spectra, [&] {
      PetscFunctionBegin;
      PetscCall(MeasureSeparability(adi, P));
      adi->separable = adi->commutator <= same_to && adi->left_out <= same_to;
      PetscCall(FindSpectra(adi));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
  } else adi->spectra.assign(1, {0, 0}), adi->separable = true, adi->commutator = adi->left_out = 0;
  ChooseShifts(ksp, adi);
  if (D == 1) PetscCall(adi->factors.factor(adi->splitting, 0, 0, 0, 1, nullptr));
  for (std::size_t k = adi->pairs.size(); k-- > 0;) // smallest first
    for (int d = 0; d < D; ++d)
      PetscCall(adi->factors.factor(
        adi->splitting, d, static_cast<int>(k) + 1,
        static_cast<PetscReal>(D == 2 && d == 1 ? adi->pairs[k].q : adi->pairs[k].p), 1, nullptr));
  // it served to estimate the spectrum and to create the other sets
  for (int d = 0; d < D && D > 1; ++d) PetscCall(adi->factors.drop(d, 0));
  PetscCall(KSPSetWorkVecs(ksp, 3));
  PetscCall(PetscObjectStateGet((PetscObject)P, &adi->state));
  adi->set_up_with = P;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
