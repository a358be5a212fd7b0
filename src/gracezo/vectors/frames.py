"""Where a fit moves: along the coordinates found, or in the span of random directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gracezo.core.asks import Ask, DenseRows, Role, SparseRows
from gracezo.core.box import Box
from gracezo.core.types import FloatArray, IntArray
from gracezo.vectors.space import Space


class Frame(Protocol):
    """Coordinates z of the points that a fit may reach; z = 0 is where it was laid."""

    @property
    def limits(self) -> tuple[FloatArray, FloatArray]:
        """How far each coordinate may go down, and up."""
        ...

    def point(self, z: FloatArray) -> FloatArray:
        """Return the point at z."""
        ...

    def ask(self, z: FloatArray, role: Role) -> Ask:
        """Return the question for the outputs at z."""
        ...


@dataclass(frozen=True, eq=False)
class Support:
    """Some coordinates of x; the others stay where they are."""

    base: FloatArray
    indices: IntArray
    bounds: Box | None = None

    @property
    def limits(self) -> tuple[FloatArray, FloatArray]:
        """How far each coordinate may go down, and up."""
        if self.bounds is None:
            free = np.full(len(self.indices), np.inf)
            return -free, free
        at = self.base[self.indices]
        return self.bounds.lower[self.indices] - at, self.bounds.upper[self.indices] - at

    def point(self, z: FloatArray) -> FloatArray:
        """Return the point at z."""
        x = self.base.copy()
        x[self.indices] += z
        return x if self.bounds is None else self.bounds.clip(x)

    def ask(self, z: FloatArray, role: Role) -> Ask:
        """Return the question for the outputs at z."""
        return Ask(self.base, SparseRows.single(self.indices, z), role)

    def widened(self, indices: IntArray) -> Support:
        """Return the frame with further coordinates."""
        return Support(self.base, np.concatenate([self.indices, indices]), self.bounds)


@dataclass(frozen=True, eq=False)
class Span:
    """Sums of probes: directions in which all coordinates move, each as far as its scale."""

    base: FloatArray
    space: Space
    probes: IntArray
    bounds: Box | None = None

    @property
    def limits(self) -> tuple[FloatArray, FloatArray]:
        """How far each factor may go: the bounds are those of the coordinates, which are cut there."""
        free = np.full(len(self.probes), np.inf)
        return -free, free

    def point(self, z: FloatArray) -> FloatArray:
        """Return the point at z."""
        x = self.base + self._moves(z)
        return x if self.bounds is None else self.bounds.clip(x)

    def ask(self, z: FloatArray, role: Role) -> Ask:
        """Return the question for the outputs at z."""
        return Ask(self.base, DenseRows(self._moves(z)[None]), role)

    def _moves(self, z: FloatArray) -> FloatArray:
        moves = np.zeros(len(self.base))
        moves[self.space.order] = self.space.combined(self.probes, z)
        return moves
