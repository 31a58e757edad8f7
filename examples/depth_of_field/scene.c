/* SPDX-License-Identifier: BSD-2-Clause */
#include "scene.h"

typedef struct {
  PetscReal centre[3], radius, colour[3];
} Ball;

/* The eye is in the origin and looks along z. The floor is at y = -1. */
static const Ball      balls[]  = {{{-0.9, -0.6, 2.4}, 0.4, {0.85, 0.2, 0.15}},
                                   {{0.1, -0.5, 4.0}, 0.5, {0.2, 0.6, 0.25}},
                                   {{1.6, -0.4, 6.5}, 0.6, {0.2, 0.35, 0.8}},
                                   {{-2.2, -0.2, 10.0}, 0.8, {0.9, 0.7, 0.15}},
                                   {{2.5, 0.0, 16.0}, 1.0, {0.6, 0.25, 0.7}}};
static const PetscReal light[3] = {0.48, 0.76, -0.44}, sky[3] = {0.7, 0.82, 0.95}, farthest = 40;

static PetscReal Dot(const PetscReal a[3], const PetscReal b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Distance t of the nearest point t d on the ball, or a negative number. */
static PetscReal Meet(const Ball *ball, const PetscReal d[3])
{
  const PetscReal a = Dot(d, d), b = Dot(d, ball->centre),
                  c = Dot(ball->centre, ball->centre) - ball->radius * ball->radius, root = b * b - a * c;
  return root < 0 ? -1 : (b - PetscSqrtReal(root)) / a;
}

void TracePixel(PetscReal x, PetscReal y, PetscReal colour[3], PetscReal *depth)
{
  const PetscReal d[3] = {x, y, 1.4};
  const Ball     *hit  = NULL;
  PetscReal       t = farthest / d[2], shade = 1;
  int             k;

  for (k = 0; k < 3; k++) colour[k] = sky[k];
  if (d[1] < 0 && -1 / d[1] < t) { /* the floor */
    t = -1 / d[1];
    const PetscBool dark =
      (PetscBool)(((int)PetscFloorReal(2 * t * d[0]) + (int)PetscFloorReal(2 * t * d[2])) % 2 != 0);
    for (k = 0; k < 3; k++) colour[k] = dark ? 0.25 : 0.85;
  }
  for (k = 0; k < (int)(sizeof balls / sizeof balls[0]); k++) {
    const PetscReal s = Meet(&balls[k], d);
    if (s > 0 && s < t) {
      t   = s;
      hit = &balls[k];
    }
  }
  if (hit) {
    PetscReal normal[3];
    for (k = 0; k < 3; k++) normal[k] = (t * d[k] - hit->centre[k]) / hit->radius;
    shade = 0.3 + 0.7 * PetscMax(0, Dot(normal, light));
    for (k = 0; k < 3; k++) colour[k] = shade * hit->colour[k];
  }
  *depth = t * d[2];
}
