"""What a search for columns has found."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace

import numpy as np

from gracezo.core.result import GradientEstimate
from gracezo.core.types import FloatArray, IntArray
from gracezo.vectors.accuracy import Accuracy
from gracezo.vectors.space import Space

_MUCH = 0.01  # of the squared answers
_CLEAR = 3.0  # times its error: a slope that is no error


class End(enum.Enum):
    """How a search has ended."""

    COMPLETE = "what is left cannot be told from errors and a dense background"
    MISSED = "what is left is more than errors, and nothing of it can be told apart"
    GIVEN_UP = "in many queries nothing was found"
    SPENT = "the queries had come to their end"
    KINKED = "the outputs have kinks at the point"
    DENSE = "so many coordinates answer that columns cannot be told apart"


@dataclass(frozen=True, eq=False)
class Columns:
    """What a search has found.

    Attributes
    ----------
    indices : ndarray of int
        The coordinates, the column of the largest effect first.
    values, errors : ndarray
        The columns, m × k, and their standard errors.
    freedom : int
        The degrees of freedom of the errors; 0 where they rest on the first two queries.
    residual : float
        The share of the squared answers to the probes of the whole space that no column explains.
    background : float
        Root mean square of a slope outside the columns.
    end : End
        How the search has ended.
    accuracy : Accuracy
        The distance of the probes and their errors.
    space, probes, answers
        The probes of the whole space, a column of answers each: directions whose slopes are known.
    """

    indices: IntArray
    values: FloatArray
    errors: FloatArray
    freedom: int
    residual: float
    background: float
    end: End
    accuracy: Accuracy
    space: Space
    probes: IntArray
    answers: FloatArray

    @property
    def complete(self) -> bool:
        """Whether nothing else can be told."""
        return self.end is End.COMPLETE

    @property
    def missing(self) -> bool:
        """Whether it was searched to no end, and much of the answers is not explained: nor by noise."""
        to_no_end = self.end in (End.MISSED, End.GIVEN_UP, End.KINKED)
        return to_no_end and self.residual > _MUCH and not self.accuracy.noisy

    @property
    def dense(self) -> bool:
        """Whether no columns can be told apart."""
        return self.end is End.DENSE

    def extended(self, probes: IntArray, answers: FloatArray) -> Columns:
        """Return the same with the answers to further probes of the whole space."""
        return replace(
            self,
            probes=np.append(self.probes, probes),
            answers=np.column_stack([self.answers, answers]),
        )

    @classmethod
    def of_gradient(
        cls,
        gradient: GradientEstimate,
        accuracy: Accuracy,
        space: Space,
        probes: IntArray,
        answers: FloatArray,
    ) -> Columns:
        """Return the columns of a single output, from its gradient."""
        order = clear(gradient)
        values = gradient.values[None, order]
        errors = np.nan_to_num(gradient.errors[None, order])
        return cls.measured(gradient.indices[order], values, errors, accuracy, space, probes, answers)

    @classmethod
    def measured(
        cls,
        indices: IntArray,
        values: FloatArray,
        errors: FloatArray,
        accuracy: Accuracy,
        space: Space,
        probes: IntArray,
        answers: FloatArray,
    ) -> Columns:
        """Return columns that were measured one by one."""
        return cls(indices, values, errors, 0, 0.0, 0.0, End.COMPLETE, accuracy, space, probes, answers)


def clear(gradient: GradientEstimate) -> IntArray:
    """Return the places of the slopes that are no errors, the largest first.

    Where each was measured alone, those of rounded values that are 0 come out as errors, not as 0.
    """
    errors = np.nan_to_num(gradient.errors) if len(gradient.errors) else np.zeros(len(gradient.values))
    order = np.argsort(-np.abs(gradient.values), kind="stable")
    return order[np.abs(gradient.values[order]) > _CLEAR * errors[order]]
