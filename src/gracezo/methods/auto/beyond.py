"""Longer scales: before a run is called converged, whether f is all that small differences say.

At a minimum f is higher at all lengths up to the scale, to both sides. If it is lower at one of them, or
where the parabola through both sides is least, the run goes on from there. And it has the same curvature near
and far. If it rises by more close by than the rise from afar foretells, the run has stopped in a ripple, and
ripples are noise by another name: their depth is measured as noise is, by equally spaced values, and the run
goes on as on a noisy function.

Along the coordinates that have never mattered f has no slope. That it does not curve down is seen at lengths
over more orders of magnitude: from a saddle point one of them leads lower. Halving tells which of them do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from gracezo.core.aims import Inward, Roomy
from gracezo.core.answers import lowest
from gracezo.core.asks import Ask, OutOfQueries, Point, Role, SparseRows, Steps
from gracezo.core.moves import Few, Move, Wave, rows_of
from gracezo.core.precision import ULP
from gracezo.core.rest import Rest
from gracezo.core.types import FloatArray, IntArray
from gracezo.core.walls import Walls
from gracezo.estimators.noise import POINTS, judge, rippled
from gracezo.methods.auto import constants
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.instrument.look import Lower
from gracezo.methods.auto.search.order import drawn
from gracezo.methods.auto.support.coordinates import Support

Rough: TypeAlias = tuple[float, float]
"""A length, and what f rises by there beyond what the rise from afar foretells."""


class Beyond:
    """The looks from where a run has come to.

    Parameters
    ----------
    at, plainly
        Where that is, and by how much a value has to be lower to be plainly so.
    walls, differences
        The bounds, and what is known of f.
    rng
        Where directions are drawn from.
    sized
        Whether the sizes of coordinates were told, or shown by bounds.
    """

    def __init__(
        self,
        at: Point,
        plainly: float,
        walls: Walls,
        differences: Differences,
        rng: np.random.Generator,
        sized: bool,
    ) -> None:
        self._at = at
        self._plainly = plainly
        self._box = walls.box
        self._noise = differences.noise
        self._rng = rng
        self._sized = sized
        self.hidden = False
        """Whether coordinates that have never mattered may: their sums show slopes, or their sizes differ."""
        self.silent = False
        """Whether coordinates that have never mattered leave f as it is, far away and near."""
        self._differences = differences

    def lower(
        self,
        support: Support,
        free: IntArray,
        rest: IntArray | Rest,
        start: FloatArray,
        unsure: IntArray,
        most: int,
        kinked: bool = False,
    ) -> Steps[tuple[Point, float] | None]:
        """Return a lower point, if any is, and how deep the ripples are that hide what is lower.

        Parameters
        ----------
        support, free
            The coordinates that have mattered, and which of them no bound holds.
        rest
            The others.
        start
            Where the run began.
        unsure
            Coordinates that took part in steps that were not predicted, and may be asked one by one.
        most
            How many coordinates may be asked one by one, to both sides, since errors of f hide what they are.
        kinked
            Whether f is known to have kinks near by, behind which it rises otherwise: these are no ripples.
        """
        met, ease = support.indices[free], 1.0 / np.sqrt(support.smooth[free])
        ways = np.abs(self._at.x[met] - start[met])
        found, level = None, 0.0
        if 0 < len(met) <= most:
            if self._noise and isinstance(rest, np.ndarray) and 2 * (len(met) + len(rest)) <= most:
                ease = np.append(ease, np.full(len(rest), float(np.median(ease))))
                met, ways = np.append(met, rest), np.append(ways, np.zeros(len(rest)))
            found = yield from self._vertices(met, ease, ways)
        else:
            size = float(np.median(ways[ways > 0.0])) if ways.any() else 1.0
            along = self._direction(rest)
            if len(met):
                along = Few(met, drawn(self._rng, len(met)) * ease / float(np.median(ease)))
            found, rough = yield from self._along(along, size, Role.CONFIRM if len(met) else Role.PROBE)
            for length, excess in () if self._noise or kinked else sorted(rough):
                level = level or (yield from self._depth(along.times(length), excess))
        if found is None and not level and len(unsure):
            found = yield from self._back(unsure, start[unsure] - self._at.x[unsure])
        if found is None and not level:
            found = yield from self._behind_noise(rest) if self._noise else self._outside(rest)
        if found is None:
            return (self._at, level) if level else None
        return found.point(self._at, self._box), level

    # ------------------------------------------------------------ along what matters

    def _along(self, way: Move, size: float, role: Role) -> Steps[tuple[Lower | None, list[Rough]]]:
        """Return the lowest point along one direction, if it is lower, and at which lengths it may be rough.

        `size` says how far coordinates have come as a rule. If that is nothing like the scale, both say how
        far to look. Out of a ripple f rises by more than a sixteenth of what it rises by four times as far.
        So it does out of a kink, but there it is four times as much more.
        """
        sizes = [size] if constants.CLEARLY < size < 1.0 / constants.CLEARLY else [1.0, size]
        lengths = np.array([[0.5 * each * 4.0**-power for power in range(4)] for each in sizes])
        order = np.argsort(lengths, axis=None)
        found, _, even = yield from self._sides([way.times(lengths.flat[j]) for j in order], role)
        rows = even[np.argsort(order)].reshape(lengths.shape)
        with np.errstate(invalid="ignore", divide="ignore"):  # where evaluations have failed
            excess = rows[:, 1:] - rows[:, :-1] / 16.0
            shown = excess > constants.CLEARLY * rows[:, 1:] + constants.TRUST * self._plainly
            ratio = excess[:, :-1] / excess[:, 1:]
            rough = shown[:, 1:] & ~(np.abs(ratio / 4.0 - 1.0) < constants.UNSEEN)
        rough = np.pad(rough, ((0, 0), (1, 0))) | np.pad(rough, ((0, 0), (0, 1)))  # and four times as far
        return found, list(zip(lengths[:, 1:][rough].tolist(), excess[rough].tolist(), strict=True))

    def _sides(self, ways: Sequence[Move], role: Role) -> Steps[tuple[Lower | None, FloatArray, FloatArray]]:
        """Return the lowest point to both sides of steps, and where parabolas are least, if it is lower.

        And what f changes by, the opposite on both sides and the same, for each of them. They are gone from
        the shortest on; beyond where f has risen above all it has been it is not asked, and may overflow.
        """
        steps = [self._cut(way.times(side)) for way in ways for side in (1.0, -1.0)]
        pairs, open_ = np.full((len(ways), 2), np.inf), np.full(2, True)
        most = self._at.value + max(self._differences.values.fallen, self._differences.scale)
        for row, pair in enumerate(pairs):
            some = [step for step, asked in zip(steps[2 * row : 2 * row + 2], open_, strict=True) if asked]
            pair[open_] = yield from self._values(some, role)
            open_ &= pair <= most
        ahead, behind = pairs.T - self._at.value
        with np.errstate(invalid="ignore"):  # beyond where it was not asked
            odd, even = 0.5 * (ahead - behind), 0.5 * (ahead + behind)
        for row, (straight, bent) in enumerate(zip(odd.tolist(), even.tolist(), strict=True)):
            if 0.0 < bent < math.inf and straight**2 > 4.0 * bent * self._plainly:
                share = -0.5 * straight / bent
                steps.append(steps[2 * row + (share < 0.0)].times(min(abs(share), 1.0)))
        values = np.append(pairs, (yield from self._values(steps[pairs.size :], role)))
        return self._lowest(steps, values), odd, even

    def _vertices(self, coordinates: IntArray, ease: FloatArray, ways: FloatArray) -> Steps[Lower | None]:
        """Return where the parabolas along single coordinates are least, if it is lower, in spite of noise.

        Each is asked to both sides, so far away that its curvature stands out from the noise: then a slope
        that noise hides is worth a fraction of the noise. What was measured of the curvature may be out of
        date; so the length follows what is seen, up to half of the scale or of how far the coordinate came.
        """
        noise, longest = self._noise or self._differences.rounding, 0.5 * np.maximum(ways, 1.0)
        if self._box is not None:
            longest = np.minimum(longest, np.minimum(*self._box.room(self._at.x, coordinates)))
        lengths = np.minimum(constants.TRUST * math.sqrt(2.0 * noise) * ease, longest)
        odd, even = np.zeros(len(coordinates)), np.zeros(len(coordinates))
        asked = np.flatnonzero(lengths > 0.0)
        while len(asked):
            both = np.concatenate([lengths[asked], -lengths[asked]])
            changes = yield from self._singly(np.tile(coordinates[asked], 2), both)
            ahead, behind = np.nan_to_num(changes).reshape(2, -1)
            odd[asked], even[asked] = 0.5 * (ahead - behind), 0.5 * (ahead + behind)
            seen = even[asked] > 2.0 * constants.TRUST * noise
            asked = asked[~seen & (lengths[asked] < longest[asked])]
            farther = np.sqrt(4.0 * constants.TRUST * noise / np.maximum(even[asked], noise))
            lengths[asked] = np.minimum(farther * lengths[asked], longest[asked])
        odd = np.where(np.abs(odd) > constants.LIKELY * noise, odd, 0.0)
        share = np.clip(-0.5 * odd / np.maximum(even, noise), -1.0, 1.0)
        gains = -0.5 * odd * share
        if gains.sum() <= constants.UNSEEN * noise:
            return None
        way, best = share * lengths, int(np.argmax(gains))
        trials: list[Move] = [Few(coordinates, part * way) for part in (1.0, 0.5)]
        trials.append(Few(coordinates[best : best + 1], way[best : best + 1]))
        values = yield from self._values(trials)
        row = lowest(values)
        return Lower(trials[row], float(values[row])) if values[row] < self._at.value else None

    def _back(self, coordinates: IntArray, ways: FloatArray) -> Steps[Lower | None]:
        """Return the lowest point with one coordinate where it began, if that is lower.

        A step along many of them may bring f down though it carries some too far: to where f is flat.
        """
        changes = yield from self._singly(coordinates, ways)
        moves = [Few(coordinates[j : j + 1], ways[j : j + 1]) for j in range(len(ways))]
        return self._lowest(moves, self._at.value + changes)

    def _depth(self, spacing: Move, excess: float) -> Steps[float]:
        """Return how deep ripples are, as a standard deviation; 0 where there are none.

        That is what they leave of equally spaced values, which lie higher than the present point by the mean
        of the ripples along all n coordinates that move; they add up to √n times that of one. A smooth
        function may leave as much where it saturates: ripples show along the coordinate that moves farthest.
        """
        values = yield from self._spaced(spacing)
        level, n = judge(values)[1] if np.isfinite(values).all() else 0.0, len(spacing)
        least = max(self._plainly, constants.TRUST**2 * ULP * np.abs(values).max())
        if not least < level < self._differences.scale:
            return 0.0  # more: that is a wall
        if not (shown := rippled(values, excess / math.sqrt(n))) and isinstance(spacing, Few) and n > 1:
            one = np.argmax(np.abs(spacing.values), keepdims=True)
            single = Few(spacing.indices[one], spacing.values[one])
            shown = rippled((yield from self._spaced(single)), excess / n)
        return level if shown else 0.0

    def _spaced(self, spacing: Move) -> Steps[FloatArray]:
        """Return equally spaced values of f."""
        step = self._inward(spacing, POINTS)
        return (yield from self._values([step.times(float(k)) for k in range(1, POINTS + 1)]))

    # ------------------------------------------------------------ along the others

    def _outside(self, rest: IntArray | Rest) -> Steps[Lower | None]:
        """Return a lower point along coordinates that have never mattered, as few as halving leaves.

        Where both sides of two directions leave f as it is, far away and near, these do not matter. Otherwise
        directions are drawn until the chance is small that one is left that leads down: where two have to
        move together (x₀·x₁), each of their signs is right in half of the draws. A draw so near that f hardly
        changes tells nothing.
        """
        rest = rest if isinstance(rest, Rest) else self._rng.permutation(rest)
        found, unchanged, told, lengths = None, 0, 0, 5
        for draw in range(2 * constants.DRAWN if len(rest) else 0):
            length = 4.0 ** -(1 + 3 * draw % lengths)  # all of these, the first two far from each other
            way = self._inward(self._direction(rest).times(length))  # what stands at a bound goes inward
            if draw < 2:
                found, odd, even = yield from self._sides([way], Role.PROBE)
                change = max(abs(float(odd[0])), abs(float(even[0])))
                unchanged += change <= self._differences.rounding
                self._extrapolate(abs(float(odd[0])), max(float(even[0]), self._differences.rounding))
            else:
                step = self._cut(way)
                values = yield from self._values([step], Role.PROBE)
                change, found = abs(float(values[0]) - self._at.value), self._lowest([step], values)
            if found is not None:
                return (yield from self._narrowed(found))
            told += change > self._plainly
            self.silent = unchanged == 2
            if self.silent or told == constants.DRAWN:
                break
        self.silent = self.silent or not len(rest)
        if not (self.silent or self._sized):
            yield from self._compare(rest)
        return None

    def _extrapolate(self, straight: float, bent: float) -> None:
        """Note whether a slope along coordinates of unknown sizes leads down by much beyond the scale."""
        beyond = straight > 2.0 * bent + constants.TRUST * self._differences.rounding
        if beyond and straight**2 * constants.PRECISE > 4.0 * bent * self._plainly and not self._sized:
            self.hidden = True

    def _compare(self, rest: IntArray | Rest) -> Steps[None]:
        """Note whether single coordinates show that their sizes, which nobody has told, differ by orders."""
        if isinstance(rest, Rest):
            rest = rest.among(np.unique(self._rng.integers(rest.d, size=constants.DRAWN)))
        some = rest[: constants.DRAWN // 2]
        changes = np.abs((yield from self._singly(some, np.full(len(some), constants.CLEARLY))))
        seen = changes[np.isfinite(changes) & (changes > constants.TRUST * self._differences.rounding)]
        # How far a coordinate can go before f changes by as much.
        self.hidden |= len(seen) > 1 and float(0.5 * np.log10(seen).std(ddof=1)) > constants.DECADES

    def _behind_noise(self, rest: IntArray | Rest) -> Steps[Lower | None]:
        """Return the same of a noisy function, and note whether sums show that something is hidden.

        Directions are looked at to both sides, so far away that curvature stands out from the noise. A slope
        that stands out, too, may be that of many, none of which does alone.
        """
        length = constants.CLEARLY
        for _ in range(constants.DRAWN if len(rest) else 0):
            way = self._roomy(self._direction(rest).times(length))
            found, odd, even = yield from self._sides([way], Role.PROBE)
            if found is not None:
                return (yield from self._narrowed(found))
            share = math.sqrt(4.0 * constants.TRUST * self._noise / max(float(even[0]), self._noise))
            self.hidden |= share > 0.5 and abs(float(odd[0])) > 2.0 * constants.LIKELY * self._noise
            length = min(share * length, constants.CLEARLY)
        return None

    def _narrowed(self, found: Lower) -> Steps[Lower]:
        """Return what is lower by at least half as much with as few of its coordinates as halving leaves."""
        while len(found.move) > 1:
            enough = self._at.value + 0.5 * (found.value - self._at.value)
            for half in found.halves():
                (value,) = yield Ask(self._at.x, rows_of([half]), Role.PROBE)
                if value <= enough:
                    found = Lower(half, float(value))
                    break
            else:
                break
        return found

    # ------------------------------------------------------------ asking

    def _direction(self, coordinates: IntArray | Rest) -> Move:
        """Return a random direction along coordinates."""
        if isinstance(coordinates, Rest):
            out = coordinates.without
            order = coordinates.shuffled(self._rng, drawn)
            return Wave(order, 0, coordinates.d, indices=out, values=np.zeros(len(out)))
        return Few(coordinates, drawn(self._rng, len(coordinates)))

    def _inward(self, way: Move, times: int = 1) -> Move:
        """Return a way that stays inside, also when it is gone several times."""
        if self._box is None:
            return way
        if isinstance(way, Wave):
            return replace(way, aim=Inward(self._box, times * abs(way.factor)))
        assert isinstance(way, Few)
        return Few(way.indices, self._box.inward(self._at.x, way.indices, times * way.values) / times)

    def _roomy(self, way: Move) -> Move:
        """Return a way without what has no room for it on both sides."""
        if self._box is None:
            return way
        if isinstance(way, Wave):
            return replace(way, aim=Roomy(self._box, abs(way.factor)))
        assert isinstance(way, Few)
        return Few(way.indices, Roomy(self._box, 1.0)(self._at.x, way.indices, way.values))

    def _cut(self, step: Move) -> Move:
        """Return a step as bounds leave it; of very many coordinates the engine cuts it."""
        if self._box is None or isinstance(step, Wave):
            return step
        assert isinstance(step, Few)
        here = self._at.x[step.indices]
        return Few(step.indices, self._box.place(self._at.x, step.indices, step.values) - here)

    def _values(self, steps: Sequence[Move], role: Role = Role.CONFIRM) -> Steps[FloatArray]:
        """Ask f at some steps; what leads nowhere is not asked.

        Along what matters any of them may be the answer, if it is lower; along the rest, if it is clearly so.
        """
        values = np.full(len(steps), self._at.value)
        moves = [row for row, step in enumerate(steps) if step.reach > 0.0]
        if moves:
            answers = yield Ask(self._at.x, rows_of([steps[row] for row in moves]), role)
            if len(answers) < len(moves):
                raise OutOfQueries
            values[moves] = np.where(np.isnan(answers), np.inf, answers)
        return values

    def _singly(self, coordinates: IntArray, steps: FloatArray) -> Steps[FloatArray]:
        """Ask f at steps of single coordinates; return what it changes by."""
        values = yield Ask(self._at.x, SparseRows.coordinates(coordinates, steps), Role.CONFIRM)
        if len(values) < len(steps):
            raise OutOfQueries
        return values - self._at.value

    def _lowest(self, moves: Sequence[Move], values: FloatArray) -> Lower | None:
        """Return the lowest of some moves, if it is plainly lower."""
        if not len(values) or not self._at.value - values[row := lowest(values)] > self._plainly:
            return None
        return Lower(moves[row], float(values[row]))
