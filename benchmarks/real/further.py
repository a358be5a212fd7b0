"""Still more shapes: coupled valleys, products, fits, sums that cancel, digits, largest of parabolas, jumps.

See `shapes`, whose rules hold: least at y = 0 with the value 0, unless said otherwise.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from benchmarks.real.shapes import Rng, Shape, begin, weights

from gracezo.core.types import FloatArray


def _turned(rng: Rng, s: int) -> FloatArray:
    return np.asarray(np.linalg.qr(rng.standard_normal((s, s)))[0])


def turned_valley(rng: Rng, s: int) -> Shape:
    """Draw Rosenbrock's valley on turned axes: no coordinate is along or across it."""
    s = 2 * max(1, min(s // 2, 3))
    q, k = _turned(rng, s), rng.choice([1.0, 10.0, 100.0])

    def value(y: FloatArray) -> float:
        u, v = (q @ y)[::2] + 1, (q @ y)[1::2] + 1
        return float((k * (v - u * u) ** 2 + (1 - u) ** 2).sum())

    return Shape(value, begin(rng, s))


def product(rng: Rng, s: int) -> Shape:
    """Draw (Π (1 + y) − 1)² beside a parabola: slopes change with all others."""
    w = 0.1 * weights(rng, s := min(s, 6))
    return Shape(lambda y: float((np.prod(1 + y) - 1) ** 2 + w @ (y * y)), 0.7 * begin(rng, s))


def sigmoids(rng: Rng, s: int) -> Shape:
    """Draw Σ w tanh²(ky): a sum of terms that saturate one by one."""
    w, k = weights(rng, s), 10.0 ** rng.uniform(0, 1, s)
    return Shape(lambda y: float(w @ np.tanh(k * y) ** 2), begin(rng, s), separable=True)


def wells(rng: Rng, s: int) -> Shape:
    """Draw Σ w (1 − e^{−ky²}): bells turned over, with next to no slope beyond their width."""
    w, k = weights(rng, s), 10.0 ** rng.uniform(0, 1.3)
    return Shape(lambda y: float(w @ -np.expm1(-k * y * y)), begin(rng, s), separable=True)


def soft_maximum(rng: Rng, s: int) -> Shape:
    """Draw log Σ cosh(ay) − log s: smooth, and almost the largest of all where a is large."""
    a = rng.uniform(1.0, rng.choice([3.0, 30.0]), s)

    def value(y: FloatArray) -> float:
        t = np.abs(a * y)
        return float(t.max() + np.log(np.mean(0.5 * (np.exp(t - t.max()) + np.exp(-t - t.max())))))

    return Shape(value, begin(rng, s))


def entropy(rng: Rng, s: int) -> Shape:
    """Draw Σ w (p log(p/q) − p + q), p = q e^y: Kullback and Leibler's, in logarithms."""
    w, q = weights(rng, s), rng.uniform(0.01, 1.0, s)

    def value(y: FloatArray) -> float:
        e = np.exp(np.clip(y, -700, 200))
        return float((w * q) @ (e * y - e + 1))

    return Shape(value, begin(rng, s), separable=True)


def huber(rng: Rng, s: int) -> Shape:
    """Draw Σ w huber(y): straight lines that bend within 1e-4 to 0.1 of the minimum."""
    w, k = weights(rng, s), 10.0 ** rng.uniform(-4, -1)

    def value(y: FloatArray) -> float:
        t = np.abs(y)
        return float(w @ np.where(t < k, 0.5 * t * t / k, t - 0.5 * k))

    return Shape(value, begin(rng, s), separable=True, fits=("kinks",))


def cancelling(rng: Rng, s: int) -> Shape:
    """Draw a parabola as the difference of terms that are 1e3 to 1e10 times as large."""
    w, b = weights(rng, s), 10.0 ** rng.uniform(3, 10)
    grain = 100 * float(np.finfo(float).eps) * b * s

    def value(y: FloatArray) -> float:
        large = b * (1 + np.sin(3 * y))
        return float(((large + w * y * y) - large).sum())

    return Shape(value, begin(rng, s), fits=("noise", "rounding", "rough", "coarse"), grain=grain)


def stiff_chain(rng: Rng, s: int) -> Shape:
    """Draw Σ k (y_i − y_{i−1})² + y_0²: springs in a row, as a path or a beam has them."""
    k = 10.0 ** rng.uniform(0, 2)
    s = max(2, min(s, 30))
    return Shape(lambda y: float(y[0] ** 2 + k * (np.diff(y) ** 2).sum()), begin(rng, s))


def quartic_ravine(rng: Rng, s: int) -> Shape:
    """Draw Σ (y_i − y_{i+1}²)² + y_last⁴/10 on pairs: flat along curves."""
    s = 2 * max(1, min(s // 2, 3))

    def value(y: FloatArray) -> float:
        u, v = y[::2], y[1::2]
        return float(((u - v * v) ** 2 + 0.1 * v**4).sum())

    return Shape(value, begin(rng, s))


def largest_parabola(rng: Rng, s: int) -> Shape:
    """Draw the largest of three parabolas that are all least at 0 but tilted: kinks across coordinates."""
    s = max(2, min(s, 6))
    a = rng.standard_normal((3, s))
    a[2] = -a[0] - a[1]

    def value(y: FloatArray) -> float:
        return float((a @ y).max() + 0.5 * (y @ y))

    return Shape(value, begin(rng, s), fits=("kinks",))


def weighted_minimax(rng: Rng, s: int) -> Shape:
    """Draw max w |y| with w over four decades."""
    s = max(2, min(s, 12))
    w = 10.0 ** rng.uniform(-4, 0, s)
    return Shape(lambda y: float((w * np.abs(y)).max()), begin(rng, s), fits=("kinks",))


def total_variation(rng: Rng, s: int) -> Shape:
    """Draw Σ |y_i − y_{i+1}| + Σ w y²: kinks that tie neighbours together."""
    s = max(2, min(s, 8))
    w = weights(rng, s)
    return Shape(lambda y: float(np.abs(np.diff(y)).sum() + w @ (y * y)), begin(rng, s), fits=("kinks",))


def deadband(rng: Rng, s: int) -> Shape:
    """Draw Σ w max(0, |y| − 0.1): kinks around a flat bottom."""
    w = weights(rng, s)
    return Shape(
        lambda y: float(w @ np.maximum(0, np.abs(y) - 0.1)), begin(rng, s), separable=True, fits=("kinks",)
    )


def three_digits(rng: Rng, s: int) -> Shape:
    """Draw 1 + a parabola printed with 3 to 5 digits, as programs print: solved within ten of the last."""
    w, digits = weights(rng, s), int(rng.integers(3, 6))
    return Shape(
        lambda y: float(f"{1 + w @ (y * y):.{digits}g}") - 1,
        begin(rng, s),
        fits=("coarse", "noise"),
        grain=10 * (s**0.5) * 10.0 ** (1 - digits) * (1 + float(w.sum())),
    )


def thresholds(rng: Rng, s: int) -> Shape:
    """Draw a parabola and a fee of 0.01 to 0.3 for each coordinate beyond 0.25: jumps on the way down."""
    w, fee = weights(rng, s), 10.0 ** rng.uniform(-2, -0.5)
    return Shape(
        lambda y: float(w @ (y * y) + fee * (np.abs(y) > 0.25).sum()),
        begin(rng, s),
        separable=True,
        fits=("wall", "kinks", "rough", "coarse"),
    )


def policy(rng: Rng, s: int) -> Shape:
    """Draw the cost of a controller of a pendulum with impacts: rough at every scale; judged by no more."""
    s = max(2, min(s, 4))
    gains, start = rng.uniform(0.5, 2.0, s), begin(rng, s)
    lengths, turned = 10.0 ** rng.uniform(-2.5, -1, 12), rng.standard_normal((12, s))
    depth = 0.01 * float(gains @ (start * start)) / 12

    def value(y: FloatArray) -> float:
        waves = np.abs(np.sin((turned @ y) / lengths)).sum()
        return float(gains @ (y * y) + depth * waves)

    return Shape(value, start, fits=("rough", "noise", "kinks"), grain=15 * depth * s)


KINDS: dict[str, dict[str, Callable[[Rng, int], Shape]]] = {
    "smooth": {
        shape.__name__: shape
        for shape in (
            turned_valley, product, sigmoids, wells, soft_maximum, entropy, cancelling, stiff_chain,
            quartic_ravine,
        )
    },
    "kinks": {
        shape.__name__: shape
        for shape in (huber, largest_parabola, weighted_minimax, total_variation, deadband)
    },
    "coarse": {shape.__name__: shape for shape in (three_digits, thresholds)},
    "rough": {"policy": policy},
}  # fmt: skip
