"""What the columns found say of the probes of the whole space: their values at once, and what is left."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gracezo.core.types import FloatArray, IntArray
from gracezo.vectors.accuracy import Accuracy
from gracezo.vectors.found import Columns, End
from gracezo.vectors.sets import Set
from gracezo.vectors.space import Space


@dataclass(frozen=True, eq=False)
class Summary:
    """The columns that a search has found, beside the answers of the whole space.

    Attributes
    ----------
    root, space, accuracy
        The whole space with its answers, and their errors.
    positions, values
        Where the columns are, and what they were found to be, m × k.
    background
        Whether what they leave may be slopes on all coordinates.
    """

    root: Set
    space: Space
    accuracy: Accuracy
    positions: IntArray
    values: FloatArray
    background: bool

    @property
    def _unit(self) -> FloatArray:
        return self.accuracy.errors(self.root.answers, len(self.root))

    @property
    def _weights(self) -> FloatArray:
        return self.space.weights.columns(self.positions, self.root.probes)

    @property
    def left(self) -> FloatArray:
        """What the columns leave of the answers of the whole space."""
        return np.asarray(self.root.answers - self.values @ self._weights.T)

    @property
    def is_missing(self) -> bool:
        """Whether what the columns leave of noisy answers is more than noise.

        By output, as a geometric mean: noise that was guessed from two answers is for some output much too
        small. What the columns leave has the errors of their parts besides those of the answers; if there
        are more probes than columns, they are fitted to all of them, and have none.
        """
        count, p = len(self.positions), len(self.root.probes)
        if not self.accuracy.noisy:
            return False
        if count == 0:
            return self.accuracy.too_noisy
        left = self.left
        variances = [(left**2).mean(axis=1) / 2.0]
        if p > count + 1:  # the noise of r(x) is common to all
            basis = np.column_stack([self._weights, np.ones(p)])
            left = left - np.linalg.lstsq(basis, left.T, rcond=None)[0].T @ basis.T
            variances.append((left**2).sum(axis=1) / (p - count - 1))
        return any(np.log(one / self._unit**2 + 1e-300).mean() > 0.0 for one in variances)

    def columns(self, end: End) -> Columns:
        """Return what was found."""
        root, space, unit = self.root, self.space, self._unit
        at, values = self.positions, self.values
        p, freedom = len(root.probes), 0
        whole = float(np.mean((root.answers / unit[:, None]) ** 2)) if p else 0.0
        errors: FloatArray = np.repeat(unit[:, None], len(at), axis=1)
        if 0 < len(at) < p and end is End.COMPLETE:  # all at once from the probes of the whole space
            weights = self._weights
            values = np.asarray(np.linalg.lstsq(weights, root.answers.T, rcond=None)[0].T, np.float64)
            freedom = p - len(at)
            variance = ((root.answers - values @ weights.T) ** 2).sum(axis=1) / freedom
            errors = np.sqrt(np.outer(variance, np.diag(np.linalg.inv(weights.T @ weights))))
            left = float(np.mean(variance / unit**2))
        else:
            predicted = values @ self._weights.T if len(at) * p else 0.0
            left = float(np.mean(((root.answers - predicted) / unit[:, None]) ** 2)) if p else 0.0
            if self.accuracy.noisy and end is End.COMPLETE:
                left = max(left - 1.0, 0.0)  # less what noise explains
        order = np.argsort(-np.linalg.norm(values / unit[:, None], axis=0))
        scale = space.reach[at]
        return Columns(
            space.order[at][order],
            (values / scale)[:, order],
            (errors / scale)[:, order],
            freedom,
            min(1.0, left / whole) if whole else 0.0,
            float(np.sqrt(np.mean(self.accuracy.tail**2))) if self.background else 0.0,
            end,
            self.accuracy,
            space,
            root.probes,
            root.answers,
        )
