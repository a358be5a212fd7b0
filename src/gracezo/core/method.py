"""What an algorithm is: the contracts of methods, estimators and their factories."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from gracezo.core.asks import Point, Steps
from gracezo.core.box import Box
from gracezo.core.keys import Key
from gracezo.core.result import Finish, GradientEstimate
from gracezo.core.types import FloatArray, IntArray


@dataclass(frozen=True)
class Problem:
    """What is known about a problem before the first query.

    Attributes
    ----------
    d : int
        The number of coordinates.
    sparsity : int or None
        How many coordinates matter at a time (the paper's s), when the user says so.
    batch : int
        How many useful queries one ask may carry.
    support : ndarray of int or None
        Coordinates that the user suspects to matter.
    known : (X, F) or None
        Points, one a row, and their values, already paid for.
    noise : float or None
        The standard deviation of the noise of f; None when it is not known, 0 when f is exact.
    bounds : Box or None
        What no query may leave; None when every coordinate is free.
    scale : ndarray or None
        The typical size of a change of each coordinate, when the user says so.
    tol : float or None
        Share of the decrease so far (of the squared norm, for a gradient) that may be left, when the user
        says so.
    groups : ndarray of int or None
        The group of each coordinate, counted from 0, when the user says which move together.
    first : float or None
        f where the whole run began, if this is a later stage of it: beside that its end is judged.
    places : bool
        Whether points are places (`core/places.py`).
    random : bool
        Whether f takes a seed: then its values are those of one draw, and the answer is for others to judge.
    """

    d: int
    sparsity: int | None = None
    batch: int = 1
    support: IntArray | None = None
    known: tuple[FloatArray, FloatArray] | None = None
    noise: float | None = None
    bounds: Box | None = None
    random: bool = False
    scale: FloatArray | None = None
    tol: float | None = None
    groups: IntArray | None = None
    first: float | None = None
    places: bool = False

    @property
    def free(self) -> int:
        """The number of coordinates that the bounds do not fix."""
        return self.d if self.bounds is None else self.bounds.count


class Method(Protocol):
    """One run of an optimiser: made anew for each run, so it may keep what it learns."""

    def run(self, start: Point, key: Key) -> Steps[Finish]:
        """Minimise from `start`; endless unless there is a reason to finish."""
        ...


class Estimator(Protocol):
    """A gradient estimator: made anew for each run, so it may keep what it learns."""

    def estimate(self, at: Point, step: int, key: Key) -> Steps[GradientEstimate]:
        """Estimate the gradient at a point whose value is known. `step` counts from 1."""
        ...


@runtime_checkable
class HasEstimator(Protocol):
    """A method that can also be asked for a gradient alone."""

    @property
    def estimator(self) -> Estimator:
        """The gradient estimator that the method steps along."""
        ...


F = TypeVar("F", bound=Callable[..., Any])

# Fields of `Problem` that a method has to be made for, and what is said of one that is not.
OPTIONAL_KNOWLEDGE = {
    "support": "makes no use of support; those that do",
    "known": "makes no use of known; those that do",
    "bounds": "cannot hold bounds; those that can",
    "noise": "takes no noise (if it has an option eps: estimate_noise(fun, x0).step() is one); those that do",
    "scale": "makes no use of scale; those that do",
    "tol": "makes no use of tol; those that do",
    "groups": "makes no use of groups; those that do",
}


def uses(*fields: str, needs: tuple[str, ...] = ()) -> Callable[[F], F]:
    """Mark a factory whose method makes use of these fields of `Problem`, out of `OPTIONAL_KNOWLEDGE`.

    Given to a method that is not so marked, they are an error and not silently ignored. Those that it `needs`
    are an error if they are not given.
    """

    def mark(factory: F) -> F:
        factory.uses = frozenset(fields)  # type: ignore[attr-defined]  # functions have a dictionary
        factory.needs = frozenset(needs)  # type: ignore[attr-defined]
        return factory

    return mark


# Called as factory(problem, **options). The first line of its docstring is the sentence that `methods()`
# shows; its keyword-only parameters are the options of the method, with their defaults.
Factory: TypeAlias = Callable[..., Method]
