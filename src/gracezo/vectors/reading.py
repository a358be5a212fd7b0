"""What the answers to the probes of a set say: how large they are beside their errors, and which columns.

Nothing is asked here. The search that asks is in `columns.py`, the decoding itself in `sparse/music.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gracezo.core.types import FloatArray
from gracezo.sparse.music import Decoded, decode, rank, spare
from gracezo.vectors.accuracy import Accuracy
from gracezo.vectors.sets import Set
from gracezo.vectors.space import Space

SPARE = 2  # probes of a set beyond its rank
VISIBLE = 3.0  # times its error: what is left of answers that is more than one
_FLAT = 3.0  # times the error, which is roughly known: answers that small say nothing
_FLAT_NOISY = 1.7  # and where the noise was measured
_TAIL_SHARE = 0.05  # of the squared answers of an output: a larger dense tail may be columns not found
_UNLUCKY = 0.15  # of the outputs: of so many noise may be much larger than two answers have shown


@dataclass(eq=False)
class Reading:
    """Reads the answers of sets.

    Parameters
    ----------
    space, accuracy
        What the probes displace, and the errors of their answers.
    root
        The whole space, from whose answers those of sets are taken.
    cautious
        Whether probes are spared where it is doubtful that anything can be decoded.
    background
        Whether all coordinates have slopes, smaller than columns; None: that is not known.
    """

    space: Space
    accuracy: Accuracy
    root: Set
    cautious: bool = False
    background: bool | None = None

    @property
    def m(self) -> int:
        """The number of outputs."""
        return len(self.root.answers)

    @property
    def common(self) -> bool:
        """Whether probes have something in common: the noise of r(x), or weights of one sign."""
        return self.accuracy.noisy or self.space.lopsided

    def enough(self, some: Set) -> int:
        """Return how many probes decode a set of as many columns as there are outputs, and no others.

        Where columns stand out of a background that is known, as many more as tell them from it. Of an exact
        function, one more than there are coordinates.
        """
        further = SPARE
        if self.background and self.accuracy.tail.any():
            seen, error = self.rank(some)
            further = max(SPARE, spare(len(some), error)) if seen else SPARE
        most = self.m + self.common + further
        return most if self.accuracy.noisy else min(most, len(some) + self.common + (len(some) > 1))

    def errors(self, some: Set) -> FloatArray:
        """Return the standard errors of the answers of a set, by output."""
        own = self.accuracy.errors(some.answers, len(some))
        if some is self.root or not len(self.root.probes):
            return own
        # What is left of a difference has the errors of what it was taken from.
        return np.maximum(own, self.accuracy.errors(self.root.answers, len(some)))

    def norm(self, some: Set) -> float:
        """Return how large the answers of a set are: root mean square in units of the errors of the whole."""
        unit = self.accuracy.errors(self.root.answers, len(self.root))[:, None]
        return float(np.sqrt(np.mean((some.answers / unit) ** 2))) if some.answers.size else 0.0

    def rank(self, some: Set) -> tuple[int, float]:
        """Return how many dimensions of the answers cannot be errors, and the relative error of the least."""
        return rank(some.answers, self.errors(some))

    def most(self, some: Set) -> int:
        """Return how many probes of a set are asked before it is split.

        As long as each shows a dimension of its own: until there are more than outputs. Then it is known how
        many columns there are, and from the errors how many probes tell which they are.
        """
        seen, error = self.rank(some)
        further = max(SPARE + 1, spare(len(some), error))
        if seen < min(self.m, len(some.probes) - self.common):
            most = seen + self.common + further
            return min(most, self.enough(some)) if self.cautious else most
        return self.enough(some)

    def decoded(self, some: Set) -> Decoded | None:
        """Decode a set; columns that leave much of it, and more than errors, are not all there are."""
        decoded = self.decode(some)
        visible = _FLAT_NOISY if self.accuracy.noisy else VISIBLE
        if decoded is not None and self.background is False and self.leaves_more(decoded, some):
            return None
        if decoded is not None and decoded.rest > visible:
            # By output, each in units of its own: an output that is known well does not speak for others.
            left, whole = self.left_by(decoded, some), np.sqrt(np.mean(some.answers**2, axis=1))
            seen = (left > visible * self.errors(some)) & (left > math.sqrt(_TAIL_SHARE) * whole)
            if seen.sum() > self._unlucky:
                return None
        return decoded

    def decode(self, some: Set) -> Decoded | None:
        """Decode a set, whatever its columns leave."""
        return decode(
            self.space.weights,
            some.probes,
            some.start,
            some.stop,
            some.answers,
            self.errors(some),
            common=self.common,
            flat=_FLAT_NOISY if self.accuracy.noisy else _FLAT,
        )

    def leaves_more(self, decoded: Decoded, some: Set) -> bool:
        """Whether a set leaves more than errors: than were seen, in the first look, of any output."""
        if decoded.rest <= VISIBLE or self.accuracy.noisy:
            return False
        whole = float(np.sqrt(np.mean((some.answers / self.errors(some)[:, None]) ** 2)))
        look = self.accuracy.look
        typical = np.sqrt(np.mean(self.root.answers**2, axis=1))
        worst = float(np.max(np.abs(look.far - look.near) / np.maximum(typical, 1e-300)))
        return decoded.rest > VISIBLE * worst * whole

    def left_by(self, decoded: Decoded, some: Set) -> FloatArray:
        """Return what the columns of a set leave of its answers, root mean square by output."""
        weights = self.space.weights.columns(decoded.positions, some.probes)
        squares = ((some.answers - decoded.columns @ weights.T) ** 2).sum(axis=1)
        return np.asarray(np.sqrt(squares / max(1, decoded.spare)), np.float64)

    @property
    def _unlucky(self) -> int:
        """Return of how many outputs the errors may be much larger than they were guessed to be."""
        return int(_UNLUCKY * self.m) if self.accuracy.look.guessed else 0
