"""Estimators are driven by hand: a function answers what they ask, and what they asked is kept."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from gracezo.core.asks import Ask, Point, Steps
from gracezo.core.keys import Key
from gracezo.core.method import Estimator
from gracezo.core.result import GradientEstimate


class Conversation:
    """One call of an estimator, answered by `fun`."""

    def __init__(
        self, estimator: Estimator, fun: Callable[[np.ndarray], float], x: np.ndarray, step: int, seed: int
    ) -> None:
        self.asks: list[Ask] = []
        steps = estimator.estimate(Point(x, fun(x)), step, Key(seed).child(step))
        self.gradient = self._answered(steps, fun)

    def _answered(
        self, steps: Steps[GradientEstimate], fun: Callable[[np.ndarray], float]
    ) -> GradientEstimate:
        answer: np.ndarray | None = None
        while True:
            try:
                said = steps.send(answer)  # type: ignore[arg-type]
            except StopIteration as end:
                result: GradientEstimate = end.value
                return result
            assert isinstance(said, Ask)
            self.asks.append(said)
            answer = np.array([fun(said.point(row)) for row in range(len(said))])

    @property
    def queries(self) -> int:
        return sum(len(ask) for ask in self.asks)

    @property
    def displacements(self) -> np.ndarray:
        return np.stack([ask.point(row) - ask.base for ask in self.asks for row in range(len(ask))])


@pytest.fixture
def converse() -> type[Conversation]:
    return Conversation
