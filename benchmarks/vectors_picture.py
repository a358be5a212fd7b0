"""Draw how columns are found: three probes, the space of their answers, coordinates inside or outside of it.

PYTHONPATH=src python benchmarks/vectors_picture.py [--out docs/images/vectors.png]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl
import numpy as np

from gracezo.core.types import FloatArray
from gracezo.sparse.weights import Weights

mpl.use("Agg")
import matplotlib.pyplot as plt

D, ACTIVE, OUTPUTS, PROBES = 400, (37, 215), 6, 3


def shares(seed: int = 4) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the weights (3 × D), the normal of the space of the answers, and the shares outside of it."""
    random = np.random.default_rng(seed)
    weights = Weights(D, seed).rows(np.arange(PROBES), 0, D)
    jacobian = random.normal(size=(OUTPUTS, len(ACTIVE)))
    answers = jacobian @ weights[:, ACTIVE].T  # what the three probes answer: 6 × 3, of rank 2
    normal = np.linalg.svd(answers)[2][-1]
    return weights, normal, (normal @ weights) ** 2 / (weights**2).sum(axis=0)


def main() -> None:
    """Draw it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/images/vectors.png"))
    words = parser.parse_args()
    weights, normal, share = shares()
    figure = plt.figure(figsize=(11, 4.4), layout="constrained")
    left = figure.add_subplot(1, 2, 1, projection="3d")
    active = np.array(ACTIVE)
    others = np.setdiff1d(np.arange(D), active)
    left.scatter(*weights[:, others], s=6, color="0.6", alpha=0.5, depthshade=False, label="400 coordinates")
    left.scatter(*weights[:, active], s=70, color="C3", depthshade=False, label="the two that matter")
    basis = np.linalg.svd(normal[None])[2][1:]
    for a, b in ((1.9, 1.9),):
        corners = np.array([[-a, -b], [a, -b], [a, b], [-a, b]]) @ basis
        left.plot_trisurf(*corners.T, triangles=[[0, 1, 2], [0, 2, 3]], color="C0", alpha=0.25, linewidth=0)
    left.set(xlabel="weight in probe 1", ylabel="probe 2", zlabel="probe 3")
    left.set_title(
        "each coordinate is a point: its weights in three probes\nblue: the row space of the answers"
    )
    left.view_init(elev=18, azim=-60)
    left.legend(loc="upper left", fontsize=8)
    right = figure.add_subplot(1, 2, 2)
    right.semilogy(others, np.maximum(share[others], 1e-18), ".", color="0.6", markersize=4)
    right.semilogy(active, np.maximum(share[active], 1e-18), "o", color="C3", markersize=8)
    for one in ACTIVE:
        right.annotate(str(one), (one, 3e-18), textcoords="offset points", xytext=(8, 6), color="C3")
    right.set(xlabel="coordinate", ylabel="share of its weights outside the space", ylim=(1e-18, 3))
    right.set_title("inside the space lie only those that matter")
    figure.savefig(words.out, dpi=110)


if __name__ == "__main__":
    main()
