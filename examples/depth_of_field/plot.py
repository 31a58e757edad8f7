# SPDX-License-Identifier: BSD-2-Clause
"""Shows PPM files next to each other.

   plot.py PICTURE.png FILE.ppm...
"""
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np


def read(name):
    """The pixels of a binary PPM file: rows x columns x 3 bytes."""
    with open(name, "rb") as file:
        magic, size, most = file.readline().split(), file.readline().split(), file.readline()
        assert magic == [b"P6"] and int(most) == 255, name
        width, height = map(int, size)
        return np.frombuffer(file.read(), dtype=np.uint8).reshape(height, width, 3)


def main(picture, names):
    figure, axes = plt.subplots(1, len(names), figsize=(6.5 * len(names), 4), constrained_layout=True, squeeze=False)
    for axis, name in zip(axes[0], names):
        axis.imshow(read(name))
        axis.axis("off")
    figure.savefig(picture, dpi=100)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
