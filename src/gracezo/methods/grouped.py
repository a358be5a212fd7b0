"""A method that moves groups of coordinates first, each as one; then what is inside the groups that matter.

Fields, images and the layers of a model have neighbours that act together: a group of them shows at once what
single coordinates show one by one. But what cancels inside a group does not show, and the best point is not
one of groups. So there are three stages, each from where the one before has ended:

1. the groups, until what they promise is little beside what they have brought;
2. the coordinates inside the groups that have moved, likewise;
3. all coordinates, to the end. What is claimed there is claimed of all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gracezo.core.asks import Moved, Point, Steps
from gracezo.core.keys import Key
from gracezo.core.method import Estimator, HasEstimator, Method, Problem
from gracezo.core.places import LARGE, Place, differing
from gracezo.core.result import Finish, GradientEstimate, Status
from gracezo.core.steps import translated
from gracezo.core.subspace import Subspace
from gracezo.core.types import FloatArray, IntArray

_ENOUGH = 0.1  # of the decrease so far: what a stage may leave to the next one


class Grouped:
    """One run of a method on groups of coordinates, and then inside them.

    Parameters
    ----------
    make
        Makes the method for a problem without groups.
    problem
        What is known, the groups among it.
    """

    def __init__(self, make: Callable[[Problem], Method], problem: Problem) -> None:
        assert problem.groups is not None
        self._make = make
        self._groups = problem.groups
        self._problem = replace(problem, groups=None)

    def run(self, start: Point, key: Key) -> Steps[Finish]:
        """Minimise from `start`."""
        problem, start = replace(self._problem, first=start.value), _among_many(start)
        rough = replace(problem, tol=max(problem.tol or 0.0, _ENOUGH))
        groups = self._space(start.x)
        finish, at = yield from self._stage(groups, rough, start, key.child(1))
        inside = groups.inside(np.unique(self._groups[differing(start.x, at.x)[0]]))
        del groups  # it knows an order of all coordinates
        if finish.status != Status.SPENT and 0 < len(inside) < problem.d:
            some = Subspace.of(at.x, inside, problem.bounds)
            finish, at = yield from self._stage(some, rough, at, key.child(2))
        if finish.status == Status.SPENT:
            return finish
        return (yield from self._make(problem).run(at, key.child(3)))

    # ------------------------------------------------------------ one gradient

    @property
    def estimator(self) -> Estimator:
        """The search alone."""
        return self

    def estimate(self, at: Point, step: int, key: Key) -> Steps[GradientEstimate]:
        """Estimate the derivatives of groups, and then of the coordinates inside those that have some.

        What cancels inside a group shows when all other coordinates are moved, each by its own weight: if
        that answers, there is a search among them, too.
        """
        groups = self._space(at.x)
        seen = yield from groups.within(self._estimate(groups, at, key.child(1)))
        matter = seen.indices[np.abs(seen.values) > np.nan_to_num(seen.errors)]
        inside = np.sort(groups.inside(matter))
        rest = np.setdiff1d(np.arange(self._problem.d), inside)
        found = yield from self._among(inside, at, key.child(2))
        others = yield from self._among(rest, at, key.child(3))
        return _joined([found, others])

    def _among(self, coordinates: IntArray, at: Point, key: Key) -> Steps[GradientEstimate]:
        """Estimate the derivatives of some coordinates."""
        if len(coordinates) == 0:
            return GradientEstimate.nothing(self._problem.d)
        space = Subspace.of(at.x, coordinates, self._problem.bounds)
        return (yield from space.estimated(self._estimate(space, at, key)))

    def _estimate(self, space: Subspace, at: Point, key: Key) -> Steps[GradientEstimate]:
        method = self._make(space.problem(self._problem))
        assert isinstance(method, HasEstimator)
        return method.estimator.estimate(space.inward(at), 1, key)

    # ------------------------------------------------------------ stages

    def _stage(self, space: Subspace, rough: Problem, at: Point, key: Key) -> Steps[tuple[Finish, Point]]:
        """Minimise in a subspace; return how that ended, and where."""
        method = self._make(space.problem(rough))
        reached = at

        def followed(moved: Moved) -> Moved:
            nonlocal reached
            reached = moved.to
            return moved

        finish = yield from translated(space.minimised(method.run(space.inward(at), key)), moved=followed)
        return finish, finish.answer or reached

    def _space(self, x: FloatArray) -> Subspace:
        """Return what groups reach from x, each coordinate moved in proportion to its scale."""
        problem = self._problem
        lengths = problem.scale
        if lengths is None and problem.bounds is not None and not problem.bounds.lean:
            width = problem.bounds.upper - problem.bounds.lower
            if np.isfinite(width).all():
                lengths = np.where(width > 0.0, width, 1.0)
        if lengths is not None:
            lengths = lengths / float(np.exp(np.mean(np.log(lengths))))
        return Subspace.grouped(x, self._groups, problem.bounds, lengths)


def _among_many(at: Point) -> Point:
    """Return a point of very many coordinates as a place, from which nothing of that length is made."""
    return at if len(at.x) < LARGE else replace(at, x=Place.at(at.x).stand_in)


def _joined(parts: list[GradientEstimate]) -> GradientEstimate:
    """Return one estimate of what was estimated on coordinates apart."""
    indices = np.concatenate([part.indices for part in parts])
    order = np.argsort(indices)
    outside = sum(_outside(part) for part in parts)
    inside = sum(part.found**2 for part in parts)
    whole = inside + outside
    return GradientEstimate(
        parts[0].size,
        indices[order],
        np.concatenate([part.values for part in parts])[order],
        np.concatenate([part.errors for part in parts])[order],
        np.concatenate([part.confirmed for part in parts])[order],
        residual=outside / whole if whole > 0.0 else 0.0,
        background=math.sqrt(outside / max(parts[0].size - len(indices), 1)),
        flat=all(part.flat or not len(part.indices) for part in parts) and inside == 0.0,
    )


def _outside(part: GradientEstimate) -> float:
    """Return the squared norm that is outside of what an estimate has found."""
    if part.flat or not len(part.indices) or not part.residual < 1.0:
        return 0.0
    return part.found**2 * part.residual / (1.0 - part.residual)
