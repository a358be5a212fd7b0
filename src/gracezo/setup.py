"""From the arguments of an entry point to a run: checked, with its method made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gracezo import bounds as box
from gracezo import checks
from gracezo.core.asks import Point
from gracezo.core.box import Box
from gracezo.core.failures import OnFailure
from gracezo.core.keys import Key, SeedLike, draw_seed
from gracezo.core.limits import Limits
from gracezo.core.method import Method, Problem
from gracezo.core.names import Names
from gracezo.core.outputs import Outputs, ReadsOutputs
from gracezo.core.run import Run
from gracezo.core.steps import whole_run
from gracezo.core.types import FloatArray
from gracezo.methods import catalog


@dataclass(frozen=True)
class Setup:
    """A checked problem with its method, ready to run."""

    x0: FloatArray
    f0: float | FloatArray | None
    method: Method
    limits: Limits
    seed: int
    on_failure: OnFailure
    bounds: Box | None
    random: bool
    names: Names
    arguments: dict[str, Any]  # what the path of the run depends on beside x0, as keywords of `checked`
    defaults: dict[str, Any]  # the options of the method that were not given

    @classmethod
    def checked(
        cls,
        x0: npt.ArrayLike,
        method: str,
        sparsity: int | None,
        f0: Any,
        limits: Limits,
        seed: SeedLike | None,
        options: Mapping[str, Any] | None,
        *,
        rng: SeedLike | None = None,
        bounds: object = None,
        support: npt.ArrayLike | None = None,
        known: object = None,
        noise: object = None,
        names: object = None,
        scale: object = None,
        tol: object = None,
        random: bool = False,
        batch: int = 1,
        on_failure: object = "raise",
    ) -> Setup:
        """Return a run's setup, or say what is wrong with the arguments."""
        start = checks.point("x0", x0, names)
        called = checks.names(names, x0, start.shape)
        chosen = checks.seed(seed, rng)
        problem = Problem(
            start.size,
            checks.sparsity(sparsity, start.size),
            checks.batch(batch),
            checks.support(support, start.size),
            checks.known(known, start.shape),
            bounds=box.checked(bounds, start, called),
            noise=checks.noise(noise),
            random=random,
            scale=checks.scale(scale, start.shape),
            tol=checks.tol(tol),
        )
        given = checks.options(options)
        made = catalog.make(method, problem, given)
        defaults = {name: value for name, value in catalog.constants(method).items() if name not in given}
        arguments: dict[str, Any] = {
            "method": method,
            "sparsity": sparsity,
            "f0": f0,
            "seed": chosen,
            "options": defaults | given,
            "support": problem.support,
            "known": problem.known,
            "batch": problem.batch,
        }
        rule = checks.on_failure(on_failure)
        if rule != OnFailure():  # journals older than the rule do not know it
            arguments["on_failure"] = (rule.action, rule.limit)
        if problem.bounds is not None:
            arguments["bounds"] = problem.bounds.as_json()
        if problem.noise is not None:
            arguments["noise"] = problem.noise
        if problem.scale is not None:
            sizes = problem.scale
            arguments["scale"] = float(sizes[0]) if (sizes == sizes[0]).all() else sizes
        if problem.tol is not None:
            arguments["tol"] = problem.tol
        value: float | FloatArray | None
        if isinstance(made, ReadsOutputs):
            value = checks.outputs("f0", f0)
        else:
            value = _value_at(start.ravel(), checks.number("f0", f0), problem)
        drawn = draw_seed() if chosen is None else chosen
        return cls(
            start, value, made, limits, drawn, rule, problem.bounds, random, called, arguments, defaults
        )

    @property
    def many_outputs(self) -> bool:
        """Whether the method is one for functions that answer with a vector."""
        return isinstance(self.method, ReadsOutputs)

    @property
    def sample(self) -> int | None:
        """The seed that the function gets, if it takes one: drawn from that of the run."""
        if not self.random:
            return None
        return int(np.random.SeedSequence(self.seed).generate_state(1)[0])

    def run(
        self,
        on_move: Callable[[Run, Point], None] | None = None,
        elapsed: Callable[[], float] | None = None,
    ) -> Run:
        """Return a run at its beginning; the parameters are those of `Run`."""
        steps = whole_run(self.method, self.x0.ravel(), self.f0, Key(self.seed), self.bounds)
        return Run(
            steps,
            self.x0,
            self.limits,
            self.seed,
            on_move,
            elapsed,
            self.on_failure,
            self.bounds,
            self.sample,
            self.names,
            self._outputs(),
        )

    def _outputs(self) -> Outputs | None:
        """Return what keeps the answers, if they are vectors."""
        if not isinstance(self.method, ReadsOutputs):
            return None
        return Outputs(self.method, None if self.f0 is None else np.size(self.f0))


def _value_at(x0: FloatArray, f0: float | None, problem: Problem) -> float | None:
    """Return f(x0) when the user has given it, by itself or among the known points."""
    if f0 is None and problem.known is not None:
        points, values = problem.known
        same = np.flatnonzero((points == x0).all(axis=1))
        if len(same):
            return float(values[same[0]])
    return f0
