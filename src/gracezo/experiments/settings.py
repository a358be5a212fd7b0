"""What a method is run with on a function: from the paper, from the user, or found by a trial.

For one cell of a table, the later ones winning:

1. the further options of the runs behind the paper's figures;
2. the paper's η, q and T for that function and method, if it has them;
3. what the user says for the method, then for the method on that function;
4. if η is still open and the method has an option `step_size`: the best of a trial.

A cell that the paper has runs for its T steps; every other one for a number of queries.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gracezo.core.method import Problem
from gracezo.experiments import paper, trial
from gracezo.experiments.fingerprint import foreign_code
from gracezo.experiments.runs import Job, make_function
from gracezo.methods import catalog

DEFAULT_BUDGET = 6000


@dataclass(frozen=True)
class Override:
    """A setting of the user's: for one method, on all functions or on one."""

    function: str | None
    method: str
    option: str
    value: Any

    @classmethod
    def parse(cls, text: str) -> Override:
        """Read ``method.option=value`` or ``function:method.option=value``.

        Examples
        --------
        >>> Override.parse("distance:grace.step_size=0.2")
        Override(function='distance', method='grace', option='step_size', value=0.2)
        >>> Override.parse("grace.variant=printed").value
        'printed'
        """
        left, equals, value = text.partition("=")
        function, colon, rest = left.rpartition(":")
        method, _, option = rest.rpartition(".")
        if not (equals and method and option) or (colon and not function):
            raise ValueError(
                f"setting {text!r} is not of the form method.option=value or function:method.option=value"
            )
        return cls(function or None, method, option, _value(value))


def _value(text: str) -> Any:
    """Return a number, a truth value, None or a list as Python writes it; anything else is a word."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return value if value is None or isinstance(value, (bool, int, float, str, list)) else text


@dataclass(frozen=True)
class Plan:
    """One cell of a table: a method on some instances of a function, and what the paper prints for it."""

    function: str
    method: str
    instances: range
    printed: paper.Printed | None = None
    sparsity: int | None = None


@dataclass(frozen=True)
class Settings:
    """The settings of one call of the runner.

    Parameters
    ----------
    overrides
        What the user says.
    budget
        The queries of cells that the paper does not have; by default the paper's on its own
        functions, 6,000 elsewhere.
    shrink
        Steps and queries are divided by it, for a quick look; a trial is then a short look at every
        third step size.
    imports
        The user's modules that register methods and functions.
    """

    overrides: Sequence[Override] = ()
    budget: int | None = None
    shrink: int = 1
    imports: Sequence[str] = ()

    def jobs(self, plan: Plan, get: trial.Get) -> list[Job]:
        """Return the runs that a plan needs next, as far as the finished ones tell.

        While the step size is open these are trials. When all that is returned is finished, it is
        the cell.
        """
        options = self.options(plan.function, plan.method)
        if self.on_trial(plan):
            thorough = self.shrink == 1
            found = trial.step_size(
                lambda size, queries: self._job(
                    plan, trial.INSTANCE, {**options, "step_size": size}, queries
                ),
                paper.STEP_GRID if thorough else paper.STEP_GRID[::3],
                self.queries(plan.function),
                get,
                thorough=thorough,
            )
            if isinstance(found, list):
                return found
            options["step_size"] = found
        return [self._job(plan, instance, options) for instance in plan.instances]

    def on_trial(self, plan: Plan) -> bool:
        """Whether the step size of a plan is found by a trial."""
        has_one = "step_size" in catalog.option_defaults(catalog.factory(plan.method))
        return has_one and "step_size" not in self.options(plan.function, plan.method)

    def check(self, plan: Plan) -> None:
        """Raise a ValueError or TypeError if the method refuses its settings; no query is spent."""
        function = make_function(plan.function, plan.instances[0])
        problem = Problem(function.d, plan.sparsity or function.s)
        catalog.make(plan.method, problem, self.options(plan.function, plan.method))

    def options(self, function: str, method: str) -> dict[str, Any]:
        """Return the options of a method on a function; without `step_size` if that is open."""
        options = dict(paper.OPTIONS.get((function, method), {}))
        row = self.row(function, method)
        if row is not None and row.queries is not None:
            options["queries"] = row.queries
        if row is not None and row.step_size is not None:
            options["step_size"] = row.step_size
        for where in (None, function):
            options |= {
                o.option: o.value for o in self.overrides if (o.function, o.method) == (where, method)
            }
        return options

    def row(self, function: str, method: str) -> paper.Setting | None:
        """Return the row of the paper's hyperparameters that holds for a method, if there is one."""
        return paper.SETTINGS.get(function, {}).get(paper.LIKE.get(method, method))

    def queries(self, function: str) -> int:
        """Return the budget on a function, of methods that do not run for the paper's T steps."""
        return max(2, (self.budget or paper.BUDGETS.get(function, DEFAULT_BUDGET)) // self.shrink)

    def weight(self, job: Job) -> float:
        """Return about how many queries a run takes."""
        return job.max_queries or self.queries(job.function)

    def _job(self, plan: Plan, instance: int, options: dict[str, Any], queries: int | None = None) -> Job:
        row = self.row(plan.function, plan.method)
        if queries is None and row is not None and row.steps is not None:
            stop = {"max_steps": max(1, row.steps // self.shrink)}
        else:
            stop = {"max_queries": queries or self.queries(plan.function)}
        return Job(
            function=plan.function,
            method=plan.method,
            instance=instance,
            options=options,
            sparsity=plan.sparsity,
            code=foreign_code(plan.method, plan.function, self.imports),
            **stop,
        )
