"""Classifier margins in the box [0, 1]: queries until the first negative margin, and pixels changed by then.

PYTHONPATH=src python -m benchmarks.trades.margins [--images 50] [--page docs/results/margins.md]

scikit-learn's digits (8 × 8), enlarged bilinearly to 28 × 28; a network of one hidden layer, trained here. Of
images that it gets right: margin = score of the true class minus the best other. The scores are those before
the softmax, or behind it, where they saturate; these also in single precision, where many are exactly one
(without ART's attacks). Every row that the network is shown counts, that of the image itself too. All methods
may move each pixel anywhere in [0, 1].

- `auto`: `gracezo.minimize(margin, image, bounds=..., target=0)`, nothing else given; and with
  `groups=(4, 4)`.
- Sparse-RS (Croce et al., AAAI 2022) for k = 50 pixels, in a short version of our own: after the paper's
  algorithm 1, with its schedule of α (initial value 0.3) for 10,000 queries scaled to the budget.
- SimBA, Square, ZOO: those of the Adversarial Robustness Toolbox (ART), on its black-box classifier, which
  shows them probabilities in both tables; steps of the width of the box (SimBA's epsilon = 1, Square's
  eps = 1), else their defaults (ZOO: one coordinate at a time, on the whole image).
"""

from __future__ import annotations

import argparse
import contextlib
import io
import logging
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import scipy.ndimage
import sklearn
from benchmarks.page_table import put
from benchmarks.queries.tables import markdown
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

import gracezo
from gracezo.core.types import FloatArray
from gracezo.experiments.environment import describe

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import art
    from art.attacks.evasion import SimBA, SquareAttack, ZooAttack
    from art.estimators.classification import BlackBoxClassifierNeuralNetwork

mpl.use("Agg")
import matplotlib.pyplot as plt

SIDE, EARLY = 28, 100
D = SIDE * SIDE
TABLES = {
    "scores before the softmax": "scores",
    "probabilities": "probabilities",
    "probabilities in single precision": "single",
}
"""What is shown of the network, and the mark of its table."""


class Network:
    """The classifier, and the images that it gets right, of those that it was not trained on."""

    def __init__(self) -> None:
        digits = load_digits()
        zoom = SIDE / 8
        images = [
            scipy.ndimage.zoom(image / 16.0, zoom, order=1, mode="nearest", grid_mode=True)
            for image in digits.images
        ]
        pixels = np.clip(np.array(images), 0.0, 1.0).reshape(-1, D)
        seen, held, _, truth = train_test_split(pixels, digits.target, test_size=0.3, random_state=0)
        known = train_test_split(pixels, digits.target, test_size=0.3, random_state=0)[2]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = MLPClassifier((128,), max_iter=200, random_state=0).fit(seen, known)
        self._layers = list(zip(model.coefs_, model.intercepts_, strict=True))
        right = model.predict(held) == truth
        self.accuracy = float(right.mean())
        self.images, self.labels = held[right], truth[right]

    def scores(self, x: FloatArray) -> FloatArray:
        """Return the ten scores of each row."""
        (inward, lift), (outward, shift) = self._layers
        return np.asarray(np.maximum(x @ inward + lift, 0.0) @ outward + shift)


class Over(BaseException):
    """The margin is negative, or the budget spent."""


class Target:
    """One image to be moved over the boundary, with its meter."""

    def __init__(
        self, network: Network, number: int, probability: bool, budget: int, single: bool = False
    ) -> None:
        self.network = network
        self.image, self.label = network.images[number], int(network.labels[number])
        self.seed = number
        self._probability, self._single = probability, single
        self.budget = budget
        self.calls, self.crossed, self.changed = 0, np.inf, 0

    def scores(self, rows: FloatArray, probability: bool) -> FloatArray:
        """Return the scores of rows, one after the other, and count them."""
        rows = np.asarray(rows, np.float64).reshape(-1, D)
        scores = self.network.scores(rows)
        if probability:
            scores = np.exp(scores - scores.max(axis=1, keepdims=True))
            scores /= scores.sum(axis=1, keepdims=True)
        if self._single:
            scores = scores.astype(np.float32).astype(np.float64)
        for x, row in zip(rows, scores, strict=True):
            if self.calls == self.budget:
                raise Over
            self.calls += 1
            assert x.min() >= 0.0
            assert x.max() <= 1.0
            if row[self.label] < np.delete(row, self.label).max():
                self.crossed = self.calls
                self.changed = int((np.abs(x - self.image) > 1e-6).sum())  # ART computes in single precision
                raise Over
        return scores

    def __call__(self, x: FloatArray) -> float:
        """Return the margin."""
        (row,) = self.scores(x, self._probability)
        return float(row[self.label] - np.delete(row, self.label).max())


# ---------------------------------------------------------------- the methods


def by_auto(f: Target, **known: Any) -> None:
    box = [(0.0, 1.0)] * D
    image = f.image.reshape(SIDE, SIDE)
    gracezo.minimize(f, image, bounds=box, target=0.0, max_queries=f.budget, seed=f.seed, **known)


def by_groups(f: Target) -> None:
    by_auto(f, groups=(4, 4))


_SHARES = (
    (50, 2.0),
    (200, 4.0),
    (500, 5.0),
    (1000, 6.0),
    (2000, 8.0),
    (4000, 10.0),
    (6000, 12.0),
    (8000, 15.0),
    (10000, 20.0),
)


def by_sparse_rs(f: Target, k: int = 50, alpha: float = 0.3) -> None:
    rng = np.random.default_rng(f.seed)
    best = f(f.image)
    chosen = rng.choice(D, k, replace=False)
    colours = rng.integers(0, 2, k).astype(np.float64)
    x = f.image.copy()
    x[chosen] = colours
    best = f(x)
    while True:
        at = f.calls / f.budget * 10_000
        divided = next(by for until, by in _SHARES if at <= until)
        swapped = max(int(alpha / divided * k), 1)
        out = rng.choice(k, swapped, replace=False)
        trial, trial_colours = chosen.copy(), colours.copy()
        trial[out] = rng.choice(np.setdiff1d(np.arange(D), chosen), swapped, replace=False)
        trial_colours[out] = rng.integers(0, 2, swapped)
        x = f.image.copy()
        x[trial] = trial_colours
        value = f(x)
        if value < best:
            best, chosen, colours = value, trial, trial_colours


def _art(f: Target) -> tuple[Any, Any, Any]:
    def shown(rows: Any) -> Any:
        return f.scores(np.clip(rows, 0.0, 1.0), True)  # it asks for probabilities

    shape = (1, SIDE, SIDE)
    classifier = BlackBoxClassifierNeuralNetwork(
        shown, shape, 10, channels_first=True, clip_values=(0.0, 1.0)
    )
    return classifier, f.image.reshape(1, *shape).astype(np.float32), np.eye(10)[[f.label]]


def by_simba(f: Target) -> None:
    classifier, image, label = _art(f)
    SimBA(classifier, attack="px", epsilon=1.0, max_iter=10_000, verbose=False).generate(image, label)


def by_square(f: Target) -> None:
    classifier, image, label = _art(f)
    SquareAttack(classifier, eps=1.0, max_iter=10_000, nb_restarts=1, verbose=False).generate(image, label)


def by_zoo(f: Target) -> None:
    classifier, image, label = _art(f)
    ZooAttack(
        classifier,
        max_iter=1_000,
        use_resize=False,
        use_importance=False,
        nb_parallel=1,
        variable_h=0.2,
        verbose=False,
    ).generate(image, label)


METHODS: dict[str, Callable[[Target], None]] = {
    "auto": by_auto,
    "auto, groups 4 × 4": by_groups,
    "Sparse-RS, k = 50": by_sparse_rs,
    "SimBA (ART)": by_simba,
    "Square (ART)": by_square,
    "ZOO (ART)": by_zoo,
}


def run(name: str, target: Target) -> Target:
    np.random.seed(target.seed)  # noqa: NPY002  # ART draws from the global state
    quiet = contextlib.redirect_stderr(io.StringIO())
    with warnings.catch_warnings(), contextlib.suppress(Over), quiet:
        warnings.simplefilter("ignore")
        try:
            METHODS[name](target)
        except gracezo.EvaluationError as error:  # anything else is a bug
            if not isinstance(error.__cause__, Over):
                raise
    return target


def table(done: dict[str, list[Target]], budget: int) -> str:
    rows = []
    for name, targets in done.items():
        crossed = np.array([target.crossed for target in targets])
        pixels = [target.changed for target in targets if target.crossed < np.inf]
        middle = float(np.median(crossed))
        rows.append(
            [
                name,
                f"{(crossed <= EARLY).mean():.2f}",
                f"{(crossed <= budget).mean():.2f}",
                f"{middle:,.0f}" if np.isfinite(middle) else "–",
                f"{np.median(pixels):,.0f}" if pixels else "–",
            ]
        )
    return markdown(["", f"within {EARLY}", f"within {budget}", "median queries", "pixels changed"], rows)


def picture(all_done: dict[str, dict[str, list[Target]]], budget: int, out: Path) -> None:
    figure, both = plt.subplots(1, 2, figsize=(10.5, 4.2), sharey=True, layout="constrained")
    for axes, (what, done) in zip(both, list(all_done.items())[:2], strict=True):
        for name, targets in done.items():
            crossed = np.sort([target.crossed for target in targets])
            known = crossed[crossed < np.inf]
            share = np.arange(1, len(known) + 1) / len(crossed)
            x, y = [1.0, *known, budget], [0.0, *share, share[-1] if len(share) else 0.0]
            axes.step(x, y, where="post", label=name)
        axes.set(xscale="log", xlabel="queries", title=what)
        axes.grid(alpha=0.3)
    both[0].set_ylabel("share of images with a negative margin")
    figure.legend(*both[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.savefig(out, dpi=110)


def main() -> None:
    """Run, and write the tables and the picture."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--images", type=int, default=50)
    parser.add_argument("--first", type=int, default=300, help="none below it was looked at")
    parser.add_argument("--budget", type=int, default=500)
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument(
        "--page", type=Path, help="write tables into docs/results/margins.md, files beside it"
    )
    words = parser.parse_args()
    logging.getLogger("art").setLevel(logging.ERROR)
    network = Network()
    made = describe()
    head = (
        f"Images {words.first} to {words.first + words.images - 1} of the {len(network.images)} that the "
        f"network gets right ({100 * network.accuracy:.1f} % of those held out); gracezo {made['gracezo']}, "
        f"python {made['python']}, numpy {made['numpy']}, scikit-learn {sklearn.__version__}, "
        f"ART {art.__version__}, {made['date']}."
    )
    print(head)
    all_done: dict[str, dict[str, list[Target]]] = {}
    for what, mark in TABLES.items():
        done = all_done[what] = {}
        probability, single = mark != "scores", mark == "single"
        for name in words.methods:
            if single and "ART" in name:
                continue
            numbers = range(words.first, words.first + words.images)
            targets = [Target(network, number, probability, words.budget, single) for number in numbers]
            done[name] = [run(name, target) for target in targets]
            print(f"{what}, {name}: {sorted(target.crossed for target in done[name])}", flush=True)
        text = table(done, words.budget)
        print(text)
        if words.page is not None:
            put(words.page, mark, f"{text}\n\n{head}")
    if words.page is not None:
        picture(all_done, words.budget, words.page.parent / "trades" / "margins.png")


if __name__ == "__main__":
    main()
