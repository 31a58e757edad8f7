// SPDX-License-Identifier: BSD-2-Clause
/// @file wmethod.hpp  Rosenbrock W-methods: they keep their order with any matrix as Jacobian, and so with
///   approximate factors.
#pragma once

#include <petscsys.h>

namespace ribbon::petsc {

inline constexpr int max_stages = 4;

/// A W-method in the variables y_i = sum_j gamma_ij k_j (Hairer & Wanner, Solving Ordinary Differential
/// Equations II, IV.7), P = M - gamma h A:
///     P y_i = gamma h [G(t + c_i h, U + sum_j a_ij y_j) - M sum_j z_ij y_j / h],
///     U+ = U + sum_i b_i y_i,   embedded: with e_i.
struct WMethod {
  int       stages = 0, order = 0;
  PetscReal gamma         = 0;
  PetscReal c[max_stages] = {}; ///< abscissae of the functions
  /// times of the values of the stages: U + sum_j a_ij y_j = U(t + alpha_i h) + O(h^2)
  PetscReal alpha[max_stages]         = {};
  PetscReal a[max_stages][max_stages] = {};
  PetscReal z[max_stages][max_stages] = {};
  PetscReal b[max_stages]             = {};
  bool      embeds                    = false;
  PetscReal e[max_stages]             = {};
  /// y_i from increments k_j = 1, h, ...: on rows of algebraic equations k_j is given.
  PetscReal gamma_ij[max_stages][max_stages] = {};
  /// Dense output U(t + x h) = U + sum_i sum_p dense_ip x^(p+1) y_i of order 3, if the method has one.
  bool      has_dense            = false;
  PetscReal dense[max_stages][3] = {};
};

/// The largest |R| of the method with one factor for each direction, for U' = sum_d lambda_d U with any of the
/// values h lambda_d = z_d(phi) = -damping_d (1 - cos phi) + i transport_d sin phi and 0. These are the
/// eigenvalues of three-point differences, times h. With a mass matrix they are divided by 1 - mass_d (1 - cos
/// phi); null: no direction has one.
PetscReal amplification(const WMethod &m, int directions, const PetscReal transport[],
                        const PetscReal damping[], const PetscReal mass[] = nullptr);

/// k = h P^-1 G(t + theta h, U): the linearised theta method, Douglas-Gunn with factors. Order 2 with theta
/// 1/2 and exact A, otherwise 1.
WMethod theta_method(PetscReal theta);
/// ROS2 (Verwer et al. 1999). With approximate factors it is the method of Hundsdorfer & Verwer. Order 2,
/// embedded 1.
WMethod hundsdorfer_verwer(PetscReal theta);
/// Rang & Angermann (2005). Order 3, embedded 2.
WMethod ra34pw2();

} // namespace ribbon::petsc
