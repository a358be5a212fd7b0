"""Directions in which all coordinates move, and what the outputs answer to them: a Jacobian in their span."""

from __future__ import annotations

import numpy as np

from gracezo.core.types import BoolArray, FloatArray, IntArray
from gracezo.vectors.space import Space

_SEEN = 3.0  # times its noise: the answers of an output that are more than that
_ROUGH = 1e-14  # of the largest squared singular value: slopes are known no better
_HALVINGS = 60  # of the range in which the term of the wanted step lies


class Directions:
    """Sums of probes, z their factors, and the slopes of the outputs along each.

    Parameters
    ----------
    space, probes
        The first directions: probes of a whole space.
    slopes
        What the outputs answer to them, a column each.
    noise
        The standard error of a slope, by output.
    """

    def __init__(self, space: Space, probes: IntArray, slopes: FloatArray, noise: FloatArray) -> None:
        self._probes: list[tuple[Space, IntArray]] = [(space, probes)]
        self._slopes = slopes.copy()
        seen = np.mean(slopes**2, axis=1) > (_SEEN * noise) ** 2
        self._seen: BoolArray = seen if seen.any() else ~seen
        self._noise = noise

    def __len__(self) -> int:
        return int(self._slopes.shape[1])

    def add(self, space: Space, probes: IntArray, slopes: FloatArray) -> None:
        """Take further directions."""
        self._probes.append((space, probes))
        self._slopes = np.column_stack([self._slopes, slopes])

    def move(self, z: FloatArray, size: int) -> FloatArray:
        """Return by how much each of so many coordinates moves."""
        moves, first = np.zeros(size), 0
        for space, probes in self._probes:
            moves[space.order] += space.combined(probes, z[first : first + len(probes)])
            first += len(probes)
        return moves

    def learn(self, z: FloatArray, change: FloatArray) -> None:
        """Let the slopes explain by how much the outputs have changed with a step: Broyden's update."""
        self._slopes = self._slopes + np.outer(change - self._slopes @ z, z / (z @ z))

    def beside(self, outputs: FloatArray, weights: FloatArray) -> float:
        """Return the share of the squared residuals that no step takes away."""
        return self.step(outputs, weights, 0.0)[1]

    def step(self, outputs: FloatArray, weights: FloatArray, share: float) -> tuple[FloatArray, float]:
        """Return the shortest step that leaves this share of what could be gained; and what it leaves of all.

        It is Levenberg's, z = −Aᵀ(AAᵀ + λ)⁻¹b, of residuals b and slopes A with the roots of the weights.
        Slopes with the variance σ² make |b + Az|² larger by σ²|z|² in the mean for each of the outputs: what
        could be gained is with that λ.
        """
        weights = np.where(self._seen, weights, 0.0)
        root = np.sqrt(weights)
        left, values, right = np.linalg.svd(root[:, None] * self._slopes, full_matrices=False)
        squares, along = values**2, left.T @ (root * outputs)
        whole = float(weights @ outputs**2)
        if not (whole > 0.0 and squares[0] > 0.0):
            return np.zeros(len(self)), 1.0
        beside = max(whole - float(along @ along), 0.0)

        def leaves(term: float) -> float:
            return (beside + float(np.sum((along * term / (squares + term)) ** 2))) / whole

        low = float(max(weights @ self._noise**2, _ROUGH * squares[0]))
        least, high = leaves(low), 1e8 * max(low, float(squares[0]))
        wanted = least + share * (1.0 - least)
        for _ in range(_HALVINGS):
            middle = float(np.sqrt(low * high))
            low, high = (middle, high) if leaves(middle) < wanted else (low, middle)
        return np.asarray(-right.T @ (along * values / (squares + low))), leaves(low)
