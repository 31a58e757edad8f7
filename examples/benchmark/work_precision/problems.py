# SPDX-License-Identifier: BSD-2-Clause
"""Measured problems, and methods as option lists. Needs only the standard library.

A curve belongs to one method. Its points have equal steps, halved from one point to the next, or
tolerances. Errors are largest differences from a reference on the same grid. One of PETSc's methods
computed it with small steps.
"""
# linear problems with equal steps: one Jacobian and one factorization serve all steps
ONCE = "-snes_type ksponly -snes_lag_jacobian -2 -snes_lag_jacobian_persists"
LINEAR = "-snes_type ksponly"
LU, ILU, MG = "-ksp_type preonly -pc_type lu", "-ksp_type gmres -ksp_rtol 1e-6 -pc_type ilu", "-ksp_type gmres -ksp_rtol 1e-6 -pc_type mg -pc_mg_galerkin -pc_mg_levels 4"
CN, BDF, ROSW = "-ts_type cn", "-ts_type bdf -ts_bdf_order 2", "-ts_type rosw -ts_rosw_type ra34pw2"
ARKIMEX = "-ts_type arkimex -ts_arkimex_type 3 -ts_arkimex_fully_implicit"


def adi(method, more=""):
    return f"-ts_type adi -ts_adi_type {method} {more}"


def equal(steps):
    return [("steps", n) for n in steps]


def tolerances(*values):
    return [("tolerance", t) for t in values]


def diffusion(title, boundary, size=129):
    """ts/tutorials ex15: u_t = u_xx + u_yy, boundary values as algebraic rows, a discontinuous initial
    state."""
    kept, start = "-ts_adi_lag_jacobian -1", "-ts_adi_rannacher 2"
    steps, adaptive = equal((8, 16, 32, 64, 128, 256)), tolerances(1e-3, 1e-4, 1e-5)
    return {
        "title": title,
        "program": "ts_ex15",
        "time": 0.05,
        "options": f"-da_grid_x {size} -da_grid_y {size} -boundary {boundary}",
        "reference": f"{ROSW} {ONCE} {LU} -ts_adapt_type none -ts_dt {0.05 / 256}",
        "first_step": 1e-5,
        "methods": {
            "adi hundsdorfer_verwer": (adi("hundsdorfer_verwer", kept), steps),
            "adi modified_craig_sneyd": (adi("modified_craig_sneyd", kept), steps),
            "adi douglas, Rannacher": (adi("douglas", f"{kept} {start}"), steps),
            "adi ra34pw2": (adi("ra34pw2", kept), steps[:5]),
            "cn, one LU": (f"{CN} {ONCE} {LU}", steps),
            "cn, GMRES + ILU": (f"{CN} {ONCE} {ILU}", steps),
            "rosw ra34pw2, one LU": (f"{ROSW} {ONCE} {LU}", steps[:3]),
            "rosw ra34pw2, GMRES + ILU": (f"{ROSW} {ONCE} {ILU}", steps[:3]),
            "bdf 2, LU": (f"{BDF} {LINEAR} {LU}", steps[:3]),
            "bdf 2, GMRES + ILU": (f"{BDF} {LINEAR} {ILU}", steps[:4]),
            "bdf 2, GMRES + MG": (f"{BDF} {LINEAR} {MG}", steps[:3]),
            "adi hundsdorfer_verwer, adaptive": (adi("hundsdorfer_verwer", kept), adaptive),
            "adi ra34pw2, adaptive": (adi("ra34pw2", kept), adaptive),
            "rosw ra34pw2, GMRES + ILU, adaptive": (f"{ROSW} {LINEAR} {ILU}", adaptive),
            "bdf 2, GMRES + ILU, adaptive": (f"{BDF} {LINEAR} {ILU}", adaptive),
        },
    }


def brusselator(size=64):
    """A stiff reaction-diffusion problem. `reaction explicit`: the reaction is an RHSFunction for IMEX
    methods."""
    steps, adaptive, imex = equal((16, 32, 64, 128, 256)), tolerances(1e-3, 1e-4, 1e-5), "-reaction explicit"
    kept = f"{imex} -ts_adi_lag_jacobian -1"
    return {
        "title": "Brusselator",
        "program": "brusselator",
        "time": 1.0,
        "options": f"-da_grid_x {size} -da_grid_y {size}",
        "reference": "-ts_type arkimex -ts_arkimex_type 5 -ts_arkimex_fully_implicit -pc_type ilu -ksp_rtol 1e-10 -snes_rtol 1e-9 -ts_adapt_type basic -ts_dt 1e-5 -ts_rtol 1e-8 -ts_atol 1e-8",
        "first_step": 1e-3,
        "methods": {
            "adi hundsdorfer_verwer, reaction explicit": (adi("hundsdorfer_verwer", kept), steps),
            "adi modified_craig_sneyd, reaction explicit": (adi("modified_craig_sneyd", kept), steps),
            "adi ra34pw2, reaction explicit": (adi("ra34pw2", kept), steps),
            "adi ra34pw2": (adi("ra34pw2"), steps),
            "arkimex 3, reaction explicit, one LU": (f"-ts_type arkimex -ts_arkimex_type 3 {imex} {ONCE} {LU}", steps[:4]),
            "arkimex 3, reaction explicit, GMRES + ILU": (f"-ts_type arkimex -ts_arkimex_type 3 {imex} {LINEAR} {ILU}", steps[:4]),
            "rosw ra34pw2, GMRES + ILU": (f"{ROSW} {ILU}", steps[:4]),
            "bdf 2, LU": (f"{BDF} {LU}", steps[:2]),
            "bdf 2, GMRES + ILU": (f"{BDF} {ILU}", steps[:4]),
            "bdf 2, GMRES + MG": (f"{BDF} {MG}", steps[:3]),
            "adi hundsdorfer_verwer, reaction explicit, adaptive": (adi("hundsdorfer_verwer", kept), adaptive),
            "adi ra34pw2, reaction explicit, adaptive": (adi("ra34pw2", kept), adaptive),
            "arkimex 3, reaction explicit, GMRES + ILU, adaptive": (f"-ts_type arkimex -ts_arkimex_type 3 {imex} {LINEAR} {ILU}", adaptive),
            "rosw ra34pw2, GMRES + ILU, adaptive": (f"{ROSW} {ILU}", adaptive),
        },
    }


def heston(m1, m2, petsc=True, reference=400):
    """examples/heston, which measures its errors and seconds itself."""
    lag, steps, few = "-ts_adi_lag_jacobian -1", equal((12, 25, 50, 100, 200, 400)), equal((6, 12, 25, 50, 100))
    methods = {
        "adi hundsdorfer_verwer": (adi("hundsdorfer_verwer", lag), steps),
        "adi modified_craig_sneyd": (adi("modified_craig_sneyd", lag), steps),
        "adi craig_sneyd, Rannacher": (adi("craig_sneyd", f"{lag} -ts_adi_rannacher 2"), steps),
        "adi ra34pw2": (adi("ra34pw2", lag), steps),
    }
    if petsc:
        methods |= {
            "cn, damped, one LU": (f"{CN} -damping 2 {ONCE} {LU}", steps),
            "rosw ra34pw2, one LU": (f"{ROSW} {ONCE} {LU}", few[:4]),
            "arkimex 3, one LU": (f"{ARKIMEX} {ONCE} {LU}", few[:4]),
            "bdf 2, LU": (f"{BDF} {LINEAR} {LU}", steps[:4] if m1 < 400 else steps[:2]),
            "cn, damped, GMRES + ILU": (f"{CN} -damping 2 {ONCE} {ILU}", steps[:5]),
        }
    return {"title": f"Heston, {m1} x {m2}", "program": "heston", "options": f"-m1 {m1} -m2 {m2} -reference_steps {reference}", "methods": methods}


def few(problem):
    """The methods that are affordable on larger grids."""
    costly = ("adaptive", "bdf 2, LU", "bdf 2, GMRES + MG")
    methods = {name: (options, points[:5]) for name, (options, points) in problem["methods"].items() if not any(word in name for word in costly)}
    return problem | {"methods": methods}


DEVICE = "-dm_mat_type aijcusparse -dm_vec_type cuda -use_gpu_aware_mpi 0"
SMOOTH = "-mg_levels_ksp_type chebyshev -mg_levels_pc_type jacobi"  # runs entirely on a device


def on_device(problem, methods, small):
    """Matrices and vectors on a GPU, without ILU and SOR. `small`: a grid whose first steps have the costs
    that do not depend on the grid."""
    found = {name: problem["methods"][name] for name in problem["methods"] if name in methods} | {name: m for name, m in methods.items() if m}
    return problem | {"title": problem["title"] + " on a GPU", "device": DEVICE, "small": small, "methods": found}


def diffusion_on_device(boundary, size=513):
    problem, steps, jacobi = diffusion(f"diffusion (ex15 -boundary {boundary})", boundary, size), equal((32, 64, 128, 256)), "-ksp_type gmres -ksp_rtol 1e-6 -pc_type jacobi"
    kept = dict.fromkeys(("adi hundsdorfer_verwer", "adi modified_craig_sneyd", "adi douglas, Rannacher", "adi ra34pw2", "cn, one LU"))
    more = {"cn, GMRES + Jacobi": (f"{CN} {ONCE} {jacobi}", steps), "rosw ra34pw2, GMRES + Jacobi": (f"{ROSW} {ONCE} {jacobi}", steps[:2]), "bdf 2, GMRES + Jacobi": (f"{BDF} {LINEAR} {jacobi}", steps[:3])}
    found = on_device(problem, kept | more, f"-da_grid_x 17 -da_grid_y 17 -boundary {boundary}")
    return found | {"methods": {name: (options, [p for p in points if p in steps]) for name, (options, points) in found["methods"].items()}}


def brusselator_on_device(size=256):
    imex, mg = "-ts_type arkimex -ts_arkimex_type 3 -reaction explicit", f"{MG} {SMOOTH}"
    problem = brusselator(size) | {"reference": f"{imex} {ONCE} {LU} -ts_adapt_type none -ts_dt {1 / 512}"}
    kept = dict.fromkeys(f"adi {method}, reaction explicit" for method in ("hundsdorfer_verwer", "modified_craig_sneyd", "ra34pw2"))
    more = {"arkimex 3, reaction explicit, GMRES + MG": (f"{imex} {ONCE} {mg}", equal((16, 32, 64))), "bdf 2, GMRES + MG": (f"{BDF} {mg}", equal((16, 32)))}
    return on_device(problem, kept | more, "-da_grid_x 16 -da_grid_y 16")


def heat_on_device(size=127):
    """examples/heat3d, whose function also runs on the device. It measures its errors and seconds itself."""
    steps, kept, cg = equal((10, 20, 40, 80, 160)), "-ts_adi_lag_jacobian -1", "-ksp_type cg -ksp_rtol 1e-8"
    return {
        "title": f"heat equation, {size}^3, on a GPU",
        "program": "heat3d",
        "options": f"-n {size} -ts_adapt_type none",
        "device": DEVICE,
        "noise": 1e-4,
        "methods": {
            "adi douglas": (adi("douglas", kept), steps),
            "adi hundsdorfer_verwer": (adi("hundsdorfer_verwer", kept), steps),
            "adi modified_craig_sneyd": (adi("modified_craig_sneyd", kept), steps),
            "adi ra34pw2": (adi("ra34pw2", kept), steps),
            "cn, CG + Jacobi": (f"{CN} {ONCE} {cg} -pc_type jacobi", steps),
            "cn, CG + GAMG": (f"{CN} {ONCE} {cg} -pc_type gamg {SMOOTH}", steps),
            "bdf 2, CG + Jacobi": (f"{BDF} {LINEAR} {cg} -pc_type jacobi", steps),
        },
    }


def problems():
    return {
        "dirichlet": diffusion("diffusion (ex15 -boundary 0)", 0),
        "neumann": diffusion("diffusion (ex15 -boundary 1)", 1),
        "brusselator": brusselator(),
        "dirichlet_257": few(diffusion("diffusion (ex15 -boundary 0)", 0, 257)),
        "neumann_257": few(diffusion("diffusion (ex15 -boundary 1)", 1, 257)),
        "brusselator_128": few(brusselator(128)),
        "gpu_dirichlet": diffusion_on_device(0),
        "gpu_neumann": diffusion_on_device(1),
        "gpu_brusselator": brusselator_on_device(),
        "gpu_heat": heat_on_device(),
        "heston_100": heston(100, 50),
        "heston_200": heston(200, 100),
        "heston_400": heston(400, 200, reference=100),
    } | {f"heston_case{case}": heston_case(case) for case in (1, 2, 3, 4)}


def heston_case(case):
    """The four published cases on the grid of the paper, only with methods of TS adi."""
    problem = heston(100, 50, petsc=False)
    return problem | {"title": f"case {case}", "surface": case == 1, "options": problem["options"] + f" -case {case}"}
