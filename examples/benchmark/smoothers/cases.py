# SPDX-License-Identifier: BSD-2-Clause
"""Measured cases: problems, smoothers and preconditioners, as option lists of the program `smoothers`.

A table has one problem and one kind of solver. Its columns are values of a parameter, its rows are solvers.
Every cell is one run. Needs only the standard library.
"""
import math

MULTIGRID = ["-ksp_type", "gmres", "-ksp_pc_side", "right", "-ksp_rtol", "1e-8", "-ksp_max_it", "200", "-pc_type", "mg"]
CG = ["-ksp_type", "cg", "-ksp_norm_type", "unpreconditioned", "-ksp_rtol", "1e-8", "-ksp_max_it", "5000"]
GMRES = ["-ksp_type", "gmres", "-ksp_pc_side", "right", "-ksp_rtol", "1e-8", "-ksp_max_it", "5000"]
RICHARDSON = ["-mg_levels_ksp_type", "richardson"]
CHEBYSHEV = ["-mg_levels_ksp_type", "chebyshev"]


def options(prefix, **values):
    """["-PREFIXNAME", "VALUE", ...]. An underscore at the end of a name avoids keywords of Python."""
    return [word for name, value in values.items() for word in (f"-{prefix}{name.rstrip('_')}", str(value))]


def lines(prefix, **values):
    return options(prefix, pc_type="line", **{f"pc_line_{name}": value for name, value in values.items()})


def smoothers(dim, convection=False):
    """Rows of multigrid tables: name -> options of the levels. `line` means PC line with its default options.

    Chebyshev needs real spectra. With convection the other smoothers use Richardson's iteration, Jacobi with
    damping 2/3.
    """
    p, every = "mg_levels_", "x,y,z" if dim == 3 else "x,y"
    if convection:
        others, name = RICHARDSON, "Richardson"
        rows = {"Richardson 2/3, jacobi": others + options(p, ksp_richardson_scale="0.6666667", pc_type="jacobi")}
    else:
        others, name = CHEBYSHEV, "Chebyshev"
        rows = {"Chebyshev, jacobi": others + options(p, pc_type="jacobi")}
    rows[f"{name}, sor"] = others + options(p, pc_type="sor")
    rows[f"{name}, ilu(0)"] = others + options(p, pc_type="ilu")
    rows[f"{name}, bjacobi of 4, ilu(0)"] = others + options(p, pc_type="bjacobi", pc_bjacobi_blocks=4)
    rows["Chebyshev, line"] = CHEBYSHEV + lines(p)
    rows["Richardson, line"] = RICHARDSON + lines(p)
    rows["Richardson, line x, zebra"] = RICHARDSON + lines(p, direction="x", ordering="zebra", composition="multiplicative")
    rows[f"Richardson, line {every}, zebra"] = RICHARDSON + lines(p, direction=every, ordering="zebra", composition="multiplicative")
    return rows


def point_smoothers():
    """Rows of the tables of PC multicolor, next to PETSc's point smoothers and to lines."""
    p, color = "mg_levels_", options("mg_levels_", pc_type="multicolor")
    return {
        "Chebyshev, jacobi": CHEBYSHEV + options(p, pc_type="jacobi"),
        "Chebyshev, sor": CHEBYSHEV + options(p, pc_type="sor"),
        "Chebyshev, ilu(0)": CHEBYSHEV + options(p, pc_type="ilu"),
        "Chebyshev, multicolor": CHEBYSHEV + color,
        "Richardson, multicolor forward": RICHARDSON + color + ["-mg_levels_pc_multicolor_forward"],
        "Richardson, multicolor symmetric": RICHARDSON + color + ["-mg_levels_pc_multicolor_symmetric"],
        "Chebyshev, line": CHEBYSHEV + lines(p),
        "Richardson, line": RICHARDSON + lines(p),
    }


def preconditioners(convection=False):
    """Rows of the tables without multigrid. CG needs symmetric preconditioners. SOR sweeps both ways by
    default, and ILU(0) of a symmetric matrix is symmetric."""
    rows = {
        "jacobi": options("", pc_type="jacobi"),
        "sor": options("", pc_type="sor"),
        "ilu(0)": options("", pc_type="ilu"),
        "bjacobi of 4, ilu(0)": options("", pc_type="bjacobi", pc_bjacobi_blocks=4),
        "line": lines(""),
    }
    if convection:
        rows["line x,y"] = lines("", direction="x,y", composition="multiplicative")
        rows["line x,y, zebra"] = lines("", direction="x,y", ordering="zebra", composition="multiplicative")
    else:
        rows["line x,y, symmetric"] = lines("", direction="x,y", composition="symmetric")
        rows["line x,y, symmetric, zebra"] = lines("", direction="x,y", composition="symmetric", ordering="zebra")
    return rows


def level_solvers():
    """Rows of the table of iterations on the levels, with PC line by default and with other PCs. The outer
    iteration is FGMRES, because GMRES on a level is not linear."""
    p, narrow = "mg_levels_", CHEBYSHEV + ["-mg_levels_ksp_chebyshev_esteig", "0,0.3,0,1.05"]
    return {
        "Chebyshev, line": CHEBYSHEV + lines(p),
        "Chebyshev 0.3 to 1.05, line": narrow + lines(p),
        "Richardson, line": RICHARDSON + lines(p),
        "GMRES, line": options(p, ksp_type="gmres") + lines(p),
        "Richardson, line, omega 1": RICHARDSON + lines(p, omega=1),
        "Richardson, line x,y": RICHARDSON + lines(p, direction="x,y"),
        "Chebyshev 0.3 to 1.05, jacobi": narrow + options(p, pc_type="jacobi"),
        "Chebyshev 0.3 to 1.05, sor": narrow + options(p, pc_type="sor"),
    }


def nothing_said():
    """Rows of the tables of defaults: PETSc's smoother and `line`, only with the options of the iteration."""
    p = "mg_levels_"
    return {
        "Chebyshev, sor": CHEBYSHEV + options(p, pc_type="sor"),
        "Chebyshev, line": CHEBYSHEV + lines(p),
        "Richardson, sor": RICHARDSON + options(p, pc_type="sor"),
        "Richardson, line": RICHARDSON + lines(p),
    }


def problems(dim):
    """Columns of these tables: isotropic, stretched in one direction or more, rotated. There are twelve of
    each dimension."""
    anisotropic = {"isotropic": 1, "anisotropic 10": 10, "anisotropic 10^4": 10**4} if dim == 2 else {"isotropic": 1, "anisotropic 10^-2": 0.01, "anisotropic 100": 100}
    stretches = ["3,3", "0,5", "-5,-5"] if dim == 2 else ["0,0,3", "0,0,5", "0,0,-5", "2,3,3", "-5,-5,-5"]
    rotations = [(10, 30), (10**3, 5), (10**3, 30), (10**3, 45)] if dim == 2 else [(10**3, 30), (100, 45)]
    found = {name: options("", problem="anisotropic", ratio=ratio) for name, ratio in anisotropic.items()}
    found.update({f"layer {power(ratio)}": options("", problem="layer", ratio=ratio) for ratio in (10, 10**3)})
    found.update({f"stretched {s}": options("", problem="stretched", stretch=s) for s in stretches})
    found.update({f"rotated {power(ratio)} at {angle}°": options("", problem="rotated", ratio=ratio, angle=angle) for ratio, angle in rotations})
    return found


def power(value):
    """10000 -> 10^4, 0.0001 -> 10^-4, 100 -> 100."""
    return str(value) if 1 <= value < 1000 else f"10^{round(math.log10(value))}"


def columns(problem, parameter, values, **fixed):
    """label -> options of the problem."""
    shown = {"ratio": lambda v: power(v), "angle": lambda v: f"{v}°", "peclet": lambda v: power(v)}[parameter]
    return {shown(v): options("", problem=problem, **fixed, **{parameter: v}) for v in values}


def tables(quick=False):
    """[{id, title, dim, solver, columns, rows}], in the order of the page. `quick`: two columns and few
    rows of the first table."""
    all_ratios = [10**k for k in range(7)]
    mg2, mg3, flow = smoothers(2), smoothers(3), smoothers(2, convection=True)
    if quick:
        rows = {name: mg2[name] for name in ("Chebyshev, jacobi", "Chebyshev, sor", "Chebyshev, line", "Richardson, line", "Richardson, line x,y, zebra")}
        few = {2: ("isotropic", "layer 10", "stretched 3,3", "rotated 10 at 30°"), 3: ("isotropic", "layer 10", "stretched 0,0,-5")}
        return [dict(id="anisotropic", title="quick", dim=2, solver=MULTIGRID, columns=columns("anisotropic", "ratio", [1, 10**4]), rows=rows)] + [
            dict(id=f"defaults_{dim}d", title="quick", dim=dim, solver=MULTIGRID, columns={name: problems(dim)[name] for name in few[dim]}, rows=nothing_said()) for dim in (2, 3)]
    galerkin = MULTIGRID + ["-pc_mg_galerkin", "both"]
    products = {name: mg2[name] for name in ("Chebyshev, jacobi", "Chebyshev, sor", "Chebyshev, line", "Richardson, line", "Richardson, line x,y, zebra")}
    hard = {
        "anisotropic 10^4": options("", problem="anisotropic", ratio=10**4),
        "layer 10^3": options("", problem="layer", ratio=10**3),
        "rotated 10^3 at 0°": options("", problem="rotated", ratio=10**3, angle=0),
        "rotated 10^3 at 30°": options("", problem="rotated", ratio=10**3, angle=30),
    }
    mixed = {
        "isotropic": options("", problem="anisotropic", ratio=1),
        "anisotropic 100": options("", problem="anisotropic", ratio=100),
        "anisotropic 10^4": hard["anisotropic 10^4"],
        "layer 10": options("", problem="layer", ratio=10),
        "layer 10^3": hard["layer 10^3"],
        "rotated 10^3 at 30°": hard["rotated 10^3 at 30°"],
        "convection 100 at 30°": options("", problem="convection", peclet=100, angle=30),
        "convection 10^4 at 30°": options("", problem="convection", peclet=10**4, angle=30),
    }
    moderate = columns("anisotropic", "ratio", [1, 2, 4, 10, 100])
    return [
        dict(id="anisotropic", title="Anisotropic, by ratio", dim=2, solver=MULTIGRID, columns=columns("anisotropic", "ratio", all_ratios), rows=mg2),
        dict(id="layer", title="Boundary layer, by ratio of spacings", dim=2, solver=MULTIGRID, columns=columns("layer", "ratio", all_ratios[:5]), rows=mg2),
        dict(id="rotated", title="Rotated, ratio 10^3, by angle", dim=2, solver=MULTIGRID, columns=columns("rotated", "angle", [0, 5, 15, 30, 45, 90], ratio=10**3), rows=mg2),
        dict(id="convection_0", title="Convection along x, by Peclet number", dim=2, solver=MULTIGRID, columns=columns("convection", "peclet", [1, 100, 10**4, 10**6], angle=0), rows=flow),
        dict(id="convection_30", title="Convection at 30°, by Peclet number", dim=2, solver=MULTIGRID, columns=columns("convection", "peclet", [1, 100, 10**4, 10**6], angle=30), rows=flow),
        dict(id="anisotropic_3d", title="Anisotropic, three dimensions, by ratio", dim=3, solver=MULTIGRID, columns=columns("anisotropic", "ratio", [1e-4, 0.01, 1, 100, 10**4, 10**6]), rows=mg3),
        dict(id="layer_3d", title="Boundary layer, three dimensions, by ratio of spacings", dim=3, solver=MULTIGRID, columns=columns("layer", "ratio", [1, 10, 100, 10**3]), rows=mg3),
        dict(id="galerkin", title="Coarse operators as Galerkin products", dim=2, solver=galerkin, columns=hard, rows=products),
        dict(id="levels", title="What iterates on the levels", dim=2, solver=["fgmres" if word == "gmres" else word for word in MULTIGRID], columns=mixed, rows=level_solvers()),
        dict(id="defaults_2d", title="Default options, two dimensions", dim=2, solver=MULTIGRID, columns=problems(2), rows=nothing_said()),
        dict(id="defaults_3d", title="Default options, three dimensions", dim=3, solver=MULTIGRID, columns=problems(3), rows=nothing_said()),
        dict(id="cg", title="Without multigrid: CG", dim=2, solver=CG, columns=dict(list(columns("anisotropic", "ratio", [1, 100, 10**4, 10**6]).items()) + [("layer 10^3", hard["layer 10^3"])]),
             rows=preconditioners()),
        dict(id="gmres", title="Without multigrid: GMRES(30), convection at 30°, by Peclet number", dim=2, solver=GMRES, columns=columns("convection", "peclet", [1, 100, 10**4, 10**6], angle=30),
             rows=preconditioners(convection=True)),
        dict(id="points_2d", title="Points and lines in 2D, by ratio", dim=2, solver=MULTIGRID, columns=moderate, rows=point_smoothers()),
        dict(id="points_3d", title="Points and lines in 3D, by ratio", dim=3, solver=MULTIGRID, columns=moderate, rows=point_smoothers()),
    ]
