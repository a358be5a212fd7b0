"""How far to displace, and how large the errors of difference quotients then are, output by output.

A quotient (r(x + εw) − r(x))/ε errs by rounding or noise, which falls as ε grows, and by curvature, which
grows with it. The first probe is asked at ε and 4ε. If both agree to four digits, all is well; if not, 16ε
tells the two kinds of errors apart: what bends differs more the farther one goes, and noise does not. Where
nothing is seen, it is looked for farther away before that is believed.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from gracezo.core.asks import Point, Steps
from gracezo.core.types import FloatArray, IntArray
from gracezo.vectors.space import FARTHEST, Probe, Space, slopes

START = 2e-8  # ε of an exact function: about the square root of the unit roundoff
_NEAREST = 1e-9
_COARSE = 1e-4  # ε of a function that answers in single precision
_AGREE = 1e-4  # of the quotient: what two distances may differ by
_WANTED = 1e-3  # of the quotient: the error that is aimed at where there is noise
_DROWNED = 0.1  # of the quotient: an error that large may hide everything
_UNIT = 2.0**-52
_SINGLE = 2.0**-24  # and so in single precision
_TINY = 1e-300


@dataclass(frozen=True)
class Look:
    """One probe at two distances: the quotients, and by how much they differ beyond rounding."""

    probe: int
    distance: float
    near: FloatArray
    far: FloatArray
    rounding: FloatArray  # standard error of r itself, by output

    @property
    def differences(self) -> FloatArray:
        """What the two differ by, less what rounding explains, by output."""
        excess = np.abs(self.far - self.near) - 2.0 * self.rounding / self.distance
        return np.maximum(excess, 0.0)

    @property
    def silent(self) -> bool:
        """Whether no output shows more than rounding."""
        return bool((np.abs(self.far) <= 4.0 * self.rounding / self.distance).all())

    @property
    def off(self) -> float:
        """The same, as a share of the quotient: the median over outputs that answer at all."""
        answers = np.abs(self.far) > 4.0 * self.rounding / self.distance
        if not answers.any():
            return 0.0
        return float(np.median(self.differences[answers] / np.abs(self.far[answers])))


@dataclass
class Accuracy:
    """The distance of a search, and the errors of its quotients.

    Attributes
    ----------
    look : Look
        The probe that they were learned from.
    noisy : bool
        Whether r is noisy, or coarser than double precision.
    size : int
        How many positions it displaced.
    tail : ndarray
        Root mean square of the slopes, by output, that no column explains.
    """

    look: Look
    noisy: bool
    size: int
    tail: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        self.tail = np.zeros(len(self.look.near))

    @property
    def distance(self) -> float:
        """ε."""
        return self.look.distance

    @property
    def deviations(self) -> FloatArray:
        """The standard error of the outputs themselves: rounding, or noise as far as it was seen."""
        look = self.look
        if not self.noisy:
            return look.rounding
        seen = np.maximum(look.differences, look.off * np.abs(look.near)) * look.distance
        return np.maximum(look.rounding, seen)

    @property
    def drowned(self) -> bool:
        """Whether noise is nearly as large as the answers, as far as one may go."""
        return self.noisy and self.look.off > _DROWNED

    def errors(self, answers: FloatArray, size: int) -> FloatArray:
        """Return the standard error of quotients of so many positions, by output.

        Rounding; curvature or noise, as far as it was seen: as a share of the quotients, and by itself;
        and the dense tail of so many positions.
        """
        look = self.look
        rms = np.sqrt(np.nanmean(answers**2, axis=1)) if answers.shape[1] else np.abs(look.near)
        seen = look.differences / 2.0
        if self.noisy:
            seen = np.maximum(seen, look.off * np.abs(look.near))
        else:
            seen = seen * np.sqrt(size / self.size)  # curvature of fewer positions is less
        parts = (2.0 * look.rounding / self.distance, look.off * rms, seen, self.tail * np.sqrt(size))
        return np.asarray(np.sqrt(sum(part**2 for part in parts)) + 1e-14 * rms + _TINY)

    def leave(self, rest: float, errors: FloatArray, size: int) -> None:
        """Note that a decoded set leaves so much, in units of its errors: slopes that are no columns."""
        self.tail = np.maximum(self.tail, rest * errors / np.sqrt(size))


def accuracy(
    at: Point, space: Space, noise: FloatArray | None, further: int
) -> Steps[tuple[Accuracy, IntArray, FloatArray]]:
    """Find the distance.

    Parameters
    ----------
    at, space
        Where, and what may move.
    noise
        The standard deviation of each output, 0 where it is exact, or None where that is not known.
    further
        How many probes of the whole space may go out along with the first two.

    Returns
    -------
    accuracy, probes, answers
        What was found, the probes at that distance and their answers, a column each.
    """
    assert at.outputs is not None
    size, most = len(space), FARTHEST / 4.0
    rounding = _UNIT * np.abs(at.outputs) + _TINY
    if noise is not None:
        rounding = np.hypot(rounding, noise)
    noisy = noise is not None and bool(noise.any())
    exact = noise is not None and not noisy
    first = 0
    more: dict[int, FloatArray] = {}

    def look(distance: float) -> Steps[Look]:
        """Ask a probe at this distance and four times as far, and others along with it."""
        nonlocal first
        more.clear()
        while True:
            others = range(first + 1, first + 1 + further)
            wanted = [Probe(first, 0, size, distance), Probe(first, 0, size, 4.0 * distance)]
            wanted += [Probe(number, 0, size, distance) for number in others]
            near, far, *rest = (yield from slopes(at, space, wanted)).T
            more.update(
                {number: one for number, one in zip(others, rest, strict=True) if np.isfinite(one[0])}
            )
            if np.isfinite(near[0] + far[0]):
                return Look(first, distance, near, far, rounding)
            first += 1 + further  # it failed and was skipped: another will do

    single = noise is None and _is_single(at.outputs)
    seen = yield from look(_COARSE if noisy or single else START)
    if single:
        noisy = _is_single(at.outputs + seen.near * seen.distance)
        if noisy:
            rounding = _SINGLE * np.abs(at.outputs) + _TINY
            seen = replace(seen, rounding=rounding)
        else:  # the outputs at x happen to be short numbers
            seen = yield from look(START)
    while seen.silent and seen.distance < most:
        seen = yield from look(min(seen.distance * _COARSE / START, most))
    if not noisy and seen.off > _AGREE:
        bends = exact
        if not exact:
            farther = (yield from slopes(at, space, [Probe(first, 0, size, 16.0 * seen.distance)]))[:, 0]
            change, before = np.abs(farther - seen.far), np.abs(seen.far - seen.near)
            bends = bool(np.median(change) > 2.0 * np.median(before))
        if bends:
            seen = yield from look(max(seen.distance * _AGREE / 10.0 / seen.off, _NEAREST))
    last = np.inf
    while not exact and seen.distance < most and (seen.off >= 0.5 or seen.off < last / 2.0):
        if seen.off <= (2.0 * _WANTED if noisy else _AGREE):
            break
        last, noisy = seen.off, True
        seen = yield from look(min(seen.distance * _farther(seen.off), most))
    probes = np.array([seen.probe, *more], np.int64)
    return Accuracy(seen, noisy, size), probes, np.column_stack([seen.near, *more.values()])


def _farther(off: float) -> float:
    """Return by how much to go farther, so that an error that falls with the distance is what is wanted."""
    return max(4.0, off / _WANTED) if off < 0.5 else _COARSE / START  # it may be noise alone that was seen


def _is_single(outputs: FloatArray) -> bool:
    """Whether outputs have the digits of single precision: no more, and not all of them much fewer."""
    with np.errstate(over="ignore", under="ignore"):
        beyond = np.abs(outputs.astype(np.float32) - outputs)
        short = outputs.astype(np.float16) == outputs
    return bool((beyond <= 8.0 * _UNIT * np.abs(outputs)).all() and not short.all())
