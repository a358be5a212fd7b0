"""The user's function, guarded: what comes out is a finite number or a failure."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gracezo.core.errors import EvaluationFailure
from gracezo.core.run import Outcome
from gracezo.core.types import FloatArray
from gracezo.core.values import as_outputs, as_rows_of_outputs, as_value, as_values, raised


@dataclass(frozen=True)
class Objective:
    """How to call the user's function.

    Parameters
    ----------
    fun
        The function.
    args
        What it takes after the point.
    shape
        The shape of a point.
    many_outputs
        Whether it answers with a vector.
    """

    fun: Callable[..., Any]
    args: tuple[Any, ...]
    shape: tuple[int, ...]
    many_outputs: bool = False

    def one(self, x: FloatArray, seed: int | None = None) -> Outcome:
        """Evaluate one flat point, with a seed if the function takes one."""
        try:
            if seed is None:
                raw = self.fun(x.reshape(self.shape), *self.args)
            else:
                raw = self.fun(x.reshape(self.shape), *self.args, seed=seed)
        except EvaluationFailure as told:  # an objective of ours, which says itself what went wrong
            return told
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # whatever else the user's code raises is a failed evaluation
            return raised(error)
        return as_outputs(raw) if self.many_outputs else as_value(raw)

    def many(self, points: FloatArray, seeds: list[int] | None = None) -> list[Outcome]:
        """Evaluate the rows of a matrix in one call, with an array of seeds if the function takes one."""
        count = len(points)
        given = {} if seeds is None else {"seed": np.array(seeds)}
        try:
            raw = self.fun(points.reshape(count, *self.shape), *self.args, **given)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # whatever else the user's code raises is a failed evaluation
            return [raised(error)] * count
        return [*(as_rows_of_outputs if self.many_outputs else as_values)(raw, count)]


def takes_seed(fun: Callable[..., Any]) -> bool:
    """Whether a function asks for a seed: by a keyword of that name that it cannot be called without.

    >>> def simulate(x, *, seed): ...
    >>> takes_seed(simulate), takes_seed(lambda x, seed=0: 0.0)
    (True, False)
    """
    try:
        seed = inspect.signature(fun).parameters.get("seed")
    except (TypeError, ValueError):  # a built-in does not say
        return False
    return seed is not None and seed.kind is seed.KEYWORD_ONLY and seed.default is seed.empty
