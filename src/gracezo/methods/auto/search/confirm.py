"""The look at one coordinate alone that makes sure of it.

On its way down it is long enough to give the curvature as well. Where values are noisy it goes to both
sides, and where a wall holds the coordinate it goes a little inward.

A look of length ℓ shows −ℓ·s + ½·ℓ²·H. If the slope s is uncertain by background, what it misses of the
predicted is shared out between s and H by how uncertain either is (a Gaussian posterior).

Where slopes are wanted for their own sake, looks are so short that f is next to straight: a slope that holds
another one would show as a curvature without measure, and one more look near by tells.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from gracezo.core.asks import Role
from gracezo.core.moves import Few
from gracezo.core.types import record
from gracezo.core.walls import Walls
from gracezo.methods.auto import constants
from gracezo.methods.auto.belief import Belief
from gracezo.methods.auto.instrument.central import Pairs
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.instrument.look import Change, Request, Room, Stencil
from gracezo.methods.auto.search.alone import Candidate, Found, Kink, Wrong, behind_a_kink, bent, parabola

Answer: TypeAlias = Found | Kink | Wrong
Confirming: TypeAlias = Generator[list[Request], list[Change], Answer]
MayConfirm: TypeAlias = Generator[list[Request], list[Change], Answer | None]


@record
class Confirmation:
    """Looks at candidates, one by one.

    Attributes
    ----------
    differences, belief
        What the run has learned.
    walls
        The bounds around the present point.
    complete, thorough
        Whether slopes are wanted for their own sake; and what falls by little behind a kink.
    """

    differences: Differences
    belief: Belief
    walls: Walls
    complete: bool = False
    thorough: bool = False

    def of(self, candidate: Candidate) -> Confirming:
        """Make sure of a candidate."""
        pairs, slope = self.differences.pairs, candidate.slope
        if pairs is not None and (
            pairs.unsure
            or candidate.error > constants.PRECISE * abs(slope)
            or self.differences.promise(slope) < pairs.noise / constants.PRECISE
        ):
            answer = yield from self._both(candidate, pairs)
            if answer is not None:
                return answer
        if self._blurred(candidate) or (candidate.again and self.complete):
            near = yield from self._near(candidate, candidate.weight, candidate.room)
            return (yield from self._far(candidate, near))
        look = self._halfway if self.complete and pairs is None else self._down
        return (yield from look(candidate)) or (yield from self._touch(candidate))

    def _nearer(
        self, candidate: Candidate, length: float, change: float, curvature: float, bent: bool
    ) -> Generator[list[Request], list[Change], float | None]:
        """Look nearer at one that is in doubt; return its curvature, None if f does not fall by its slope.

        Far away f may fall along any coordinate, and a wrong one would be taken for confirmed. And f may
        have an edge on the way, behind which it is flat: far away that looks like an odd curvature.
        """
        differences, slope = self.differences, abs(candidate.slope)
        if candidate.doubtful and self._surprising(candidate, length, change):
            near = constants.UNSEEN * constants.CONFIRM * slope / differences.newton(slope)
        elif bent and differences.curvatures.odd(curvature):
            near = -change / slope
        else:
            return curvature
        if differences.pairs is not None or near > self.walls.room(candidate.coordinate, candidate.slope):
            return curvature
        (answer,) = yield [Request(candidate.move(near), Role.CONFIRM)]
        missed = answer.ahead + near * slope
        if missed > 0.5 * near * slope:
            return None
        error, bend = differences.rounding + near * candidate.error, 2.0 * missed / near**2
        edge = missed > constants.TRUST * error and bend < constants.CLEARLY * curvature
        return bend if edge else curvature

    # ------------------------------------------------------------ for the sake of the slope

    def _blurred(self, candidate: Candidate) -> bool:
        """Whether the slope is wanted, and background has blurred it by more than a look near by does."""
        differences = self.differences
        if not (self.complete and differences.pairs is None):
            return False
        look = differences.across(candidate.weight**2, candidate.slope, room=candidate.room)
        # As long as it is not known how f bends, that takes a second look.
        least = 0.0 if differences.curvatures.known else constants.NEGLIGIBLE * abs(candidate.slope)
        return candidate.error > max(look.fixed / abs(candidate.weight), least)

    def _near(self, candidate: Candidate, weight: float, room: Room) -> Confirming:
        """Look near by, along that weight: for the slope, with an error of its own."""
        look = self.differences.across(weight**2, weight * (slope := candidate.slope), room=room)
        along = Few(np.array([candidate.coordinate]), np.array([weight]))
        (change,) = yield [look.request(along, Role.CONFIRM)]
        value, error = (part / weight for part in self.differences.read(look, change))
        error = abs(error)
        missed, allowed = abs(value - slope), constants.TRUST * math.hypot(error, candidate.error)
        if missed > max(allowed, 0.5 * abs(slope)) and not candidate.single:
            return Wrong()
        if missed > allowed and abs(value) <= constants.TRUST * error:  # the sums were off: nothing is here
            return Kink(candidate.coordinate, slope)
        self.belief.tried(candidate.side, True)
        length = look.eps * abs(weight)
        error = math.hypot(error, 0.5 * length * self.differences.curvatures.largest)  # the most curved
        taken, blur, curvature = value, error, math.nan
        if missed > allowed and self.differences.pairs is not None:
            taken, error, blur = slope, max(error, missed), max(error, missed)
        elif missed > allowed:  # does it bend, which the sums have seen, too, or did they hold another one?
            (half,) = yield [Request(along.times(0.5 * look.eps), Role.CONFIRM)]
            steep, bend = parabola((look.eps, change.ahead), (0.5 * look.eps, half.ahead))
            fine = math.sqrt(17.0) * self.differences.rounding / length  # the error of (4·f(½ε) − f(ε))/ε
            if abs(steep / weight - value) > constants.TRUST * fine:
                value, error, curvature = steep / weight, fine, bend / weight**2
                taken, blur = slope, abs(value - slope)
        return Found(candidate.coordinate, value, error, curvature, taken, blur, length=length)

    def _far(self, candidate: Candidate, near: Answer) -> Confirming:
        """Look farther away at the first one found, too: how those that matter bend f is not known."""
        if not isinstance(near, Found) or self.belief.sizes.typical or self.differences.curvatures.known:
            return near
        far = yield from self._halfway(replace(candidate, slope=near.slope, error=near.error))
        return bent(near, far.curvature) if isinstance(far, Found) else near

    def _halfway(self, candidate: Candidate) -> MayConfirm:
        """Look half way, by orders of magnitude, from where the sums looked to where f is another one.

        There it is next to straight if the slope is what the sums say, and shows how it bends. If it is not,
        a look near by tells. None before a wall.
        """
        differences, slope = self.differences, candidate.slope
        near, far = self._seen_at(candidate), constants.CONFIRM * abs(slope) / differences.newton(slope)
        wanted = math.sqrt(near * max(near, far))
        length = min(wanted, self.walls.room(candidate.coordinate, slope))
        if length * abs(slope) <= constants.TRUST * differences.rounding < wanted * abs(slope):
            return None
        (answer,) = yield [Request(candidate.move(length), Role.CONFIRM)]
        change, linear = answer.ahead, length * abs(slope)
        odd = differences.curvatures.odd(2.0 * abs(change + linear) / length**2)
        if not (odd or self._surprising(candidate, length, change)):
            self.belief.tried(candidate.side, True)
            steepness, curvature = self._shared(candidate, length, change)
            error, steep = candidate.error, math.copysign(steepness, slope)
            if not differences.bend(curvature, length, error):
                # What it missed is nothing but rounding, or else an error of the slope.
                error, curvature = math.hypot(error, 0.5 * length * curvature), math.nan
            return Found(candidate.coordinate, steep, error, curvature, steep)
        weight = abs(candidate.weight)
        ahead = -math.copysign(weight, slope), Room(length / weight, 0.0)
        sure = yield from self._near(candidate, *ahead)
        if isinstance(sure, Found) and sure.slope * slope > 0.0:
            curvature = 2.0 * (change + length * abs(sure.slope)) / length**2
            return bent(sure, curvature) if differences.bend(curvature, length, sure.error) else sure
        self.belief.tried(candidate.side, False)
        uphill = change >= constants.CLEARLY * linear and not candidate.doubtful
        return Kink(candidate.coordinate, slope) if candidate.single or uphill else Wrong()

    # ------------------------------------------------------------ on the way down

    def _down(self, candidate: Candidate) -> MayConfirm:
        """Look on its way down, far enough to see its curvature; None before a wall."""
        differences = self.differences
        slope = candidate.slope
        wanted = constants.CONFIRM * abs(slope) / differences.newton(slope)
        if not differences.curvatures.known:
            wanted = min(wanted, constants.STRIDE)  # that many scales: beyond them f may be anything
        first: tuple[float, float] | None = None  # length and change of the first look, when two are combined
        failed: tuple[float, float] | None = None  # the same of the last one that showed no descent
        while True:
            length = min(wanted, self.walls.room(candidate.coordinate, slope))
            if length * abs(slope) <= constants.TRUST * differences.rounding < wanted * abs(slope):
                return None
            (answer,) = yield [Request(candidate.move(length), Role.CONFIRM)]
            change, linear = answer.ahead, length * abs(slope)
            curvature, steepness = 2.0 * (change + linear) / length**2, abs(slope)
            down = change <= -constants.CLEARLY * linear
            if first is not None:
                downward, curvature = parabola(first, (length, change))
                steepness = -downward
                down = min(change, first[1]) < 0.0
            if down:
                slips = 0.0 if first is not None else length * candidate.error
                if length == wanted and self._endless(curvature, length, change, slips):
                    first, wanted = (length, change), constants.STRIDE * length
                    continue
                short = first is None and 0.5 * curvature * length > constants.UNSEEN * abs(slope)
                if candidate.side and short and differences.curvatures.odd(curvature):
                    # Probed uphill, confirmed downhill: a kink may lie between, with another slope behind it.
                    first, wanted = (length, change), 0.5 * length
                    continue
                taken = abs(slope)
                if first is None:
                    taken, curvature = self._shared(candidate, length, change)
                    steepness = taken
                believed = yield from self._nearer(candidate, length, change, curvature, short)
                if believed is None:
                    return Wrong()
                seen = length >= constants.CLEARLY * wanted  # or else a wall was too near to see it
                signed = (math.copysign(steepness, slope), math.copysign(taken, slope))
                most = math.inf if failed is None or failed[1] < 0.0 else failed[0]
                return self._confirmed(candidate, *signed, believed if seen else math.nan, length, most)
            shorter = 0.0 if first is not None else self._shorter(candidate, failed, length, change)
            if shorter > 0.0:
                failed, wanted = (length, change), shorter
                continue
            sought = self.thorough and first is None and candidate.side and candidate.single
            least = constants.TRUST * differences.rounding
            behind = behind_a_kink(failed, (length, change), least) if sought and failed else None
            if behind is not None:
                first, (steepness, wanted) = (length, change), behind
                slope = math.copysign(steepness, slope)  # that is all that it promises
                continue
            self.belief.tried(candidate.side, False)
            if candidate.single or change >= constants.CLEARLY * linear:
                # Uphill on this side too: a kink. It is no use, but it is accounted for.
                return Kink(candidate.coordinate, candidate.slope, uphill=change > 0.0)
            return Wrong()

    def _confirmed(
        self, candidate: Candidate, slope: float, taken: float, curvature: float, length: float, most: float
    ) -> Found:
        """Take in what a look on the way down has shown; `most`: as far away f was seen not to fall."""
        self.belief.tried(candidate.side, True)
        if not self.differences.bend(curvature, length):
            curvature = math.nan  # that may be nothing but rounding
        elif curvature > 0.0:
            # Where f is next to straight, its Newton step may lead anywhere: beyond a stride of the look
            # it promises no more than all of f.
            stride = min(self.differences.least_curvature(slope), abs(slope) / (constants.STRIDE * length))
            curvature = max(curvature, abs(slope) / most, stride)
        return Found(candidate.coordinate, slope, candidate.error, curvature, taken)

    def _endless(self, curvature: float, length: float, change: float, slips: float) -> bool:
        """Whether f falls so straight on that it may lead anywhere, up to a decrease by all of f.

        So it is where nothing shows beyond what rounding and the error of the slope (`slips`) may hide of the
        curvature, and those met differ by orders of magnitude: then they say nothing of this one.
        """
        differences = self.differences
        hidden = constants.TRUST * (differences.rounding + slips)
        straight = 0.5 * abs(curvature) * length**2 <= hidden and -differences.scale < change < 0.0
        return straight and differences.curvatures.mixed and not differences.noise

    def _missed(self, candidate: Candidate, length: float, change: float) -> tuple[float, float]:
        """Return by how much f changed otherwise than predicted, and the curvature that was predicted."""
        expected = self.differences.newton(candidate.slope)
        return change + length * abs(candidate.slope) - 0.5 * length**2 * expected, expected

    def _surprising(self, candidate: Candidate, length: float, change: float) -> bool:
        """Whether f fell otherwise than predicted, as it may along any coordinate far away."""
        missed, _ = self._missed(candidate, length, change)
        return abs(missed) > constants.UNSEEN * length * abs(candidate.slope)

    def _shared(self, candidate: Candidate, length: float, change: float) -> tuple[float, float]:
        """Return steepness and curvature, given by how much f changed."""
        missed, expected = self._missed(candidate, length, change)
        bends = 0.5 * length**2 * self.differences.curvatures.deviation(expected)
        slips = length * candidate.error
        share = 1.0 if not math.isfinite(bends) or slips == 0.0 else bends**2 / (bends**2 + slips**2)
        steepness = abs(candidate.slope) - (1.0 - share) * missed / length
        return steepness, expected + 2.0 * share * missed / length**2

    def _shorter(
        self, candidate: Candidate, failed: tuple[float, float] | None, length: float, change: float
    ) -> float:
        """Return how far to look after a step that was no descent; zero when f leads uphill at once.

        First as a parabola says. If f goes on rising, the line through what was met says where f would have
        turned: where it meets the tangent of the way down. At a kink right here that is next to nowhere.
        Behind a wall, on a plateau, or where f explodes, neither says anything: then half way, by orders of
        magnitude, to where the sums have seen it fall.
        """
        slope, near = abs(candidate.slope), self._seen_at(candidate)
        halfway = math.sqrt(length * near) if length > near / constants.UNSEEN else 0.0
        if failed is None:
            # Flat behind an edge, f would be as low where the tangent has come down as far.
            edge = -change / slope
            parabola = 0.25 * length * length * slope / (change + length * slope)
            nearer = edge if edge > constants.UNSEEN * length else parabola
            return nearer if nearer > near else halfway
        far, there = failed
        # What falls as much nearer by, and is flat behind that, has an edge; what falls in proportion is
        # another coordinate.
        edge = change < -constants.TRUST * self.differences.rounding and change * far < 2.0 * there * length
        if not (candidate.single or edge) and change < constants.CLEARLY * length * slope:
            return 0.0  # next to flat: more likely the wrong coordinate
        rise = (there - change) / (far - length)
        turn = (rise * length - change) / (rise + slope)
        if turn > (1.0 - constants.UNSEEN) * length or rise * length < constants.CLEARLY * change:
            return halfway
        # A bend behind a kink right here makes it seem to turn ahead, by half of what is allowed. What was
        # probed alone, and downhill, leads down for certain, however near it turns.
        believed = not candidate.side and candidate.single and self.belief.rate(0) > 0.5
        certain = self.thorough or believed
        curvatures = self.differences.curvatures
        bend = 0.0 if certain or edge or not curvatures.known else curvatures.typical
        seen = turn * slope > constants.TRUST * self.differences.rounding
        return turn if seen and turn > bend * far * length / (rise + slope) else 0.0

    def _seen_at(self, candidate: Candidate) -> float:
        """Return how far sums move a candidate, which have shown its slope."""
        weight = candidate.weight
        look = self.differences.across(weight**2, weight * candidate.slope, room=candidate.room)
        return look.eps * abs(weight)

    # ------------------------------------------------------------ noise and walls

    def _both(self, candidate: Candidate, pairs: Pairs) -> MayConfirm:
        """Look to both sides: slope and curvature, each with its error.

        It counts as found when its slope differs from zero by `trust` standard errors. None before a wall.
        """
        differences = self.differences
        slope, coordinate = candidate.slope, candidate.coordinate
        # The less a coordinate promises beside the noise, the nearer to its Newton step it has to be asked.
        share = min(max(2.0 * math.sqrt(pairs.noise / differences.promise(slope)), constants.CONFIRM), 1.0)
        room = min(self.walls.room(coordinate, slope), self.walls.room(coordinate, -slope))
        if room * abs(slope) <= constants.TRUST * pairs.noise:
            return None
        length, longer, shortened = 0.0, 0, False
        while True:
            wanted = length or max(
                share * abs(slope) / differences.newton(slope), pairs.telling(slope, differences.length(1.0))
            )
            length = min(wanted, room)
            often = pairs.often(pairs.error(length), slope)
            error, noise = pairs.error(length, often), pairs.noise / math.sqrt(often)
            stencil = Stencil.CHECKED if pairs.unsure else Stencil.CENTRAL
            (change,) = yield [Request(candidate.move(length), Role.CONFIRM, stencil=stencil, repeats=often)]
            # Asked downhill: the change is negative where the slope has the expected sign.
            measured = -math.copysign(1.0, slope) * change.odd / length
            curvature = 2.0 * change.even / length**2
            hidden = abs(change.even) <= math.sqrt(6.0) * noise
            steep = constants.CLEARLY * length * abs(measured)
            if abs(measured) <= max(constants.TRUST * error, constants.CLEARLY * abs(slope)):
                near = self._seen_at(candidate)
                if not hidden and length > near / constants.UNSEEN:
                    # So far away f is another one: half way, by orders of magnitude, to where sums saw it.
                    length, shortened = math.sqrt(length * near), True
                    continue
                self.belief.tried(candidate.side, False)
                if candidate.single:
                    pairs.mistrust()
                return Wrong()
            if (
                (hidden or differences.curvatures.odd(curvature))
                and longer < (constants.FEW if hidden else 1)
                and length < room
            ):
                # Noise hides the curvature, and how far to go, or has made it up: farther it will show.
                length, longer = length / constants.CLEARLY, longer + 1
            elif not (longer or shortened) and min(change.ahead, change.behind) > 2.0 * noise - steep:
                # Too long a step, or a kink: a shorter one tells.
                length, shortened = 0.5 * abs(measured) / curvature, True
            else:
                break
        self.belief.tried(candidate.side, True)
        if not math.isnan(change.near):
            pairs.meet(length, change)
        if not hidden:
            differences.curvatures.meet(curvature)
        # Where it is much the same, all that the group showed was this one.
        same = abs(measured - slope) <= constants.CLEARLY * abs(slope)
        taken = (slope, 0.0) if same else (measured, error)
        return Found(coordinate, measured, error, math.nan if hidden else curvature, *taken)

    def _touch(self, candidate: Candidate) -> Confirming:
        """Look at a candidate that a wall holds, a little inward: whether it is the one, and no more."""
        differences = self.differences
        weight, slope = candidate.weight, candidate.slope
        look = differences.along(differences.newton(slope) * weight**2, weight * slope, candidate.room)
        (change,) = yield [look.request(candidate.along, Role.CONFIRM)]
        value, error = differences.read(look, change)
        self.belief.tried(candidate.side, False)
        sum_ = weight * slope
        if abs(value - sum_) > constants.CLEARLY * abs(sum_) + constants.TRUST * error:
            return Wrong()
        return Found(candidate.coordinate, slope, error / abs(weight), math.nan, slope)
