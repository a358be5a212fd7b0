"""Who looks at a point: by small steps as long as these tell something, by long ones from then on.

Derivatives tell nothing where f has steps or plateaus, and little where it has noise or few digits. Where
that is seen in a box, looks go up to half as far as the box is wide from then on (`trajectories.py`); until
then they are those of `looks.py`.

A point may be hard to read by small steps: much is spent, or every coordinate would have to be measured.
Another point may not be. So a point has a limit, as much as it takes to follow `_FOLLOWED` coordinates down
by halves, which is doubled when it was not enough. There is none, and all is measured where nothing stands
out, once the points that were not read have cost what plain differences may be exceeded by.
"""

from __future__ import annotations

import math

import numpy as np

from gracezo.core.asks import Ask, OutOfQueries, Point, Steps
from gracezo.core.keys import Key
from gracezo.core.method import Problem
from gracezo.core.steps import relayed
from gracezo.core.subspace import Subspace
from gracezo.core.types import FloatArray, IntArray
from gracezo.methods.auto import constants
from gracezo.sensitivity.looks import ManyOutputs, OneOutput
from gracezo.sensitivity.pairs import Pairs
from gracezo.sensitivity.table import Effects
from gracezo.sensitivity.trajectories import Trajectories
from gracezo.vectors.estimate import outputs_of

_FOLLOWED = 6
_LEAST = 3  # points that a screening takes, where their number is not given
_NONE: IntArray = np.zeros(0, np.int64)


class Observer:
    """Looks at one point after another, and remembers what was learned of f.

    Parameters
    ----------
    problem
        What is known.
    widths
        What an effect is counted over.
    free
        The coordinates that can move; they are named by their places in it.
    leave
        Share of the squared effects that is not worth a query.
    points
        How many points there will be; None: as many as it takes.
    """

    def __init__(
        self, problem: Problem, widths: FloatArray, free: IntArray, leave: float, points: int | None
    ) -> None:
        self._problem = problem
        self._widths, self._free = widths, free
        self._leave = leave
        self._count = points
        self._looks: OneOutput | ManyOutputs | None = None
        self._far: Trajectories | None = None  # from when small steps told nothing
        self._unread: list[int] = []  # what was spent at points that were not read

    def pairs(self) -> Pairs:
        """Return what looks for pairs that act together, with what is known of noise."""
        noise = np.zeros(1)
        if self._far is not None:
            noise = self._far.deviation
        elif self._looks is not None:
            noise = self._looks.noise
        return Pairs(noise, self._leave)

    def look(self, at: Point, key: Key, known: IntArray) -> Steps[Effects]:
        """Return the effects at a point: of the coordinates known, and of others that show some."""
        seen = None
        if self._far is None and not (self._wide and self._problem.noise):
            seen = yield from self._near(at, key, known)
        if seen is None:
            if self._far is None:
                self._far = self._trajectories(at)
            seen = yield from self._far.look(at, key.child(3), known)
        return seen.plain(known, 0.0 if self._count == 1 else self._leave)

    def measure(self, at: Point, coordinates: IntArray, key: Key) -> Steps[Effects]:
        """Return the effects of some coordinates alone, at a point that was looked at before."""
        if self._far is not None:
            return (yield from self._far.measure(at, coordinates, key))
        assert self._looks is not None
        space = self._space(at.x)
        return (yield from space.within(self._looks.measure(space.inward(at), coordinates)))

    def look_far(self, at: Point, key: Key, known: IntArray, seen: Effects) -> Steps[Effects]:
        """Move all that is not known at once, far; return the effects of those that this has shown.

        `seen` is what was seen at the point by small steps.
        """
        nothing = Effects({}, {}, seen.outside, seen.background)
        if self._far is not None or not self._wide or len(known) == len(self._free):
            return nothing
        far = self._trajectories(at)
        found = (yield from far.check(at, key, known, seen)).plain(_NONE)
        if found.values:
            self._far = far
        return found

    # ------------------------------------------------------------ by small steps

    def _near(self, at: Point, key: Key, known: IntArray) -> Steps[Effects | None]:
        """Look at a point by small steps; None if these tell nothing, and longer ones can be made."""
        space = self._space(at.x)
        here = None
        if self._looks is None:
            self._looks = self._made(at, space)
            if self._problem.groups is not None:
                here = yield from self._grouped(self._looks, self._problem.groups, at, key)
        most = self._limit
        steps = self._looks.look(space.inward(at), key, known, here, most and most + len(known))
        seen = yield from self._watched(self._looks, space.within(steps))
        if self._looks.lost:
            self._unread.append(most or 0)
        useless = self._looks.noise.any() or not (len(known) or seen.plain(known).values)
        return None if self._wide and useless else seen

    def _made(self, at: Point, space: Subspace) -> OneOutput | ManyOutputs:
        made = OneOutput if len(outputs_of(at)) == 1 else ManyOutputs
        return made(space.problem(self._problem), self._leave)

    @property
    def _limit(self) -> int | None:
        """Queries that may be spent at a point beside what is known; None where there is no limit."""
        n, points = len(self._free), _LEAST if self._count is None else self._count
        limit = math.ceil(_FOLLOWED * math.log2(n + 1)) << len(self._unread)
        if sum(self._unread) + limit <= constants.LOST * (points - 1) * (n + 1):
            return limit
        return n if self._looks is not None and self._looks.noise.any() and self._count != 1 else None

    def _watched(self, looks: OneOutput | ManyOutputs, steps: Steps[Effects]) -> Steps[Effects]:
        """Run a look by small steps up to where it has met noise, if longer ones can be made."""

        def asked(ask: Ask) -> Steps[FloatArray]:
            if self._wide and looks.noise.any():
                raise OutOfQueries
            return (yield ask)

        return relayed(steps, asked)

    def _grouped(
        self, looks: OneOutput | ManyOutputs, groups: IntArray, at: Point, key: Key
    ) -> Steps[Effects]:
        """Look at groups, each moved as one, and then inside those that matter."""
        labels = np.full(self._problem.d, -1)
        labels[self._free] = np.unique(groups[self._free], return_inverse=True)[1]
        whole = Subspace.grouped(at.x, labels, self._problem.bounds, self._widths)
        seen = (yield from self._inside(looks, whole, at, key.child(1))).plain(_NONE)
        inside = np.sort(whole.inside(np.array(list(seen.values), np.int64)))
        if len(inside) == 0:
            return Effects({}, {}, seen.outside, seen.background)
        places = np.searchsorted(self._free, inside)
        some = Subspace(at.x, np.arange(len(inside) + 1), inside, self._widths[inside], self._problem.bounds)
        found = (yield from self._inside(looks, some, at, key.child(2))).plain(_NONE)
        return Effects(
            {int(places[j]): value for j, value in found.values.items()},
            {int(places[j]): error for j, error in found.errors.items()},
            found.outside,
            found.background,
        )

    def _inside(self, looks: OneOutput | ManyOutputs, space: Subspace, at: Point, key: Key) -> Steps[Effects]:
        """Look at what a subspace reaches; what was learned of f is of use to `looks`."""
        some = self._made(at, space)
        seen = yield from self._watched(some, space.within(some.look(space.inward(at), key, _NONE)))
        looks.go_on_from(some)
        return seen

    def _space(self, x: FloatArray) -> Subspace:
        """Return the coordinates that can move, in units of their widths."""
        free = self._free
        return Subspace(x, np.arange(len(free) + 1), free, self._widths[free], self._problem.bounds)

    # ------------------------------------------------------------ by long steps

    @property
    def _wide(self) -> bool:
        """Whether looks may go as far as half of a box."""
        box = self._problem.bounds
        return self._count != 1 and box is not None and bool(np.isfinite(box.upper - box.lower).all())

    def _trajectories(self, at: Point) -> Trajectories:
        problem, box = self._problem, self._problem.bounds
        assert box is not None
        groups = None if problem.groups is None else problem.groups[self._free]
        noise: float | FloatArray = 0.0 if self._looks is None else self._looks.noise
        told = problem.noise is not None
        sigma = np.broadcast_to(problem.noise if problem.noise is not None else noise, outputs_of(at).shape)
        return Trajectories(box, self._free, groups, self._leave, problem.batch, sigma, told)
