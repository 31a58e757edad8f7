/* SPDX-License-Identifier: BSD-2-Clause */
/* scene.h  A picture with a depth for each pixel: balls on a chequered floor. */
#pragma once

#include <petscsys.h>

/* Colour, red, green and blue in [0, 1], and distance along the view of the pixel at (x, y), with x to the
   right in [-1, 1] and y up; the height of the picture is 2 aspect. */
void TracePixel(PetscReal x, PetscReal y, PetscReal colour[3], PetscReal *depth);
