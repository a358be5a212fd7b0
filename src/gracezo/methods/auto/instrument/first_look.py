"""The first look: all coordinates of a tree together, and what they say of f itself.

Nothing is known of f yet but one value. The same direction is asked at three distances: two of them fit the
slope and the curvature, the third tells whether they are all there is, and how well values are rounded.

- Where they show neither the curvature nor that f bends less than it falls within one scale, f is asked at
  longer distances: beside a large offset, or far from its minimum, f shows there what it is like.
- If the third lies off the parabola by more than rounding explains, f may be a plain sum, in which small
  terms are lost beside large ones; two more looks show that. Or f at the point itself is off: then f jumps
  there. Or it is noisy, and only then is the noise measured (`estimators/noise.py`).
- If f does not change where slope and curvature say that it should, it is coarse: its step is its noise.

With noise, the root is asked at +far, −far and +near. If near lies on the parabola through the others, f
bends regularly up to far, and from then on looks to both sides pay. If it does not, far was too far, or there
is a kink in between: the root is asked nearer, and after the last try looks stay one-sided.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gracezo.core.asks import Ask, Point, Role, Steps
from gracezo.core.moves import Few
from gracezo.core.places import largest
from gracezo.core.precision import ROOT, TINY
from gracezo.estimators.digits import grid, quantum
from gracezo.estimators.noise import POINTS, measure_noise
from gracezo.methods.auto import constants
from gracezo.methods.auto.instrument.central import Pairs
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.instrument.look import NEAR, Along, Change, Request, Stencil, answered

# Times where a coarse f has changed: powers of the golden ratio, nowhere equally spaced.
_BEYOND = tuple((0.5 * (1.0 + math.sqrt(5.0))) ** power for power in (2, 3, 5))


class FirstLook:
    """Measures the first sum over all coordinates of a run, and what f is like.

    Parameters
    ----------
    differences
        Where the run keeps what it learns of f.
    along
        All coordinates, with their weights.
    """

    def __init__(self, differences: Differences, along: Along) -> None:
        self._differences = differences
        self._along = along
        self._curvature = 0.0, 0.0  # of the last fit, and its error
        self._coarse = False
        self._looks: list[tuple[float, float]] = []  # distances ahead, ascending, and how f changed there
        self._seen: list[float] = []  # values of f
        self.flat = True
        """Whether f did not change at all."""
        self.value = 0.0
        self.error = 0.0
        """U of all coordinates, and its error."""
        self.jump = 0.0
        """By how much f jumps beside the point itself."""

    def take(self, at: Point, noise: float | None) -> Steps[None]:
        """Look, and find out what f is like; `noise` is what the user says of it, None for nothing."""
        differences = self._differences
        guess = differences.curvatures.mean
        if differences.fixed:
            noise = noise or 0.0  # whoever chooses ε has thought of it
        if noise is None:
            noise = yield from self._measure(at)
            if 0.0 < noise <= ROOT * differences.values.largest:
                # What is left of large terms that cancel, say: f passes for exact, only with a larger error.
                differences.values.round(noise)
                differences.curvatures.assume(guess)
                noise = 0.0
                yield from self._fit_exact(at)
        elif noise == 0.0:
            yield from self._fit_exact(at)
        if noise > 0.0:
            differences.values.hear(noise, self._coarse)
            differences.curvatures.assume(guess)  # what was fitted was noise
            if differences.fixed or not (yield from self._regular(at)):
                yield from self._fit(at, [1.0, 1.0 / constants.UNSEEN])

    def _fit_exact(self, at: Point) -> Steps[None]:
        """Look at an exact function."""
        self._looks.clear()
        # So far away the curvature is measured with a small share of the error that it has at ε.
        yield from self._fit(at, [1.0, 1.0 / constants.SMALL])
        if len(self._looks) > 1 and not self._told(_reach(at)):
            yield from self._exact(at)

    def _measure(self, at: Point) -> Steps[float]:
        """Look as if f were exact; return the noise, measured only if something hints at it."""
        distances, changes = yield from self._fit(at, [1.0, 1.0 / constants.SMALL, constants.STRIDE])
        farthest, change = self._looks[-1]
        if ROOT * abs(change) / farthest > abs(at.value) > 0.0:
            # |f| is next to nothing beside how it would change over one scale.
            self._differences.values.enlarge(abs(change) / farthest)
        rounding = self._differences.rounding
        found = [change.ahead for change in changes]
        if max(map(abs, found)) <= constants.TRUST**2 * rounding or 0.0 in found:
            return (yield from self._faint(at))
        return 0.0 if len(distances) < 3 else (yield from self._told_apart(at, found))

    def _told_apart(self, at: Point, found: list[float]) -> Steps[float]:
        """Return the noise, given three changes of f: what is off a parabola may be rounding, or a jump."""
        step = self._step(at)
        if step and self._off_parabola(0.0) <= step:
            self._coarse = True
            return step / math.sqrt(12.0)
        if self._on_parabola(0.0):
            yield from self._exact(at)
            return 0.0
        if found[0] == found[2]:
            # A step right here, and nothing beside it: floor(x) at a whole number.
            self._coarse = yield from self._same_again(at)
            return abs(found[0]) / math.sqrt(12.0)
        if (yield from self._absorbed(at)):
            return 0.0
        if abs(found[2] - found[0]) < 0.5 * abs(found[0]) and (yield from self._jumps(at)):
            yield from self._exact(at)
            return 0.0
        return (yield from self._level(at))

    def _step(self, at: Point) -> float:
        """Return the step of f if all values so far were rounded to few digits; 0 if they were not."""
        values = np.array([at.value, *self._seen])
        return max(quantum(values), self._differences.values.printed(values))

    def _off_parabola(self, jump: float) -> float:
        """Return the error of f that would put the second look off the parabola through first and last.

        What rounding leaves of the slope, at the first, is multiplied on the way to the second.
        """
        (near, one), (middle, two), (far, three) = self._looks[-3:]
        one, two, three = one - jump, two - jump, three - jump
        curvature = 2.0 * (three / far - one / near) / (far - near)
        left = two - middle * (one / near - 0.5 * near * curvature) - 0.5 * middle**2 * curvature
        return abs(left) / (1.0 + middle / near)

    def _on_parabola(self, jump: float) -> bool:
        """Whether the second look lies on the parabola through the first and the last, up to rounding.

        What is left beyond what was assumed of rounding, and is not too much for it, shows how f is rounded
        indeed.
        """
        shown = self._off_parabola(jump)
        if shown > constants.TRUST * self._differences.rounding:
            return False
        if shown > self._differences.rounding:
            self._differences.values.round(shown / math.sqrt(2.0))
        return True

    def _absorbed(self, at: Point) -> Steps[bool]:
        """Return whether f is a sum in which small terms are lost beside large ones, where all are small.

        A plain sum adds each term to what has come together so far: what is below the last place of that is
        rounded away. So f is a parabola near by, too, which bends by less than the one farther away. The
        sum of so many terms is rounded by more than one of them, too: as near by as that shows.
        """
        looks, differences = list(self._looks), self._differences
        (near, one), (middle, two), (far, three) = looks
        whole = 2.0 * (three / far - two / middle) / (far - middle)
        missing = one - near * (two / middle + 0.5 * (near - middle) * whole)
        if abs(missing) > 0.5 * near**2 * abs(whole) + constants.TRUST * differences.rounding:
            return False  # more than there is to be lost
        wide = math.sqrt(math.sqrt(middle / near))
        yield from self._ask(at, [near / wide, wide * near])
        self._looks = self._looks[:3]
        rounding = self._off_parabola(0.0)
        plain = rounding <= differences.rounding
        rounding = max(rounding, differences.rounding)
        self._looks, (_, (here, first), (there, second), *_) = looks, self._looks
        curvature = 2.0 * (second / there - first / here) / (there - here)
        uncertain = 4.0 * rounding / (here * there)
        lost = abs(whole) - abs(curvature)
        straight = uncertain < (1.0 if plain else constants.CLEARLY) * lost
        # Nothing but rounding bends f otherwise near by, if it bends alike over a far longer way beyond.
        beyond = 2.0 * (two / middle - (first / here - 0.5 * here * curvature)) / middle
        alike = abs(beyond - whole) <= constants.UNSEEN * abs(whole)
        if not (straight and alike and lost < abs(whole)):
            return False
        if not plain:
            differences.values.round(rounding / math.sqrt(2.0))
        self._take(here, first / here, curvature, uncertain)
        differences.curvatures.absorb(lost / self._along.squares, there)
        return True

    def _exact(self, at: Point) -> Steps[None]:
        """Fit the looks, and look farther as long as they show neither how f bends nor that it does not."""
        reach = min(_reach(at), self._along.room.ahead)
        self._refit()
        while not self._told(reach) and self._looks[-1][0] < reach:
            yield from self._ask(at, [min(constants.STRIDE * self._looks[-1][0], reach)])
            if len(self._looks) > 2 and not self._on_parabola(self.jump):
                # It bends by more than its curvature: that is told, roughly.
                (_, _), (middle, two), (far, three) = self._looks[-3:]
                bend = (three - self.jump - (two - self.jump) * far / middle) / far**2
                bend /= max(self._along.squares, TINY)
                curvatures = self._differences.curvatures
                curvatures.assume(max(curvatures.mean, abs(bend)), bend)
                return
            self._refit()

    def _told(self, reach: float) -> bool:
        """Whether the last fit shows the curvature, or that f bends less than it falls up to `reach`."""
        curvature, uncertain = self._curvature
        return abs(curvature) > uncertain or uncertain * reach <= abs(self.value)

    def _jumps(self, at: Point) -> Steps[bool]:
        """Return whether f jumps at the point itself: beside it, one more look lies on a parabola."""
        (near, one), (middle, two), (far, three) = self._looks[-3:]
        between = math.sqrt(near * middle)
        yield from self._ask(at, [between])
        slopes = (two - one) / (middle - near), (three - two) / (far - middle)
        curvature = 2.0 * (slopes[1] - slopes[0]) / (far - near)

        def parabola(distance: float) -> float:
            return one + (distance - near) * (slopes[0] + 0.5 * (distance - middle) * curvature)

        (changed,) = (change for distance, change in self._looks if distance == between)
        self._looks = [look for look in self._looks if look[0] != between]
        if abs(changed - parabola(between)) > constants.TRUST * self._differences.rounding:
            return False
        self.jump = parabola(0.0)
        return True

    def _faint(self, at: Point) -> Steps[float]:
        """Look farther, because f has hardly changed, if at all; return its noise, 0 if it seems smooth."""
        reach = min(_reach(at), self._along.room.ahead)
        rounding = self._differences.rounding
        while abs(self._looks[-1][1]) <= constants.TRUST**2 * rounding and self._looks[-1][0] < reach:
            yield from self._ask(at, [min(constants.STRIDE * self._looks[-1][0], reach)])
        farthest, change = self._looks[-1]
        if abs(change) <= constants.TRUST**2 * rounding:
            self.flat = self.flat or abs(change) <= constants.TRUST * rounding
            self._refit()
            return 0.0
        # A parabola through the farthest falls off with the square of the distance, at most.
        missing = [there for there, moved in self._looks if moved == 0.0]
        if not any(
            abs(change) * (there / farthest) ** 2 > constants.TRUST**2 * rounding for there in missing
        ):
            if len(self._looks) < 3 or self._on_parabola(0.0):
                yield from self._exact(at)
                return 0.0
            return (yield from self._level(at, first=farthest * math.sqrt(self._along.squares) / POINTS))
        beyond = max(_BEYOND) * farthest <= reach
        yield from self._ask(at, [farthest * share if beyond else farthest / share for share in _BEYOND])
        step = self._step(at) or grid(np.array([at.value, *self._seen]))
        step = step or min(abs(moved) for _, moved in self._looks if moved)
        self._coarse = yield from self._same_again(at)
        return step / math.sqrt(12.0)

    def _same_again(self, at: Point) -> Steps[bool]:
        """Return whether f is the same when asked again: counts of something random are coarse, but noise."""
        again = yield Ask.at(at.x, Role.AGAIN, 2)
        return bool((again == at.value).all())

    def _level(self, at: Point, first: float = 0.0) -> Steps[float]:
        """Return the standard deviation of the noise, as far as it exceeds rounding."""
        norm = math.sqrt(self._along.squares)
        line = self._along.move
        line = Few(line.indices, line.values / norm) if isinstance(line, Few) else line.times(1.0 / norm)
        measured = yield from measure_noise(at, line, self._along.room.ahead * norm, first)
        return measured.level if measured.level > self._differences.rounding else 0.0

    def _fit(self, at: Point, multiples: Sequence[float]) -> Steps[tuple[list[float], list[Change]]]:
        """Ask at multiples of the best ε on one side, and fit a parabola through the first two."""
        differences = self._differences
        near = differences.across(self._along.squares, 0.0, room=self._along.room).eps
        # Where bounds are so near that distances would be the same, fewer are asked.
        distances = list(
            dict.fromkeys(min(multiple * near, self._along.room.ahead) for multiple in multiples)
        )
        changes = yield from self._ask(at, distances)
        slopes = [change.ahead / distance for change, distance in zip(changes, distances, strict=True)]
        curvature, uncertain = 0.0, 4.0 * differences.rounding / near**2
        if len(distances) > 1:
            curvature = 2.0 * (slopes[1] - slopes[0]) / (distances[1] - near)
            uncertain = 4.0 * differences.rounding / (near * distances[1])
        self._take(near, slopes[0], curvature, uncertain)
        return distances, changes

    def _refit(self) -> None:
        """Fit the parabola through the farthest two, once a nearer one has shown that it is one so far.

        Rounding weighs less there: as much less in the slope as the middle is farther than the nearest.
        """
        if len(self._looks) < 2:
            return
        (middle, two), (far, three) = self._looks[-2:]
        two, three = two - self.jump, three - self.jump
        curvature = 2.0 * (three / far - two / middle) / (far - middle)
        self._take(middle, two / middle, curvature, 4.0 * self._differences.rounding / (middle * far))

    def _take(self, near: float, quotient: float, curvature: float, uncertain: float) -> None:
        """Take the slope from the nearest difference quotient, less what curvature has added to it."""
        differences = self._differences
        # The curvature of the whole set, or its bound when none shows.
        self._curvature = curvature, uncertain
        squares = max(self._along.squares, TINY)
        shown = curvature / squares if abs(curvature) > uncertain else 0.0
        differences.curvatures.assume(max(abs(curvature), uncertain) / squares, shown)
        self.value = quotient - 0.5 * near * curvature
        self.error = differences.rounding / near + 0.5 * near * uncertain

    def _regular(self, at: Point) -> Steps[bool]:
        """Look to both sides, as far as f bends regularly; return whether it does at some distance."""
        differences = self._differences
        pairs = Pairs(differences.noise)
        longest = math.inf
        # What loud noise leaves to be seen is far away.
        loud = differences.noise >= constants.PRECISE * differences.scale
        far = min(1.0 if loud else differences.length(self._along.squares), self._along.room.both)
        if far <= (0.0 if loud else differences.single(self._along.squares, 0.0)):
            return False  # a bound is too near
        for _ in range(1 + constants.FEW):
            (change,) = yield from self._ask(at, [far], Stencil.CHECKED)
            bend = max(abs(change.even), differences.noise) / differences.scale
            if bend > 1.0 / constants.CLEARLY:
                longest = far
                far *= math.sqrt(0.5 / bend)
            elif pairs.regular(change):
                bent = 2.0 * bend * differences.scale / far**2
                differences.curvatures.assume(bent / max(self._along.squares, TINY))
                if loud or pairs.shows_kinks(change):
                    differences.look_to_both_sides(pairs)
                    self.value, self.error = pairs.begin(far, change)
                farthest = min(far / NEAR**4, self._along.room.both)
                further = min(differences.length(self._along.squares), farthest)
                worth = 2.0 if differences.pairs is not None else 1.0 + constants.UNSEEN
                if further < worth * far or further >= longest:
                    break
                far = further
            elif differences.pairs is not None:
                break
            else:
                longest = far
                far *= NEAR**2
        return differences.pairs is not None

    def _ask(
        self, at: Point, distances: Sequence[float], stencil: Stencil = Stencil.FORWARD
    ) -> Steps[list[Change]]:
        """Ask all coordinates at some distances."""
        changes: list[Change] = []

        def absorb(change: Change) -> None:
            self._looks.append((distances[len(changes)], change.ahead))
            changes.append(change)
            self._seen.append(at.value + change.ahead)
            self.flat = self.flat and change.ahead == 0.0

        requests = [
            Request(self._along.move.times(distance), Role.PROBE, absorb, stencil) for distance in distances
        ]
        yield from answered(at, requests)
        self._looks.sort()
        return changes


def _reach(at: Point) -> float:
    """Return how far a first look goes at most: one scale, or the way to x = 0 where that is longer."""
    return 1.0 + largest(at.x)
