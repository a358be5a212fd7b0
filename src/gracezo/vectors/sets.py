"""Sets of positions that probes have displaced, and what they have answered."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gracezo.core.types import FloatArray, IntArray
from gracezo.sparse.music import Decoded
from gracezo.vectors.space import Space

_NEW = 0.05  # of an answer: what is outside of the span of others that large is no error
_OFTEN = 32  # decoding is tried at least each time that there are so much more probes, one in as many


@dataclass
class Set:
    """Positions from `start` to `stop`, and what probes of them have answered."""

    start: int
    stop: int
    probes: IntArray
    answers: FloatArray  # m × len(probes)
    seen: int = 0  # answers that are in the basis of their span
    basis: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    news: float = 1.0  # the share of the last answer outside of the span of those before

    def __len__(self) -> int:
        return self.stop - self.start

    def grows(self, unit: FloatArray) -> bool:
        """Whether the last answer shows a dimension of its own, by Gram and Schmidt: then nothing decodes.

        Not that it must not: where columns stand out of a background, the last answer is new as well. So
        among many probes it is tried now and then all the same.
        """
        count = self.answers.shape[1]
        if self.basis.shape[1] < count:
            wider = np.zeros((len(unit), 2 * count))
            if self.seen:
                wider[:, : self.seen] = self.basis[:, : self.seen]
            self.basis = wider
        for place in range(self.seen, count):
            answer = self.answers[:, place] / unit
            rest, span = answer, self.basis[:, :place]
            for _ in range(2):
                rest = rest - span @ (span.T @ rest)
            left = float(np.linalg.norm(rest))
            self.news = left / max(float(np.linalg.norm(answer)), 1e-300)
            self.basis[:, place] = rest / max(left, 1e-300)
        self.seen = count
        return self.news > _NEW and bool(count % max(1, count // _OFTEN))

    def without(self, part: Set, known: Decoded | None, space: Space, *, noisy: bool) -> Set:
        """Return what is left without a part at its beginning, asked as it was or known by its columns.

        What was asked of the part is subtracted as it was answered, small effects and bends included. Of
        noisy outputs the columns are: they are known better than a single answer, which has the noise of r(x)
        besides, and so the more of it is left the more parts were split off.
        """
        asked = np.isin(self.probes, part.probes)
        answers = np.full_like(self.answers, np.nan)
        answers[:, asked] = self.answers[:, asked] - part.answers[:, np.isin(part.probes, self.probes)]
        predicted = ~asked | noisy
        if known is not None and predicted.any():
            weights = space.weights.columns(known.positions, self.probes[predicted])
            answers[:, predicted] = self.answers[:, predicted] - known.columns @ weights.T
            asked[:] = True
        return Set(part.stop, self.stop, self.probes[asked], answers[:, asked])
