# SPDX-License-Identifier: BSD-2-Clause
"""The applications: programs, solvers as option lists, and tests of the answers. Needs only the standard
library.

A case has
  program, options    an executable of bin/, without any code for Ribbon, and its options
  steps               [(steps, options that ask for them)]; the first is one step
  counted             event whose count is the number of steps, if the program decides this number
  solver              events whose sum is the time to solution; they do not overlap
  error               regular expression of the error in the output of the program, or "reference": the
                      largest difference from the solution of a run with the options `reference`
  limit               largest error of a right answer; with `like`, in units of the error of that solver
  solvers             name -> options; Ribbon's solvers come first
  device              options that select the types of matrices and vectors on a device
"""
LINE, KSPLINE = "-ksp_type preonly -pc_type line", "-ksp_type line"
LU, ILU = "-ksp_type preonly -pc_type lu", "-ksp_type preonly -pc_type ilu"
MULTIFRONTAL = f"{LU} -pc_factor_mat_solver_type multifrontal"
MAT, DM = "-mat_type {mat} -vec_type {vec}", "-dm_mat_type {mat} -dm_vec_type {vec}"
TYPES = {"cuda": ("aijcusparse", "cuda"), "kokkos": ("aijkokkos", "kokkos")}


def columns(quick, shared):
    size = (200, 20) if quick else (10000, 80)
    case = {
        "title": f"columns: {size[0]} of {size[1]} levels, "
        + ("one shared matrix, new in every step" if shared else "each with its own coefficients, new in every step"),
        "program": "columns",
        "options": f"-columns {size[0]} -levels {size[1]}" + (" -shared" if shared else ""),
        "steps": [(k, f"-steps {k}") for k in (1, 4, 16)],
        "solver": ["PCSetUp", "KSPSolve"],
        "error": r"^error (\S+)",
        "limit": 1e-11,
        "device": MAT,
        "solvers": {
            "line": LINE,
            "KSP line": KSPLINE,
            "multifrontal": MULTIFRONTAL,
            "LU": LU,
            "ILU(0), exact here": ILU,
        },
    }
    if quick and not shared:
        case["solvers"]["none: a wrong answer"] = "-ksp_type preonly -pc_type none"
    return case


def levels(smoother, more=""):
    return f"-pc_type mg -mg_levels_pc_type {smoother} {more}".strip()


def newton(quick):
    refine = 2 if quick else 6
    richardson = "-mg_levels_ksp_type richardson"
    return {
        "title": f"Newton and multigrid: driven cavity, {3 * 2**refine + 1}^2 points of 4 unknowns (snes/ex19)",
        "program": "snes_ex19",
        "options": f"-da_refine {refine}",
        "steps": [(1, "-snes_max_it 1"), (0, "")],
        "counted": "KSPSolve",
        "solver": ["SNESSolve"],
        "error": "reference",
        "reference": f"{LU} -snes_rtol 1e-12",
        "limit": 1e-5,
        "device": DM,
        "solvers": {
            "levels line": levels("line"),
            "levels line, Richardson": levels("line", richardson),
            "levels SOR (PETSc's default)": levels("sor"),
            "levels Jacobi": levels("jacobi"),
            "levels ILU(0)": levels("ilu"),
            "LU": LU,
        },
    }


def stretched(quick):
    refine = 2 if quick else 4
    richardson, krylov = "-mg_levels_ksp_type richardson", "-ksp_type gmres -ksp_rtol 1e-8 "
    return {
        "title": f"multigrid: Poisson's equation in a cube, {4 * 2**refine + 1}^3 points, stretched in z by tanh(3)",
        "program": "smoothers",
        "options": "-dim 3 -problem stretched -stretch 0,0,3 -da_grid_x 5 -da_grid_y 5 -da_grid_z 5"
        f" -da_refine {refine}",
        "steps": [(k, f"-repeats {k - 1}") for k in (1, 2, 4)],
        "solver": ["PCSetUp", "KSPSolve"],
        "error": r"^true_residual (\S+)",
        "limit": 1e-6,
        "device": DM,
        "solvers": {
            "levels line": krylov + levels("line"),
            "levels line, Richardson": krylov + levels("line", richardson),
            "levels SOR (PETSc's default)": krylov + levels("sor"),
            "levels SOR, Richardson": krylov + levels("sor", richardson),
            "levels Jacobi": krylov + levels("jacobi"),
            "levels ILU(0)": krylov + levels("ilu"),
            "GAMG": krylov + "-pc_type gamg",
            "ILU(0)": krylov + "-pc_type ilu",
        },
    }


def heat(quick):
    n, step = (15, 0.0025) if quick else (127, 0.00125)
    linear, cg = "-snes_type ksponly -snes_lag_jacobian -2 -snes_lag_jacobian_persists", "-ksp_type cg -ksp_rtol 1e-8"
    adi = "-ts_type adi -ts_adi_lag_jacobian -1 -ts_adi_type"
    return {
        "title": f"heat equation in a cube, {n}^3 points, equal steps",
        "program": "heat3d",
        "options": f"-n {n} -ts_adapt_type none",
        "steps": [(k, f"-steps {k} -final_time {k * step}") for k in (1, 4, 10)],
        "solver": ["TSStep"],
        "error": r"^ *\d+ +\d+ +\S+ +(\S+)",
        "limit": 5e-2,
        "device": DM,
        "solvers": {
            "TS adi, Douglas": f"{adi} douglas",
            "TS adi, Hundsdorfer and Verwer": f"{adi} hundsdorfer_verwer",
            "Crank-Nicolson, CG, ILU(0)": f"-ts_type cn {linear} {cg} -pc_type ilu",
            "Crank-Nicolson, CG, Jacobi": f"-ts_type cn {linear} {cg} -pc_type jacobi",
            "Crank-Nicolson, CG, GAMG": f"-ts_type cn {linear} {cg} -pc_type gamg",
            "backward Euler, CG, ILU(0)": f"-ts_type beuler {linear} {cg} -pc_type ilu",
        },
    }


def hyperdiffusion(quick, batch):
    size = (64, 64) if quick else (4096, 256)
    return {
        "title": f"hyperdiffusion: {size[0]} lines of {size[1]} points, one matrix for all steps, {batch}",
        "program": "hyperdiffusion",
        "options": f"-lines {size[0]} -points {size[1]} -batch {batch}",
        "steps": [(k, f"-steps {k} -final_time {k}e-6") for k in (1, 5, 20)],
        "solver": ["PCSetUp", "KSPSolve"],
        "error": r"^as given +\S+ +\S+ +\S+ +(\S+)",
        "limit": 1.01,
        "like": "LU",
        "device": "-mat_type {mat}",
        "solvers": {
            "line": LINE,
            "KSP line": KSPLINE,
            "multifrontal": MULTIFRONTAL,
            "LU": LU,
            "GMRES, ILU(0)": "-ksp_type gmres -ksp_rtol 1e-12 -pc_type ilu",
        },
    }


def cases(quick=False):
    """name -> case, in the order of the table."""
    return {
        "columns": columns(quick, shared=False),
        "columns_shared": columns(quick, shared=True),
        "newton": newton(quick),
        "stretched": stretched(quick),
        "heat3d": heat(quick),
        "hyperdiffusion_contiguous": hyperdiffusion(quick, "contiguous"),
        "hyperdiffusion_interleaved": hyperdiffusion(quick, "interleaved"),
    }
