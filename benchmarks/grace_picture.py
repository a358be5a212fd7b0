"""Draw how GraCe reads the place of a large derivative off the ratio of two queries.

PYTHONPATH=src python benchmarks/grace_picture.py [--out docs/images/grace.png]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl
import numpy as np

from gracezo.estimators.grace import printed_labels
from gracezo.theory import practical_schedule

mpl.use("Agg")
import matplotlib.pyplot as plt


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("docs/images/grace.png"))
    chosen = parser.parse_args()
    random = np.random.default_rng(5)
    slopes = 1e-4 * random.standard_normal(700)
    slopes[403] = 1.0
    signs = random.choice([-1.0, 1.0], 700)
    group, rounds = np.arange(700), []
    for divisions in practical_schedule(20):
        if len(group) <= 2:
            break
        labels = printed_labels(len(group), divisions)
        terms = signs[group] * slopes[group]
        ratio = float((labels * terms).sum() / terms.sum())
        block = group[labels == round(ratio)]
        rounds.append((group, labels, ratio, block))
        group = block
    figure, axes = plt.subplots(1, len(rounds), figsize=(11, 3.6), layout="constrained")
    for number, (axis, (place, labels, ratio, block)) in enumerate(zip(axes, rounds, strict=True), 1):
        axis.step(place, labels, where="mid", color="tab:blue")
        axis.axhline(ratio, color="tab:orange", linewidth=2)
        axis.axvline(403, color="tab:red", linestyle=":")
        axis.axvspan(block[0] - 0.5, block[-1] + 0.5, color="tab:orange", alpha=0.25)
        axis.set_title(f"round {number}: {len(place)} coordinates, ratio {ratio:.2f}", fontsize=10)
        axis.set(xlabel="coordinate of the group", ylabel="label" if number == 1 else "")
        axis.text(place[0], labels.max() * 0.97, " labels h", color="tab:blue", va="top")
        axis.text(place[-1], ratio, "ratio ", color="tab:orange", ha="right", va="bottom")
        axis.text(403, labels.min(), " the large derivative", color="tab:red", va="bottom", fontsize=8)
    figure.savefig(chosen.out, dpi=130)
    print(f"{2 * len(rounds)} queries, {len(group)} coordinates left: {chosen.out}")


if __name__ == "__main__":
    main()
