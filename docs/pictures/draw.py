#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes the diagrams of the documents next to this script, as SVG.

    draw.py            writes all files
    draw.py --check    fails if a file differs from the picture that this script draws
"""
import sys
from html import escape
from pathlib import Path

WIDTH = 760  # of every picture: a column of text
# Text in boxes is dark on a light fill. Lines and text outside of boxes are a grey that light and dark pages both show.
GREY, INK = "#76808d", "#1b2530"
FILLS = {  # fill and border
    "blue": ("#d3e4f5", "#4f86bd"),
    "orange": ("#ffdca8", "#cc7f1e"),
    "green": ("#d2ead0", "#55995a"),
    "grey": ("#e7eaee", "#8b95a1"),
}
SANS = "system-ui, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif"
MONO = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"


class Picture:
    def __init__(self, title, height):
        self.height = height
        self.elements = [f"<title>{escape(title)}</title>"]

    def add(self, name, text=None, **attributes):
        pairs = " ".join(f'{key.replace("_", "-")}="{escape(str(value))}"' for key, value in attributes.items())
        self.elements.append(f"<{name} {pairs}/>" if text is None else f"<{name} {pairs}>{escape(text)}</{name}>")

    def text(self, x, y, text, anchor="start", size=14, bold=False, mono=False, colour=GREY):
        """One line of text; y is its middle."""
        attributes = {"font_weight": 600} if bold else {}
        self.add("text", text, x=x, y=y + round(0.35 * size), font_size=size, text_anchor=anchor, fill=colour,
                 font_family=MONO if mono else SANS, **attributes)

    def label(self, x, y, text, anchor="middle"):
        """Text outside of boxes."""
        self.text(x, y, text, anchor=anchor, bold=True)

    def box(self, x, y, width, height, fill, lines=(), anchor="middle", round_by=6):
        """A box with lines of text. A line that begins with # is bold; one that begins with - is an option or a name."""
        colours = FILLS[fill]
        self.add("rect", x=x, y=y, width=width, height=height, rx=round_by, fill=colours[0], stroke=colours[1], stroke_width=1.5)
        step = 19
        top = y + height / 2 - step * (len(lines) - 1) / 2
        at = x + width / 2 if anchor == "middle" else x + 12
        for k, line in enumerate(lines):
            mono = line.startswith("-")
            self.text(at, top + k * step, line.lstrip("#"), anchor=anchor, colour=INK, bold=line.startswith("#"), mono=mono,
                      size=13 if mono else 14)

    def cells(self, x, y, fills, size=18, height=22):
        """Neighbouring unknowns of a line."""
        for k, fill in enumerate(fills):
            colours = FILLS[fill]
            self.add("rect", x=x + k * size, y=y, width=size, height=height, fill=colours[0], stroke=colours[1], stroke_width=1.2)

    def arrow(self, *points, width=2):
        """A line through points, with a head at the last one."""
        (x0, y0), (x, y) = points[-2], points[-1]
        length = ((x - x0) ** 2 + (y - y0) ** 2) ** 0.5
        dx, dy = (x - x0) / length, (y - y0) / length
        end = (x - 7 * dx, y - 7 * dy)
        self.path(*points[:-1], end, width=width)
        corners = [(x, y), (x - 10 * dx - 5 * dy, y - 10 * dy + 5 * dx), (x - 10 * dx + 5 * dy, y - 10 * dy - 5 * dx)]
        self.add("polygon", points=" ".join(f"{round(a, 1):g},{round(b, 1):g}" for a, b in corners), fill=GREY)

    def path(self, *points, width=2, dashed=False):
        attributes = {"stroke_dasharray": "6 5"} if dashed else {}
        self.add("polyline", points=" ".join(f"{round(a, 1):g},{round(b, 1):g}" for a, b in points), fill="none", stroke=GREY,
                 stroke_width=width, **attributes)

    def svg(self):
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" width="{WIDTH}" height="{self.height}" role="img">'
        return "\n".join(["<!-- Written by docs/pictures/draw.py. -->", head, *self.elements, "</svg>", ""])


def decision_tree():
    """Questions from the top down; the first yes decides."""
    rows = [
        (["#One long band,", "#or a ring?"],
         ["#Direct solver of long bands", "-pc_type lu", "-pc_factor_mat_solver_type multifrontal"]),
        (["#A batch of", "#independent lines?"],
         ["#Direct solve, each line refined to the tolerance", "-ksp_type line", "or once, without residuals", "-ksp_type preonly -pc_type line"]),
        (["#Time steps on", "#a structured grid?"],
         ["#Alternating directions", "-ts_type adi", "or inside PETSc's W-methods (IFunction)",
          "-ts_type rosw -ts_rosw_type ra34pw2", "-ksp_type preonly -pc_type adi"]),
        (["#Separable elliptic problem", "#on a structured grid?"],
         ["#Alternating directions with optimal shifts", "-ksp_type adi"]),
        (["#A smoother", "#for multigrid?"],
         ["#Line smoother on the levels", "-mg_levels_pc_type line", "or, where couplings differ up to 4 times",
          "-mg_levels_pc_type multicolor", "both with", "-mg_levels_ksp_type richardson"]),
        (["#Strong couplings", "#along lines?"],
         ["#Preconditioner of a Krylov method", "-pc_type line", "in several directions", "-pc_type line -pc_line_direction x,y"]),
    ]
    heights = [19 * max(len(answer), 2) + 20 for _, answer in rows]
    gap, x, width = 26, 330, 415
    picture = Picture("Which options solve the problem", sum(heights) + gap * len(rows) + 44)
    y = 4
    below = [54] * (len(rows) - 1) + [36]  # height of the next box on the left
    for k, ((question, answer), height) in enumerate(zip(rows, heights)):
        middle = y + height / 2
        picture.box(10, middle - 27, 250, 54, "blue", question, round_by=27)
        picture.box(x, y, width, height, "green", answer, anchor="start")
        picture.arrow((260, middle), (x, middle))
        picture.label(291, middle - 12, "yes")
        next_height = heights[k + 1] if k + 1 < len(rows) else 36
        end = y + height + gap + (next_height - below[k]) / 2
        picture.arrow((135, middle + 27), (135, end))
        picture.label(145, (middle + 27 + end) / 2 - 2, "no", anchor="start")
        y += height + gap
    picture.box(10, y, 250, 36, "grey", ["PETSc's other solvers"], round_by=18)
    return picture


def layers():
    picture = Picture("Layers of Ribbon: each one uses the ones below it", 516)
    x, width = 190, 430
    rows = [  # top, height, fill, text
        (10, 84, "orange", ["#plugin", "registers the types when PETSc loads libribbon.so;", "checks that PETSc is the one of the build"]),
        (134, 122, "blue", ["#petsc_interface", "PC line, KSP line, PC multicolor; PC, KSP and TS adi;", "Mat compact, MatSolverType multifrontal",
                            "holds options, reads matrices, exchanges between ranks;", "uses PETSc and MPI"]),
        (296, 103, "green", ["#kokkos_kernels", "LineSolver, LineOperator, ChainSolver, coloured sweeps",
                             "holds factors, chooses the algorithm, checks accuracy;", "uses neither PETSc nor MPI"]),
        (439, 66, "grey", ["#Kokkos", "runs the kernels on CPU cores or on a CUDA device"]),
    ]
    for top, height, fill, lines in rows:
        picture.box(x, top, width, height, fill, lines)
    picture.arrow((405, 94), (405, 134))
    picture.label(417, 113, "type names: line, adi, multifrontal", anchor="start")
    picture.arrow((320, 256), (320, 296))
    picture.label(310, 275, "lines, bands", anchor="end")
    picture.arrow((490, 296), (490, 256))
    picture.label(500, 275, "report on the factors", anchor="start")
    picture.arrow((405, 399), (405, 439))
    picture.label(417, 418, "kernels on an execution space", anchor="start")

    picture.box(10, 10, 112, 84, "grey", ["#Program", "with PETSc"])
    picture.arrow((122, 36), (190, 36))
    picture.text(154, 23, "option", anchor="middle", size=13, bold=True)
    picture.text(154, 51, "flags", anchor="middle", size=13, bold=True)
    picture.path((66, 94), (66, 195), dashed=True)
    picture.arrow((66, 195), (190, 195))
    picture.label(76, 165, "functions,", anchor="start")
    picture.label(76, 182, "if linked", anchor="start")
    picture.box(656, 296, 94, 103, "grey", ["#Program", "without", "PETSc"])
    picture.arrow((656, 347), (620, 347))
    return picture


def two_sweeps():
    """One line of 4 chunks; K = 2 separators end each."""
    picture = Picture("One line, two sweeps", 408)
    left, size, chunk, chunks = 130, 18, 8, 4
    span = chunk * size + 10
    fills = ["blue"] * 6 + ["orange"] * 2
    starts = [left + k * span for k in range(chunks)]
    centres = [start + chunk * size / 2 for start in starts]
    for k, start in enumerate(starts):
        picture.label(centres[k], 16, f"chunk {k}")
        picture.cells(start, 30, fills)
        picture.arrow((start + 2, 84), (start + 6 * size, 84), width=3)
        picture.arrow((start + 7 * size, 96), (start + 7 * size, 150))
        picture.arrow((start + 7 * size, 226), (start + 7 * size, 274))
        picture.arrow((start + 6 * size, 290), (start + 2, 290), width=3)
        picture.cells(start, 322, ["green"] * chunk)
    picture.label(10, 41, "load f", anchor="start")
    picture.label(10, 75, "1. forward", anchor="start")
    picture.label(10, 93, "sweep", anchor="start")
    picture.label(10, 179, "2. reduced", anchor="start")
    picture.label(10, 197, "system", anchor="start")
    picture.label(10, 281, "3. backward", anchor="start")
    picture.label(10, 299, "sweep", anchor="start")
    picture.label(10, 333, "store x", anchor="start")
    for k, start in enumerate(starts):
        picture.label(start + 3 * size, 108, "eliminate")
        picture.label(start + 3 * size, 258, "substitute")
    picture.box(left, 150, starts[-1] + chunk * size - left, 76, "orange",
                ["#R z = r", "R couples the separators of neighbouring chunks"])
    picture.cells(left, 372, ["blue"])
    picture.label(left + 26, 383, "interior row", anchor="start")
    picture.cells(left + 150, 372, ["orange"])
    picture.label(left + 176, 383, "separator: the last K rows of a chunk", anchor="start")
    return picture


def multifrontal_tree():
    picture = Picture("Tree of the multifrontal solver: leaves and joins", 440)
    size, cells = 14, 37  # cuts of W = 2 unknowns
    first = 118
    picture.label(10, 341, "chain of", anchor="start")
    picture.label(10, 359, "unknowns", anchor="start")
    fills = ["orange" if k in (8, 9, 17, 18, 27, 28) else "blue" for k in range(cells)]
    picture.cells(first, 339, fills, size=size)
    for k, name in zip((9, 18, 28), ("cut c1", "cut c2", "cut c3")):
        picture.label(first + k * size, 376, name)
    spans = [(0, 8), (10, 17), (19, 27), (29, 37)]
    picture.label(10, 262, "leaves", anchor="start")
    boxes = []
    for k, (begin, end) in enumerate(spans):
        x, right = first + begin * size - 4, first + end * size + 4
        boxes.append((x, right))
        picture.box(x, 229, right - x, 66, "blue", [f"#leaf {k}", "removes", "its interior"])
        picture.arrow(((x + right) / 2, 339), ((x + right) / 2, 295))
    # joins
    picture.label(10, 166, "joins", anchor="start")
    below, root = [first + cut * size for cut in (9, 28)], first + 18 * size
    for middle, name, pair in zip(below, ("c1", "c3"), ((0, 1), (2, 3))):
        picture.box(middle - 75, 139, 150, 54, "orange", [f"#join at {name}", f"removes {name}"])
        for leaf, side in zip(pair, (-1, 1)):
            x = sum(boxes[leaf]) / 2
            picture.arrow((x, 229), (middle + side * 40, 193))
    picture.label(10, 60, "root", anchor="start")
    picture.box(root - 75, 33, 150, 54, "orange", ["#join at c2", "removes c2"])
    picture.arrow((below[0], 139), (root - 75 + 20, 87))
    picture.arrow((below[1], 139), (root + 75 - 20, 87))
    # directions
    picture.arrow((90, 322), (90, 30), width=3)
    picture.label(102, 16, "up: factorization; right-hand sides", anchor="start")
    picture.arrow((708, 30), (708, 322), width=3)
    picture.label(740, 16, "down: solution", anchor="end")
    picture.label(first, 404, "A cut holds the W = kl + ku unknowns that rows on both sides have.", anchor="start")
    picture.label(first, 424, "A node passes W equations up.", anchor="start")
    return picture


def distributed_lines():
    picture = Picture("Lines that span ranks", 420)
    left, size, cells, panel = 116, 17, 11, 208
    starts = [left + k * (panel + 6) for k in range(3)]
    for start in starts:
        picture.box(start, 28, panel, 152, "grey")
    for rank, start in enumerate(starts):
        picture.label(start + panel / 2, 14, f"rank {rank}")
        separators = 0 if rank == 2 else 2
        for line in range(3):
            y = 44 + line * 44
            if line == 2:
                y += 18
            x = start + (panel - cells * size) / 2
            picture.cells(x, y, ["blue"] * (cells - separators) + ["orange"] * separators, size=size)
            if rank < 2:
                picture.path((x + cells * size, y + 11), (starts[rank + 1] + (panel - cells * size) / 2, y + 11), width=3)
        picture.text(start + panel / 2, 127, "...", anchor="middle", colour=INK, bold=True)
    picture.label(10, 55, "line 0", anchor="start")
    picture.label(10, 99, "line 1", anchor="start")
    picture.label(10, 161, "line L - 1", anchor="start")

    picture.label(10, 215, "1. forward", anchor="start")
    picture.label(10, 287, "2. exchange", anchor="start")
    picture.label(10, 359, "3. backward", anchor="start")
    for start in starts:
        middle = start + panel / 2
        picture.arrow((middle, 180), (middle, 196), width=1.5)
        picture.box(start, 196, panel, 38, "blue", ["solve the interiors"])
        picture.arrow((middle, 234), (middle, 262))
        picture.arrow((middle, 312), (middle, 340))
        picture.box(start, 340, panel, 38, "green", ["correct the interiors"])
    picture.box(left, 262, starts[-1] + panel - left, 50, "orange",
                ["#reduced system of the separators", "R z = r: one row of blocks for each pair of neighbouring ranks, for every line"])
    picture.cells(left, 392, ["blue"], size=size)
    picture.label(left + 26, 403, "interior", anchor="start")
    picture.cells(left + 110, 392, ["orange"], size=size)
    picture.label(left + 136, 403, "separators: the last K rows, except on the last rank", anchor="start")
    return picture


PICTURES = [decision_tree, layers, two_sweeps, multifrontal_tree, distributed_lines]


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    wrong = []
    for draw in PICTURES:
        path = Path(__file__).with_name(draw.__name__ + ".svg")
        svg = draw().svg()
        if not sys.argv[1:]:
            path.write_text(svg, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != svg:
            wrong.append(path.name)
    if wrong:
        sys.exit(f"draw.py draws other pictures than {', '.join(wrong)}: run docs/pictures/draw.py and commit the files.")


main()
