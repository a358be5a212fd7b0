"""A cell of a table: what its runs say, and whether that agrees with the paper."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gracezo.experiments import paper
from gracezo.experiments.runs import Record
from gracezo.experiments.settings import Plan


@dataclass(frozen=True)
class Estimate:
    """A mean and its standard error, NaN for a single run."""

    mean: float
    se: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Estimate:
        """Return the mean of independent values.

        Examples
        --------
        >>> Estimate.of([1.0, 2.0, 3.0])
        Estimate(mean=2.0, se=0.5773502691896258)
        """
        se = float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.nan
        return cls(float(np.mean(values)), se)


@dataclass(frozen=True)
class Cell:
    """A finished plan.

    Parameters
    ----------
    plan, records
        What was to be run, and what came of it.
    comparable
        Whether it was run as long as the paper's.
    found_step_size
        The step size, if a trial has found it.
    """

    plan: Plan
    records: tuple[Record, ...]
    comparable: bool = True
    found_step_size: float | None = None

    @property
    def measured(self) -> Estimate:
        """The best normalised objective over the runs."""
        return Estimate.of([record.best for record in self.records])

    @property
    def queries(self) -> float:
        """The mean number of queries of a run."""
        return float(np.mean([record.nfev for record in self.records]))

    @property
    def paper_queries(self) -> float:
        """The mean number of queries of the same steps, counted as the paper does."""
        a_step = paper.PAPER_QUERIES_A_STEP.get(self.plan.method)
        if a_step is None:
            return self.queries
        return float(np.mean([1 + a_step * record.nit for record in self.records]))

    @property
    def judged(self) -> bool:
        """Whether there is something to compare: a figure of the paper, and an error of ours."""
        return self.comparable and self.plan.printed is not None and not math.isnan(self.measured.se)

    @property
    def differs(self) -> bool:
        """Whether the paper's figure is more than 3 combined standard errors away.

        Where the paper prints no error, ours stands for both, and its rounding is allowed for.
        """
        printed, ours = self.plan.printed, self.measured
        if printed is None or not self.judged:
            return False
        gap = abs(ours.mean - printed.mean)
        if printed.se is None:
            return gap - 0.5 * 0.1**printed.digits > 3 * math.sqrt(2) * ours.se
        return gap > 3 * math.hypot(ours.se, printed.se)

    @property
    def ratio(self) -> float | None:
        """Our figure over the paper's, if that has one."""
        return None if self.plan.printed is None else self.measured.mean / self.plan.printed.mean

    @property
    def at_published_end(self) -> Estimate | None:
        """The measure at the step where the published run ended, if that was before our last one."""
        steps = paper.PUBLISHED_STEPS.get((self.plan.function, self.plan.method))
        if steps is None or any(record.nit <= steps for record in self.records):
            return None
        return Estimate.of([record.best_within(steps) for record in self.records])


def better_than_grace(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells that beat GraCe on their function by more than 2 combined standard errors."""
    grace = {cell.plan.function: cell.measured for cell in cells if cell.plan.method == "grace"}
    return [
        cell
        for cell in cells
        if (reference := grace.get(cell.plan.function)) is not None
        and reference.mean - cell.measured.mean > 2 * math.hypot(reference.se, cell.measured.se)
    ]
