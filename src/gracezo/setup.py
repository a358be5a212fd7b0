"""From the arguments of an entry point to a run: checked, with its method made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gracezo import bounds as box
from gracezo import checks, coordinates
from gracezo.core.asks import Point, Steps
from gracezo.core.failures import OnFailure
from gracezo.core.keys import Key, SeedLike, draw_seed
from gracezo.core.limits import Limits
from gracezo.core.method import Method, Problem
from gracezo.core.names import Names
from gracezo.core.outputs import Outputs, reads_outputs
from gracezo.core.places import LARGE, Place, dense, lean
from gracezo.core.result import Finish
from gracezo.core.run import Run
from gracezo.core.steps import whole_run
from gracezo.core.types import FloatArray
from gracezo.journal.function import Parts
from gracezo.journal.identity import Identity
from gracezo.methods import catalog


@dataclass(frozen=True)
class Ground:
    """Where a run begins and by which rules, whatever it is that is asked there."""

    x0: FloatArray
    names: Names
    problem: Problem
    limits: Limits
    seed: int
    on_failure: OnFailure
    seed_given: bool  # or drawn

    @classmethod
    def checked(
        cls,
        x0: npt.ArrayLike,
        *,
        limits: Limits,
        seed: SeedLike | None = None,
        rng: SeedLike | None = None,
        bounds: object = None,
        sparsity: object = None,
        support: npt.ArrayLike | None = None,
        known: object = None,
        noise: object = None,
        names: object = None,
        scale: object = None,
        tol: object = None,
        groups: object = None,
        random: bool = False,
        batch: object = 1,
        on_failure: object = "raise",
        dim: object = None,
        called: str = "x0",
    ) -> Ground:
        """Return where to begin, or say what is wrong with the arguments; `called` is the name of x0."""
        start = coordinates.start(called, x0, dim, names)
        sizes = checks.scale(scale, start.shape)
        given_names = coordinates.names(names, x0, start.shape)
        walls = box.checked(bounds, start, given_names)
        alike = sizes is None or lean(sizes)
        few = walls is not None and walls.holds_some and walls.count < LARGE
        if isinstance(start, Place) and (known is not None or not alike or groups is not None or few):
            start = start.dense()  # there are arrays of that length anyway
        chosen = checks.seed(seed, rng)
        problem = Problem(
            start.size,
            checks.sparsity(sparsity, start.size),
            checks.batch(batch),
            checks.support(support, start.size),
            checks.known(known, start.shape),
            bounds=walls,
            noise=checks.noise(noise),
            random=random,
            scale=sizes,
            tol=checks.tol(tol),
            groups=coordinates.groups(groups, start.shape),
        )
        return cls(
            start,
            given_names,
            problem,
            limits,
            draw_seed() if chosen is None else chosen,
            checks.on_failure(on_failure),
            chosen is not None,
        )

    def start(self, places: bool) -> FloatArray:
        """Return x0 for a method: flat; or a place, if it takes places and many can move, in no groups."""
        problem, x0 = self.problem, self.x0.ravel()
        if not places or problem.groups is not None:
            return dense(x0)
        return x0 if isinstance(x0, Place) or problem.free < LARGE else Place.at(x0).stand_in

    @property
    def sample(self) -> int | None:
        """The seed that the function gets, if it takes one: drawn from that of the run."""
        if not self.problem.random:
            return None
        return int(np.random.SeedSequence(self.seed).generate_state(1)[0])

    def ledger(
        self,
        steps: Steps[Finish],
        outputs: Outputs | None = None,
        on_move: Callable[[Run, Point], None] | None = None,
        elapsed: Callable[[], float] | None = None,
        start: FloatArray | None = None,
    ) -> Run:
        """Return a run of these steps at its beginning; the parameters are those of `Run`."""
        return Run(
            steps,
            self.x0,
            self.limits,
            self.seed,
            on_move,
            elapsed,
            self.on_failure,
            self.problem.bounds,
            self.sample,
            self.names,
            outputs,
            start,
        )


@dataclass(frozen=True)
class Setup:
    """A checked problem with its method, ready to run."""

    ground: Ground
    method: Method
    f0: float | FloatArray | None
    places: bool  # whether the method takes places
    chosen: dict[str, Any]  # the method, its options and f0, as keywords of `checked`
    defaults: dict[str, Any]  # the options of the method that were not given

    @classmethod
    def checked(
        cls,
        x0: npt.ArrayLike,
        *,
        method: str = "auto",
        f0: Any = None,
        options: Mapping[str, Any] | None = None,
        **rest: Any,
    ) -> Setup:
        """Return a run's setup, or say what is wrong with the arguments; the rest are those of `Ground`."""
        ground = Ground.checked(x0, **rest)
        problem = ground.problem
        given = checks.options(options)
        made = catalog.make(method, problem, given)
        defaults = {name: value for name, value in catalog.constants(method).items() if name not in given}
        value: float | FloatArray | None
        if reads_outputs(made):
            value = _outputs_at(ground.x0.ravel(), checks.outputs("f0", f0), problem)
        else:
            value = _value_at(ground.x0.ravel(), checks.number("f0", f0), problem)
        chosen = {"method": method, "f0": f0, "options": defaults | given}
        places = "places" in getattr(catalog.factory(method), "uses", ())
        return cls(ground, made, value, places, chosen, defaults)

    @cached_property
    def start(self) -> FloatArray:
        """Where the method begins."""
        return self.ground.start(self.places)

    @property
    def arguments(self) -> dict[str, Any]:
        """What the path of the run depends on beside x0, as keywords of `checked`."""
        return self.chosen | _path(self.ground)

    @property
    def many_outputs(self) -> bool:
        """Whether the method is one for functions that answer with a vector."""
        return reads_outputs(self.method)

    def identity(self, name: str, parts: Parts | None = None) -> Identity:
        """Return what a journal knows this run by, with the name of the function and digests of its parts."""
        return Identity.of(name, dense(self.ground.x0), self.arguments, parts, self.defaults)

    def recorded(self, seed: int) -> Setup:
        """Return the same with the seed of the recorded run, and x0 written down, as the record has it."""
        return replace(self, ground=replace(self.ground, seed=seed, x0=dense(self.ground.x0)))

    def run(
        self,
        on_move: Callable[[Run, Point], None] | None = None,
        elapsed: Callable[[], float] | None = None,
    ) -> Run:
        """Return a run at its beginning; the parameters are those of `Run`."""
        ground = self.ground
        steps = whole_run(self.method, self.start, self.f0, Key(ground.seed), bounds=ground.problem.bounds)
        return ground.ledger(steps, self._outputs(), on_move, elapsed, self.start)

    def _outputs(self) -> Outputs | None:
        """Return what keeps the answers, if they are vectors."""
        if not reads_outputs(self.method):
            return None
        return Outputs(self.method, None if self.f0 is None else np.size(self.f0))


def _path(ground: Ground) -> dict[str, Any]:
    """Return what the path of a run depends on, as keywords of `Ground.checked`.

    What journals may be older than is there only where it is given.
    """
    problem, rule = ground.problem, ground.on_failure
    path: dict[str, Any] = {
        "sparsity": problem.sparsity,
        "seed": ground.seed if ground.seed_given else None,
        "support": problem.support,
        "known": problem.known,
        "batch": problem.batch,
    }
    if rule != OnFailure():
        path["on_failure"] = (rule.action, rule.limit)
    if problem.bounds is not None:
        path["bounds"] = problem.bounds.as_json()
    if problem.noise is not None:
        path["noise"] = problem.noise
    if problem.scale is not None:
        sizes = problem.scale
        path["scale"] = float(sizes[0]) if lean(sizes) or (sizes == sizes[0]).all() else sizes
    if problem.tol is not None:
        path["tol"] = problem.tol
    if problem.groups is not None:
        path["groups"] = problem.groups
    return path


def _outputs_at(x0: FloatArray, f0: FloatArray | None, problem: Problem) -> FloatArray | None:
    """Return the outputs at x0 when the user has given them, by themselves or among the known points."""
    if problem.known is None:
        return f0
    points, rows = problem.known
    if rows.ndim != 2 or (f0 is not None and rows.shape[1] != len(f0)):
        raise ValueError(
            f"known must have a row of outputs for each point, as many as f0 has; "
            f"given: F of shape {rows.shape}"
        )
    same = np.flatnonzero((points == x0).all(axis=1))
    return rows[same[0]] if f0 is None and len(same) else f0


def _value_at(x0: FloatArray, f0: float | None, problem: Problem) -> float | None:
    """Return f(x0) when the user has given it, by itself or among the known points."""
    if problem.known is not None and problem.known[1].ndim != 1:
        raise ValueError(
            f"known must have one value a point; given: F of shape {problem.known[1].shape}. Functions with "
            f"many outputs are for least_squares"
        )
    if f0 is None and problem.known is not None:
        points, values = problem.known
        same = np.flatnonzero((points == x0).all(axis=1))
        if len(same):
            return float(values[same[0]])
    return f0
