// SPDX-License-Identifier: BSD-2-Clause
/// @file elimination.hpp  Elimination of chunks on the host, plain and orthogonal, in extended precision.
#pragma once

#include <ribbon/elimination/orthogonal_elimination.hpp>
#include <ribbon/elimination/plain_elimination.hpp>
