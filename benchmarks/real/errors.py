"""Shapes whose values have errors of other kinds than normal noise of one size; tables, poles and fits.

See `shapes`, whose rules hold: least at y = 0 with the value 0, unless said otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from benchmarks.real.shapes import Rng, Shape, begin, noisy, weights

from gracezo.core.types import FloatArray


def quartic_noise(rng: Rng, s: int) -> Shape:
    """Draw Σ w (y⁴ + 0.3 y²) with noise of 1e-6 to 0.03: curvature falls on the way."""
    w, start = weights(rng, s := min(s, 10)), begin(rng, s)

    def value(y: FloatArray) -> float:
        return float(w @ (y**4 + 0.3 * y**2))

    noise = 10.0 ** rng.uniform(-6, -1.5) * value(start)
    return Shape(value, start, True, ("noise",), grain=s * noise, noise=noise)


def relative_noise(rng: Rng, s: int) -> Shape:
    """Draw 0.1 + a parabola times 1 + noise, as a mean over draws has it: noise falls with f."""
    w, start = weights(rng, s := min(s, 10)), begin(rng, s)
    level = 10.0 ** rng.uniform(-5, -1)
    height = float(w @ (start * start))
    return Shape(
        lambda y: float(0.1 * height + w @ (y * y)),
        start,
        fits=("noise",),
        least=0.1 * height,
        grain=s * level * 0.1 * height,
        noise=level,
        error=lambda value, draws: level * value * float(draws.standard_normal()),
    )


def heavy_noise(rng: Rng, s: int) -> Shape:
    """Draw a parabola with errors of Student's distribution with three degrees of freedom."""
    shape = noisy(rng, s)
    size = shape.noise / np.sqrt(3.0)
    return replace(shape, error=lambda value, draws: size * float(draws.standard_t(3)))


def single_noise(rng: Rng, s: int) -> Shape:
    """Draw a parabola with noise, returned in single precision."""
    shape = noisy(rng, s)

    def error(value: float, draws: Rng) -> float:
        return float(np.float32(value + shape.noise * float(draws.standard_normal()))) - value

    return replace(shape, error=error)


def table(rng: Rng, s: int) -> Shape:
    """Draw sums of tables of 9 to 200 entries with straight lines between them."""
    s, entries = min(s, 8), int(10.0 ** rng.uniform(0.9, 2.3))
    places = np.linspace(-4.0, 4.0, 2 * (entries // 2) + 1)  # one of them is 0
    w = weights(rng, s)
    return Shape(
        lambda y: float(w @ np.interp(y, places, places**2)), begin(rng, s), separable=True, fits=("kinks",)
    )


def pole(rng: Rng, s: int) -> Shape:
    """Draw Σ w y²/(c − y)², c from 1.2 to 3: a pole beyond the start, flat on the other side."""
    w, c = weights(rng, s), rng.uniform(1.2, 3.0, s)
    return Shape(lambda y: float(w @ np.minimum((y / (c - y)) ** 2, 1e12)), begin(rng, s))


def ray(rng: Rng, s: int) -> Shape:
    """Draw Σ w (√(1 + k²y²) − 1): a cone that is round at its tip, within 1e-3 to 1 of it."""
    w, k = weights(rng, s), 10.0 ** rng.uniform(0, 3)
    return Shape(
        lambda y: float(w @ (np.hypot(1.0, k * y) - 1.0)), begin(rng, s), separable=True, fits=("kinks",)
    )


KINDS: dict[str, dict[str, Callable[[Rng, int], Shape]]] = {
    "smooth": {"pole": pole},
    "kinks": {shape.__name__: shape for shape in (table, ray)},
    "noise": {shape.__name__: shape for shape in (quartic_noise, relative_noise, heavy_noise, single_noise)},
}
