"""How far to displace, and how large the errors of difference quotients then are, output by output.

A quotient (r(x + εw) − r(x))/ε errs by rounding or noise, ν/ε, and by curvature, κε. The first probe is asked
at ε and 4ε. If both agree to four digits, all is well. If not, it is asked what is wrong: outputs that are
short decimals, or single precision, have few digits; what differs at x itself is noise; and 16ε tells what
bends, which differs more the farther one goes, from what is merely rough. Where it bends, nearer is better;
where there is noise, farther, up to ε* = √(ν/κ). Where nothing is seen, or little beside the rounding of
large outputs, it is looked for farther away before that is believed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gracezo.core.asks import Ask, Point, Role, Steps
from gracezo.core.types import FloatArray, IntArray
from gracezo.estimators.digits import are_single, cancelled, last_bit, last_place
from gracezo.vectors.looks import Look, Looks
from gracezo.vectors.space import Space

START = 2e-8  # ε of an exact function: about the square root of the unit roundoff
_NEAREST = 1e-9
_COARSE = 1e-4  # ε of a function that answers in single precision
_AGREE = 1e-4  # of the quotient: what two distances may differ by
_WANTED = 1e-3  # of the quotient: the error that is aimed at where there is noise
_HIDDEN = 0.5  # of the quotient: noise that large may be all that is seen
_LUCK = 1e3  # an error is not so many times larger than a single sample of it
_TOO_NOISY = 0.1  # of the quotient: an error that large may hide everything
_RAISED = 1.5  # times at most is noise that was guessed raised by a further look
_FARTHER = 3.0  # times: a distance that differs by less is as good
_LOOKS = 4  # at most, for the distance of noisy outputs
_UNIT = 2.0**-52
_SINGLE = 2.0**-24  # and so in single precision
_ROUNDED = 0.3  # of the last digit: the standard error of what is rounded to it
_SQRT2 = 2.0**0.5  # a difference has the noise of two
_SURE = 1e-14  # of a quotient: it is known no better
_TINY = 1e-300


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
    flat : bool
        Whether no output changed at any distance.
    times : float
        By so much it goes farther than the look did.
    slip : float
        The largest error of a displacement, in scales of its coordinate: x + εw is rounded, too.
    """

    look: Look
    noisy: bool
    size: int
    tail: FloatArray
    flat: bool = False
    times: float = 1.0
    slip: float = 0.0

    @property
    def distance(self) -> float:
        """ε."""
        return self.times * self.look.distance

    @property
    def deviations(self) -> FloatArray:
        """The standard error of the outputs themselves: rounding, or noise."""
        return self.look.rounding

    @property
    def too_noisy(self) -> bool:
        """Whether noise is nearly as large as the answers, as far as one may go."""
        return self.noisy and self.look.off + self.look.noise_share > _TOO_NOISY

    def errors(self, answers: FloatArray, size: int) -> FloatArray:
        """Return the standard error of quotients of so many positions, by output.

        Rounding; curvature or noise, as far as it was seen: as a share of the quotients, and by itself;
        and the dense tail of so many positions.
        """
        look, least = self.look, self.least_errors(size)
        there = answers[:, np.isfinite(answers).all(axis=0)]  # the others failed and were skipped
        rms = np.sqrt(np.mean(there**2, axis=1)) if there.shape[1] else np.abs(look.near)
        seen, typical = look.differences / 2.0, self.times * look.off * rms
        if not self.noisy:
            seen = seen * np.sqrt(size / self.size)  # curvature of fewer positions is less
            typical = np.minimum(typical, _LUCK * (look.differences + least))  # an output may be linear
        return np.asarray(np.sqrt(least**2 + typical**2 + seen**2 + (self._slipped * rms) ** 2) + _TINY)

    @property
    def _slipped(self) -> float:
        """What rounded displacements make of a quotient, as a share of it."""
        return max(_SURE, self.slip / self.distance)

    def least_errors(self, size: int) -> FloatArray:
        """Return the same of quotients that do not bend: of rounding or noise, and of the tail."""
        rounding = (_SQRT2 if self.noisy else 2.0) * self.look.rounding / self.distance
        return np.asarray(np.hypot(rounding, self.tail * np.sqrt(size)) + _TINY)

    @property
    def noise(self) -> FloatArray:
        """What noise alone makes of a quotient, by output."""
        return np.asarray(_SQRT2 * self.look.rounding / self.distance)

    def looked_anew(self, near: FloatArray, far: FloatArray) -> Accuracy:
        """Return the same where a probe answers with these quotients, the second four times as far."""
        here = self.look.outputs[0]
        look = replace(
            self.look, outputs=here + self.distance * np.stack([0.0 * near, near, 4.0 * far]), others={}
        )
        return replace(self, look=look)

    def for_sums(self, most: float) -> Accuracy:
        """Return the same at the distance that suits sums over outputs, no larger than `most`.

        Columns are told apart by the outputs that are known best. A sum of squares goes by the noise of
        those that are known worst, and where that is much larger its slopes are to be measured farther away.
        """
        look, clear = self.look, ~self.look.unclear
        if not (self.noisy and clear.any()):
            return self
        slope = float(np.sqrt(np.mean(look.far[clear] ** 2)))
        noise = float(np.sqrt(np.mean(look.rounding**2)))
        wanted = min(float(np.sqrt(noise / (slope * look.bend))), most)
        return replace(self, times=wanted / look.distance) if wanted > _FARTHER * look.distance else self

    def rounded(self, digit: FloatArray, slopes: FloatArray, most: float) -> Accuracy:
        """Return the same of outputs that have turned out to be rounded to these digits.

        At the distance that suits them, if they bend over the scale by as much as they change: `slopes` says
        by how much that is.
        """
        look = replace(self.look, rounding=np.maximum(self.look.rounding, _ROUNDED * digit))
        moves = slopes > 0.0
        wanted = float(np.sqrt(np.median(look.rounding[moves] / slopes[moves]))) if moves.any() else 0.0
        return replace(
            self, look=look, noisy=True, times=max(self.distance, min(wanted, most)) / look.distance
        )

    def leave(self, left: FloatArray, size: int) -> None:
        """Note what a decoded set leaves of each output: slopes that are no columns."""
        self.tail = np.maximum(self.tail, left / np.sqrt(size))


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
    told = noise is not None and bool(noise.any())
    single = noise is None and are_single(at.outputs)
    looks = Looks(at, space, rounding if noise is None else np.hypot(rounding, noise), further)
    first = _typical(looks.rounding, at.outputs) if told else _COARSE if single else START
    seen = yield from looks.look(min(first, most))
    rounding = np.maximum(rounding, cancelled(seen.outputs))
    seen = looks.known(seen, np.maximum(looks.rounding, rounding))
    noisy = told or (single and are_single(seen.outputs[1]))
    if single and noisy:
        bit = last_bit(seen.outputs)
        rounding = np.maximum(_SINGLE * np.abs(at.outputs), 0.0 if bit is None else _ROUNDED * bit)
        seen = looks.known(seen, rounding + _TINY)
    elif single:  # the outputs at x happen to be short numbers
        seen = yield from looks.look(START)
    while True:
        if noise is None and not noisy and (digit := last_place(looks.outputs)) is not None:
            noisy, seen = True, looks.known(seen, _ROUNDED * digit)
        small = not noisy and seen.noise_share > _TOO_NOISY  # changes beside what outputs are rounded to
        if not (seen.silent or small) or seen.distance >= most:
            break
        farther = seen.distance * _COARSE / START
        if noisy:
            farther = min(farther, max(10.0 * seen.distance, _typical(looks.rounding, at.outputs)))
        elif not seen.silent:
            farther = max(10.0 * seen.distance, float(np.sqrt(seen.noise_share * seen.distance)))
        seen = yield from looks.look(min(farther, most))
    flat = seen.silent
    if noisy and not told and seen.faint:  # few digits: go where most outputs should show some of them
        typical = max(10.0 * seen.distance, _typical(looks.rounding, at.outputs))
        seen = yield from looks.look(min(typical, most))
    if not noisy and (seen.off > _AGREE or (noise is None and seen.contradicts_itself)):
        seen, noisy = yield from _explained(at, seen, looks, exact=noise is not None)
    if noisy:
        seen = yield from _balanced(at.outputs, seen, looks, most)
    if noise is None and noisy and (digit := last_place(looks.outputs)) is not None:
        seen = looks.known(seen, _ROUNDED * digit)  # that of few answers may end in zeros
    probes = np.array([seen.probe, *seen.others], np.int64)
    answers = np.column_stack([seen.near, *seen.others.values()])
    slip = _UNIT / 2.0 * float(np.max(np.abs(at.x[space.order]) / space.reach, initial=0.0))
    found = Accuracy(seen, noisy, len(space), np.zeros(len(at.outputs)), flat, slip=slip)
    return found, probes, answers


def _typical(noise: FloatArray, outputs: FloatArray) -> float:
    """Return ε* of outputs that change by as much as they are over the scale, and bend by as much."""
    return float(np.sqrt(np.median(noise / np.maximum(np.abs(outputs), noise + _TINY))))


def _explained(at: Point, seen: Look, looks: Looks, *, exact: bool) -> Steps[tuple[Look, bool]]:
    """Find why two distances differ: by noise, by bends, or because outputs are rough; return if noisy.

    What is noisy differs at x itself: another answer there, with the variance 2ν², and what the look differs
    by, with 26/16 ν², show by how much. A function that says the same again may bend, and is then looked at
    nearer; if that does not help, it is rough.
    """
    if exact:
        return (yield from looks.look(_nearer(seen))), False
    if seen.off <= _AGREE:  # of few outputs
        noise = yield from _noise(at, seen)
        return (seen, False) if noise is None else (looks.known(seen, noise, guessed=True), True)
    likely = seen.off < _HIDDEN  # noise is hardly ever so small, at so small a distance
    bends = likely and (yield from looks.bends(seen))
    if not bends:
        noise = yield from _noise(at, seen)
        if noise is not None:
            return looks.known(seen, noise, guessed=True), True
        bends = not likely and (yield from looks.bends(seen))
    if bends:
        nearer = yield from looks.look(_nearer(seen))
        if nearer.off <= 2.0 * seen.off and not nearer.stands_still_unlike(seen):
            return nearer, False  # of what is rough, it would be many times larger
        noise = (yield from _noise(at, nearer)) if likely else None
        if noise is not None:
            return looks.known(seen, noise, guessed=True), True
        seen = seen if nearer.silent else nearer
    rough = np.maximum(seen.differences, min(1.0, seen.off) * np.abs(seen.near)) * seen.distance
    steps = np.where(rough > 0.0, rough, np.median(rough[rough > 0.0]))  # of what has not moved, as of others
    return looks.known(seen, steps / 2.0, guessed=True), True


def _noise(at: Point, seen: Look) -> Steps[FloatArray | None]:
    """Ask again at x; return the standard deviation of each output, or None if it says the same."""
    assert at.outputs is not None
    (again,) = yield Ask.at(at.x, Role.AGAIN)
    if not np.isfinite(again).all() or np.array_equal(again, at.outputs):
        return None
    return np.asarray(np.sqrt(((again - at.outputs) ** 2 / 2.0 + seen.noise**2) / 2.0))


def _nearer(seen: Look) -> float:
    """Return the distance at which what bends agrees, or where rounding begins to make the greater error."""
    balance = seen.distance * float(np.sqrt(3.0 * seen.noise_share / seen.off))
    return max(seen.distance * _AGREE / 10.0 / seen.off, min(balance, seen.distance / 2.0), _NEAREST)


def _balanced(outputs: FloatArray, seen: Look, looks: Looks, most: float) -> Steps[Look]:
    """Go farther while noise is what errs, and back where curvature does.

    The errors are ν/ε + κε, least at ε* = √(ν/κ) (Moré & Wild, *Estimating derivatives of noisy simulations*,
    ACM TOMS 38, 2012). Unless more of it is seen, κ is taken to be as large as the answer is: a function that
    bends by as much as it changes over the scale. Where ν is guessed from few answers, further looks may
    raise it.
    """
    for _ in range(_LOOKS):
        if seen.noise_share + seen.off <= 2.0 * _WANTED:
            break
        curvature = seen.bend
        wanted = max(float(np.sqrt(seen.noise_share * seen.distance / curvature)), START)
        if seen.silent:
            wanted = max(_typical(looks.rounding, outputs), 10.0 * seen.distance)
        wanted = min(wanted, most)
        least = 2.0 * (seen.noise_share * seen.distance / wanted + curvature * wanted)
        if least > seen.noise_share + seen.off:
            break  # not even half of the error
        last, seen = seen, (yield from looks.look(wanted))
        if seen.guessed:
            more = np.sqrt((2.0 * looks.rounding**2 + seen.noise**2) / 3.0)  # curvature is in it, too
            seen = looks.known(seen, np.clip(more, looks.rounding, _RAISED * looks.rounding), guessed=True)
        if last.noise_share + last.off < seen.noise_share + seen.off:  # it was better there
            return replace(last, rounding=looks.rounding)
    return seen
