"""How far to displace, and how large the errors of difference quotients then are, output by output.

A quotient (r(x + εw) − r(x))/ε errs by rounding or noise, ν/ε, and by curvature, κε. The first probe is asked
at ε and 4ε. If both agree to four digits, all is well; if not, 16ε tells the two kinds of errors apart: what
bends differs more the farther one goes, and noise does not. Where it bends, nearer is better; where there is
noise, farther, up to ε* = √(ν/κ), which two distances show. Where nothing is seen, it is looked for farther
away before that is believed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from gracezo.core.asks import Point, Steps
from gracezo.core.types import FloatArray, IntArray
from gracezo.vectors.space import Probe, Space, slopes

START = 2e-8  # ε of an exact function: about the square root of the unit roundoff
_NEAREST = 1e-9
_COARSE = 1e-4  # ε of a function that answers in single precision
_AGREE = 1e-4  # of the quotient: what two distances may differ by
_WANTED = 1e-3  # of the quotient: the error that is aimed at where there is noise
_NEAR = 1e-2  # ε up to which outputs are taken to be nearly linear before anything is known of them
_HIDDEN = 0.5  # of the quotient: noise that large may be all that is seen
_LUCK = 1e3  # an error is not so many times larger than a single sample of it
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
        """The same, as a share of the quotient."""
        return self.relative(self.differences)

    def relative(self, errors: FloatArray) -> float:
        """Return errors by output as a share of the quotient: the median over outputs that answer at all."""
        answers = np.abs(self.far) > 4.0 * self.rounding / self.distance
        if not answers.any():
            return 0.0
        return float(np.median(errors[answers] / np.abs(self.far[answers])))


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
    share : float
        How much of what the two distances differ by is noise, where there is any; the rest is curvature.
    flat : bool
        Whether no output changed at any distance.
    tail : ndarray
        Root mean square of the slopes, by output, that no column explains.
    """

    look: Look
    noisy: bool
    size: int
    share: float = 1.0
    flat: bool = False
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
        seen = self.share * np.maximum(look.differences, look.off * np.abs(look.near)) * look.distance
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
        rounding = 2.0 * look.rounding / self.distance
        seen, typical = look.differences / 2.0, look.off * rms
        if self.noisy:
            seen = np.maximum(seen, look.off * np.abs(look.near))
        else:
            seen = seen * np.sqrt(size / self.size)  # curvature of fewer positions is less
            typical = np.minimum(typical, _LUCK * (look.differences + rounding))  # an output may be linear
        parts = (rounding, typical, seen, self.tail * np.sqrt(size))
        return np.asarray(np.sqrt(sum(part**2 for part in parts)) + 1e-14 * rms + _TINY)

    def leave(self, left: FloatArray, size: int) -> None:
        """Note what a decoded set leaves of each output: slopes that are no columns."""
        self.tail = np.maximum(self.tail, left / np.sqrt(size))


class _Looks:
    """Looks around a point: one probe at two distances, and others along with it.

    Parameters
    ----------
    at, space, rounding
        Where, what may move, and the standard error of the outputs themselves.
    further
        How many other probes of the whole space may go out along with the two.
    """

    def __init__(self, at: Point, space: Space, rounding: FloatArray, further: int) -> None:
        self._at, self._space = at, space
        self._further = further
        self.rounding = rounding
        self.first = 0  # number of the probe
        self.more: dict[int, FloatArray] = {}  # the others of the last look

    def look(self, distance: float) -> Steps[Look]:
        """Ask at this distance and four times as far; if that failed and was skipped, with another probe."""
        size = len(self._space)
        while True:
            others = range(self.first + 1, self.first + 1 + self._further)
            wanted = [Probe(self.first, 0, size, distance), Probe(self.first, 0, size, 4.0 * distance)]
            wanted += [Probe(number, 0, size, distance) for number in others]
            near, far, *rest = (yield from slopes(self._at, self._space, wanted)).T
            answered = zip(others, rest, strict=True)
            self.more = {number: one for number, one in answered if np.isfinite(one[0])}
            if np.isfinite(near[0] + far[0]):
                return Look(self.first, distance, near, far, self.rounding)
            self.first += 1 + self._further

    def bends(self, seen: Look) -> Steps[bool]:
        """Ask sixteen times as far: what two distances differ by is curvature if it then is larger."""
        probe = Probe(seen.probe, 0, len(self._space), 16.0 * seen.distance)
        if probe.distance > self._space.farthest:
            return False
        farther = (yield from slopes(self._at, self._space, [probe]))[:, 0]
        change, before = np.abs(farther - seen.far), np.abs(seen.far - seen.near)
        return bool(np.median(change) > 2.0 * np.median(before))


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
    most = space.farthest / 4.0
    rounding = _UNIT * np.abs(at.outputs) + _TINY
    looks = _Looks(at, space, rounding if noise is None else np.hypot(rounding, noise), further)
    noisy = noise is not None and bool(noise.any())
    exact = noise is not None and not noisy
    single = noise is None and _is_single(at.outputs)
    seen = yield from looks.look(_COARSE if noisy or single else START)
    if single:
        noisy = _is_single(at.outputs + seen.near * seen.distance)
        if noisy:
            looks.rounding = _SINGLE * np.abs(at.outputs) + _TINY
            seen = replace(seen, rounding=looks.rounding)
        else:  # the outputs at x happen to be short numbers
            seen = yield from looks.look(START)
    while seen.silent and seen.distance < most:
        seen = yield from looks.look(min(seen.distance * _COARSE / START, most))
    share, flat = 1.0, seen.silent
    if noisy or seen.off > _AGREE:
        bends = exact or (not noisy and (yield from looks.bends(seen)))
        if bends:
            nearer = yield from looks.look(max(seen.distance * _AGREE / 10.0 / seen.off, _NEAREST))
            bends = exact or nearer.off <= 2.0 * seen.off  # of noise it would be many times larger
            seen = nearer
        if not bends:
            noisy = True
            seen, share = yield from _balanced(seen, at.outputs, looks.look, most)
    probes = np.array([seen.probe, *looks.more], np.int64)
    answers = np.column_stack([seen.near, *looks.more.values()])
    return Accuracy(seen, noisy, len(space), share, flat), probes, answers


def _balanced(
    seen: Look, outputs: FloatArray, look: Callable[[float], Steps[Look]], most: float
) -> Steps[tuple[Look, float]]:
    """Go farther while noise is what errs, and back where curvature does; return also the share of noise.

    The errors are ν/ε + κε, least at ε* = √(ν/κ) (Moré & Wild, *Estimating derivatives of noisy simulations*,
    ACM TOMS 38, 2012). What the first look shows is taken for noise. Unless more of it is seen, κ is taken to
    be as large as the answer is, or as the outputs are where that is not seen: a function that bends by as
    much as it changes over the scale.
    """
    noise = seen.differences * seen.distance  # ν by output
    humming, bend = seen.off, 0.0  # the two errors at this distance, as shares of the quotient
    while seen.off > 2.0 * _WANTED:
        if humming < _HIDDEN:
            curvature = max(1.0, bend / seen.distance)
            wanted = float(np.sqrt(humming * seen.distance / curvature))
            if 2.0 * wanted * curvature > seen.off / 2.0:  # not even half of the error
                break
        else:
            typical = float(np.sqrt(np.median(noise / np.maximum(np.abs(outputs), noise + _TINY))))
            first = typical if seen.distance >= _NEAR else min(typical, _NEAR)
            wanted = max(first, seen.distance * _NEAR / _COARSE)
        wanted = min(wanted, most)
        if wanted == seen.distance:
            break
        if humming >= _HIDDEN:
            noise = np.maximum(noise, seen.differences * seen.distance)
        last, seen = seen, (yield from look(wanted))
        humming = min(seen.off, seen.relative(noise / seen.distance)) or seen.off
        bend = seen.off - humming
        if last.off < min(_HIDDEN, seen.off):  # it was better there
            seen, humming = (yield from look(last.distance)), last.off
            break
    return seen, min(1.0, humming / max(seen.off, _TINY))


def _is_single(outputs: FloatArray) -> bool:
    """Whether outputs have the digits of single precision: no more, and not all of them much fewer."""
    with np.errstate(over="ignore", under="ignore"):
        beyond = np.abs(outputs.astype(np.float32) - outputs)
        short = outputs.astype(np.float16) == outputs
    return bool((beyond <= 8.0 * _UNIT * np.abs(outputs)).all() and not short.all())
