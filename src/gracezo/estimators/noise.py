"""ECnoise: how noisy a computed function is, from seven values on a line.

Moré & Wild, *Estimating computational noise*, SIAM Journal on Scientific
Computing 33(3), 2011.

Along a line the smooth part of f fades from the higher differences of equally
spaced values, while independent noise of standard deviation σ gives k-th
differences of variance σ²·(2k)!/(k!)². So every order k gives an estimate

    σ_k² = γ_k · mean_i (Δ^k f_i)²,    γ_k = (k!)²/(2k)!            (their Eq. 2.6)

and the first order at which three successive estimates agree, with
differences of both signs, is past the smooth part. Equal values mean that the
spacing is below the resolution of f; no agreement means that it is too wide.

Where values differ by more than a tenth of f, the paper takes the spacing for too wide. But noise may be as
large as f: so what seven such values agree on is noise if as much is there again at a spacing a hundred times
narrower.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

import numpy as np

from gracezo.core.asks import Ask, Point, Role, Steps
from gracezo.core.box import Box
from gracezo.core.keys import Key
from gracezo.core.moves import Few, Move, rows_of
from gracezo.core.places import norm
from gracezo.core.types import FloatArray
from gracezo.estimators.digits import quantum

POINTS = 7  # what the paper recommends
AGREEMENT = 4.0  # three estimates agree when they lie within this factor (the paper's η)
RANGE = 0.1  # values that differ by more, relatively, show the function and not its noise
FIRST, LAST = 1e-7, 10.0  # the spacing tried first and the widest, beside max(1, ‖x‖)
STRIDE = 1e2  # from one spacing to the next (theirs); its square when no value changed at all
BESIDE = 1.1  # from a spacing at which an evaluation failed to another one that serves as well
TRIES = 5


class Spacing(enum.Enum):
    """What the values say of the spacing they were taken at."""

    RIGHT = "right"
    NARROW = "too narrow"
    WIDE = "too wide"


@dataclass(frozen=True)
class NoiseEstimate:
    """The noise of a function near a point.

    Attributes
    ----------
    level : float
        The standard deviation of the noise; 0 when none was found.
    detected : bool
        Whether the differences agreed on a level. If not, `level` is 0 and the noise is below what
        the values could show, or the function is too rough to tell.
    constant : bool
        Whether f did not change at all along the line.
    spacing : float
        The distance between the points that told.
    queries : int
        What the estimate cost.

    Examples
    --------
    >>> import numpy as np, gracezo
    >>> random = np.random.default_rng(0)
    >>> noisy = lambda x: 1 + x @ x + 1e-4 * random.standard_normal()
    >>> estimate = gracezo.estimate_noise(noisy, np.ones(9), seed=0)
    >>> estimate.detected, bool(0.3e-4 < estimate.level < 3e-4), estimate.queries
    (True, True, 7)
    """

    level: float
    detected: bool
    constant: bool
    spacing: float
    queries: int = 0

    def step(self, curvature: float = 1.0) -> float:
        """Return the finite difference that this noise asks for: 8^¼·sqrt(level / curvature).

        It makes the error of a forward difference least where the second derivative is so large (Moré &
        Wild, *Estimating derivatives of noisy simulations*, ACM Transactions on Mathematical Software
        38(3), 2012). Methods with an option `eps` take it there.

        Examples
        --------
        >>> round(NoiseEstimate(1e-6, True, False, 1e-7).step(), 6)
        0.001682
        """
        if not (self.level > 0.0 and curvature > 0.0):
            raise ValueError(f"a step needs noise and curvature; given: {self.level!r} and {curvature!r}")
        return float(8.0**0.25 * math.sqrt(self.level / curvature))


def levels(values: FloatArray) -> tuple[FloatArray, list[bool]]:
    """Return the estimates σ_1, σ_2, …, and for each order whether its differences have both signs."""
    estimates, both_signs = [], []
    differences, gamma = values, 1.0
    for order in range(1, len(values)):
        differences = np.diff(differences)
        gamma *= order / (2 * (2 * order - 1))  # γ_k = γ_{k−1}·k/(2(2k − 1))
        estimates.append(np.sqrt(gamma * np.mean(differences**2)))
        both_signs.append(bool(differences.min() < 0 < differences.max()))
    return np.array(estimates), both_signs


def rippled(values: FloatArray, size: float) -> bool:
    """Return whether equally spaced values, as they lead away from a minimum, go over ripples of that size.

    Then f falls from some value to the next by a good part of it; or it is off by most of it in differences
    of all orders, as with noise. Those of a smooth function that rises all along fade.

    >>> rippled(np.array([1.0, 3.0, 2.0, 5.0, 6.0, 8.0, 9.0]), 1.0), rippled(np.log1p(np.arange(7)), 1.0)
    (True, False)
    """
    estimates, _ = levels(values)
    falls, lasting = -float(np.diff(values).min()), float(estimates[1:-1].min())  # one is no sample
    return falls > 0.25 * size or lasting > 0.5 * size


def judge(values: FloatArray) -> tuple[Spacing, float]:
    """Return what equally spaced values say: the noise level, or how to change the spacing.

    A level that goes with a spacing that is too wide is one that loud values agree on: noise, if it stays
    where the spacing is narrower.
    """
    if (step := quantum(values)) and levels(values)[0].min() <= step:  # else they are rounded, and noisy
        return Spacing.RIGHT, step / math.sqrt(12.0)  # rounding is uniform over a step
    loud = np.ptp(values) > RANGE * np.abs(values).max()
    if not loud and np.count_nonzero(np.diff(values) == 0) >= len(values) / 2:
        return Spacing.NARROW, 0.0
    level = _agreed(values)
    # A jump between the first value and the others looks like noise; without the first there is none.
    if loud:
        level = min(level, _agreed(values[1:]))
    return (Spacing.RIGHT if level > 0.0 and not loud else Spacing.WIDE), level


def _agreed(values: FloatArray) -> float:
    """Return the level on which three successive estimates agree, 0 if none do."""
    estimates, both_signs = levels(values)
    for order in range(len(estimates) - 2):
        three = estimates[order : order + 3]
        if three.max() <= AGREEMENT * three.min() and both_signs[order]:
            return float(estimates[order])
    return 0.0


def random_line(at: Point, key: Key, box: Box | None = None) -> tuple[Few, float]:
    """Return a random direction of length one, and how far it stays within the bounds."""
    direction = key.generator().standard_normal(len(at.x))
    if box is not None:
        direction = box.inward(at.x, np.arange(len(at.x)), direction)
    length = float(np.linalg.norm(direction))
    line = Few(np.arange(len(at.x)), direction / length)
    return line, math.inf if box is None else length


def measure_noise(at: Point, line: Move, most: float = np.inf, first: float = 0.0) -> Steps[NoiseEstimate]:
    """Measure the noise near a point whose value is known: six queries a try, usually one or two tries.

    The values are taken along a direction of length one, no farther than `most`, on one side of the point
    and not around it as in the paper: many functions have a kink where they start (|x| at 0), and
    differences across it look like noise. The spacing tried `first` is the paper's, if none is given.
    """
    size = max(1.0, norm(at.x))
    longest = min(LAST * size, most / (POINTS - 1))
    further = min(first or FIRST * size, longest)
    narrow, wide = 0.0, np.inf  # spacings known to be wrong
    constant = True
    spacing = 0.0
    loud = 0.0  # the level of loud values at the last spacing
    for _ in range(TRIES):
        if further > longest:
            break
        spacing = further
        asked = yield Ask(
            at.x, rows_of([line.times(place * spacing) for place in range(1, POINTS)]), Role.PROBE
        )
        if np.isnan(asked).any():  # a table with a gap has no differences
            further = spacing * BESIDE
            continue
        values = np.insert(asked, 0, at.value)
        verdict, level = judge(values)
        if verdict is Spacing.RIGHT:
            return NoiseEstimate(level, detected=True, constant=False, spacing=spacing)
        if 0.0 < max(level, loud) <= AGREEMENT * min(level, loud):
            level = math.hypot(level, loud) / math.sqrt(2.0)
            return NoiseEstimate(level, detected=True, constant=False, spacing=spacing)
        constant = constant and not np.ptp(values)
        if verdict is Spacing.NARROW:
            narrow = spacing
            further = spacing * (STRIDE**2 if constant else STRIDE)
        else:
            wide, loud = spacing, level
            further = spacing / STRIDE
        if narrow > 0 and wide < np.inf:
            further = float(np.sqrt(narrow * wide))
    return NoiseEstimate(0.0, detected=False, constant=constant, spacing=spacing)
