"""Find a few defects in an insulated plate from the temperatures that a thermal camera sees.

The plate is warmed evenly. Where its insulation is damaged, heat is lost, and
the cells around get colder too. Any of the 1,600 cells may be damaged, three
are: which, and how much? Nothing is known but a simulator, and what was seen.

Run: python examples/defects.py   (writes out/defects.png)
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from scipy.sparse import diags_array, eye_array, kron
from scipy.sparse.linalg import spsolve

import gracezo

mpl.use("Agg")
import matplotlib.pyplot as plt


class Plate:
    """The simulator: steady heat flow between n × n cells; each loses 1 + its damage to the air."""

    def __init__(self, n: int) -> None:
        line = diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n)).tolil()
        line[0, 0] = line[-1, -1] = 1.0  # no heat leaves at the edges
        self.flow = kron(eye_array(n), line) + kron(line, eye_array(n))
        self.warmth = np.ones(n * n)

    def __call__(self, damage: np.ndarray) -> np.ndarray:
        losses = diags_array(1.0 + damage.ravel())
        return np.asarray(spsolve((self.flow + losses).tocsc(), self.warmth).reshape(damage.shape))


def main(out: Path = Path("out"), n: int = 40) -> gracezo.Result:
    plate, true = Plate(n), np.zeros((n, n))
    true[[int(0.28 * n), int(0.55 * n), int(0.8 * n)], [int(0.63 * n), int(0.2 * n), int(0.77 * n)]] = (
        1.0,
        0.7,
        1.2,
    )
    seen = plate(true)

    def misfit(damage: np.ndarray) -> float:
        return float(((plate(damage) - seen) ** 2).sum())

    start = np.zeros((n, n))
    bounds = [(0, 5)] * start.size  # nobody insulates better than new
    target = 1e-5 * misfit(start)
    result = gracezo.minimize(misfit, start, bounds=bounds, target=target, max_queries=2000, seed=0)
    print(result)
    draw(seen, true, result, out)
    return result


def draw(seen: np.ndarray, true: np.ndarray, result: gracezo.Result, out: Path) -> None:
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
    pictures = {
        "what the camera sees": seen,
        "the damage": true,
        f"found, by {result.nfev:,} simulations": result.x,
    }
    for axis, (title, picture) in zip(axes, pictures.items(), strict=True):
        colours = "inferno" if picture is seen else "Reds"
        shown = axis.imshow(picture, cmap=colours, vmin=None if picture is seen else 0)
        axis.set(title=title, xticks=[], yticks=[])
        figure.colorbar(shown, ax=axis, shrink=0.8)
    out.mkdir(parents=True, exist_ok=True)
    figure.savefig(out / "defects.png", dpi=120)


if __name__ == "__main__":
    main()
