"""What the coordinates of a point are called."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import overload

import numpy as np


class Names(Sequence[str]):
    """The names of coordinates, by flat index: those given, or else their places in the point's shape.

    Parameters
    ----------
    shape
        The shape of the point.
    given
        One name a coordinate, in the order of the flattened point; None: none were given.

    Examples
    --------
    >>> Names((2, 3))[4], Names((6,))[4], Names((2,), ["mass", "width"])[1]
    ('(1, 1)', '4', 'width')
    """

    def __init__(self, shape: tuple[int, ...], given: Sequence[str] | None = None) -> None:
        self._shape = shape
        self._given = None if given is None else tuple(given)

    @property
    def given(self) -> tuple[str, ...] | None:
        """The names that a person gave, if any."""
        return self._given

    def __len__(self) -> int:
        return math.prod(self._shape)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        if self._given is not None:
            return self._given[place]
        if len(self._shape) <= 1:
            return str(place)
        return str(tuple(int(i) for i in np.unravel_index(place, self._shape)))

    def of(self, indices: Iterable[int]) -> list[str]:
        """Return the names of some coordinates."""
        return [self[int(i)] for i in indices]

    def at(self, index: int) -> str:
        """Return a coordinate as messages write it: [4], [1, 1], [width]."""
        name = self[index]
        return f"[{name if self._given is not None else name.strip('()')}]"

    def __repr__(self) -> str:
        shown = ", ".join(self[:3]) + ", …" * (len(self) > 3)
        return f"Names({len(self):,}: {shown})"
