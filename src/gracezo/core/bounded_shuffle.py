"""A random order of very many coordinates within bounds: its weights as they are taken, and their room.

The weights of large sets are turned as these are written (`aims.py`). Of a large slice the room is that of
the whole order, for which all coordinates are looked at once; of a small one that of its own coordinates.
"""

from __future__ import annotations

import math

import numpy as np

from gracezo.core.aims import Inward
from gracezo.core.places import Place
from gracezo.core.shuffle import SAMPLE, Shuffle
from gracezo.core.types import FloatArray, IntArray
from gracezo.core.walls import Walls


class BoundedShuffle:
    """What bounds make of an order, around the present point.

    Parameters
    ----------
    shuffle, inward, walls
        The order, what turns and shortens its weights, and the bounds around the present point, a place.
    """

    def __init__(self, shuffle: Shuffle, inward: Inward, walls: Walls) -> None:
        self._shuffle, self._inward, self._walls = shuffle, inward, walls
        self._seen: FloatArray | None = None  # the origin of the point that what follows is true of
        self._idle = False
        self._room = math.inf, math.inf
        self._mean_square = 0.0

    @classmethod
    def around(cls, shuffle: Shuffle, walls: Walls, reach: float) -> BoundedShuffle | None:
        """Return what bounds make of an order for looks up to ε = `reach`, if there are any."""
        some = shuffle.coordinates(0, min(SAMPLE, len(shuffle)))
        inward = walls.inward(some, shuffle.weights(some), reach)
        return None if inward is None else cls(shuffle, inward, walls)

    @property
    def aim(self) -> Inward | None:
        """What large sets are aimed by; None where that would change no weight."""
        self._look()
        return None if self._idle else self._inward

    def aimed(self, coordinates: IntArray) -> FloatArray:
        """Return the weights of coordinates as they are taken."""
        return self._inward(self._walls.x, coordinates, self._shuffle.weights(coordinates))

    def limits(self, coordinates: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the largest ε of each coordinate, ahead and behind."""
        return self._inward.limits(self._walls.x, coordinates, self.aimed(coordinates))

    def room(self, start: int, stop: int) -> tuple[float, float]:
        """Return the largest ε at which no coordinate of a slice leaves the bounds, ahead and behind."""
        if stop - start > SAMPLE:
            self._look()
            return self._room
        ahead, behind = self.limits(self._shuffle.coordinates(start, stop))
        return float(ahead.min()), float(behind.min())

    def squares(self, start: int, stop: int) -> float:
        """Return the sum of the squared weights of a slice, up to what is random of it in a large one."""
        self._look()
        if self._idle:
            return self._shuffle.squares(start, stop)
        if stop - start > SAMPLE:
            return (stop - start) * self._mean_square
        weights = self.aimed(self._shuffle.coordinates(start, stop))
        return float(weights @ weights)

    def _look(self) -> None:
        """Look at all coordinates, once for all points of one origin."""
        x, shuffle, inward = self._walls.x, self._shuffle, self._inward
        assert isinstance(x, Place)
        if x.root is self._seen:
            return
        self._seen, self._idle = x.root, inward.idle(x, shuffle.heaviest)
        if self._idle:
            room = inward.box.margin(x) / shuffle.heaviest
            self._room = room, room
            return
        least, squares, count = [], 0.0, 0
        # Where all are at one place it is the weights that tell, and those that are elsewhere.
        alike = x.lean and inward.box.lean
        for where, weights in shuffle.drawn(x.indices) if alike else shuffle.blocks():
            aimed = inward(x, where, weights)
            least.append([float(limits.min()) for limits in inward.limits(x, where, aimed)])
            squares, count = squares + float(aimed @ aimed), count + len(aimed)
        ahead, behind = np.min(least, axis=0).tolist()
        self._room, self._mean_square = (ahead, behind), squares / count
