"""Randomness is a key, not a state.

A `Key` names a random stream by a seed and a path of integers. The same key
gives the same stream whatever else was drawn before, so runs repeat bit for
bit, nothing has to be saved, and the order in which answers arrive cannot
matter. A generator costs some 15 µs to make: one a search, never one a query.
The steps of a run take theirs from `Key.children`, which makes them cheaper.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.random.bit_generator import ISeedSequence

SeedLike: TypeAlias = int | np.random.SeedSequence | np.random.BitGenerator | np.random.Generator

_BLOCK = 256  # children whose seeds are made at a time
_WIDE = 2**32  # from here on a number of a path takes more than one word
_SEED_WORDS = 4  # it pads a seed to so many words before it takes in a path


@dataclass(frozen=True)
class Key:
    """A named random stream.

    Examples
    --------
    >>> key = Key(7)
    >>> bool(key.child(1, 2).generator().random() == key.child(1).child(2).generator().random())
    True
    """

    seed: int
    path: tuple[int, ...] = ()
    _state: npt.NDArray[np.uint64] | None = field(default=None, repr=False, compare=False)

    def child(self, *path: int) -> Key:
        """Return the stream below this one that `path` names."""
        return Key(self.seed, self.path + path)

    def before(self, places: int) -> Key:
        """Return the sibling of this stream whose number is smaller by so much.

        Examples
        --------
        >>> Key(7, (4, 9)).before(2).path
        (4, 7)
        """
        return Key(self.seed, (*self.path[:-1], self.path[-1] - places))

    def children(self) -> Iterator[Key]:
        """Yield `child(1)`, `child(2)`, …, whose generators cost some 3 µs each.

        Examples
        --------
        >>> key = Key(7)
        >>> first, second = key.children(), key.child(1)
        >>> bool(next(first).generator().random() == second.generator().random())
        True
        """
        first = 1
        while first + _BLOCK <= _WIDE:
            states = _states(self, np.arange(first, first + _BLOCK, dtype=np.uint32))
            for number, state in enumerate(states, first):
                yield Key(self.seed, (*self.path, number), state)
            first += _BLOCK
        yield from map(self.child, count(first))

    def generator(self) -> np.random.Generator:
        """Return a fresh generator at the beginning of this stream."""
        seeds: ISeedSequence = (
            np.random.SeedSequence(self.seed, spawn_key=self.path)
            if self._state is None
            else _Made(self._state)
        )
        # SFC64 is the fastest bit generator of NumPy for normals and uniforms.
        return np.random.Generator(np.random.SFC64(seeds))  # type: ignore[arg-type]  # any ISeedSequence


class _Made(ISeedSequence):
    """What a SeedSequence would generate for SFC64, known already."""

    def __init__(self, state: npt.NDArray[np.uint64]) -> None:
        self._state = state

    def generate_state(self, n_words: int, dtype: npt.DTypeLike = np.uint32) -> npt.NDArray[np.uint64]:
        assert (n_words, dtype) == (3, np.uint64), "SFC64 has three words"
        return self._state


def _states(key: Key, numbers: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint64]:
    """Return the seeds of SFC64 for the children of a key that have these numbers, a row each.

    They are `SeedSequence(seed, spawn_key=(*path, number)).generate_state(3, np.uint64)`, all at once: the
    pool of a child, four words of 32 bits, is that of its parent with one more word mixed in. The hash
    has a multiplier that goes on with each use; so far it was used four times for each word taken in.
    """
    pool = np.random.SeedSequence(key.seed, spawn_key=key.path).pool
    taken = max(_SEED_WORDS, _words(key.seed)) + sum(map(_words, key.path))
    hashes = _powers(0x43B0D7E5, 0x931E8875, 4 * taken, 5)
    mixed = (numbers[:, None] ^ hashes[:-1]) * hashes[1:]
    mixed ^= mixed >> 16
    pools = pool * np.uint32(0xCA01F9DD) - mixed * np.uint32(0x4973F715)
    pools ^= pools >> 16
    hashes = _powers(0x8B51F9DD, 0x58F38DED, 0, 7)
    words = (pools[:, [0, 1, 2, 3, 0, 1]] ^ hashes[:-1]) * hashes[1:]
    words ^= words >> 16
    low, high = words[:, ::2].astype(np.uint64), words[:, 1::2].astype(np.uint64)
    return np.ascontiguousarray(low | high << np.uint64(32))  # SFC64 reads a row as it lies in memory


def _words(number: int) -> int:
    """Return how many 32-bit words a number has."""
    return max(1, -(-number.bit_length() // 32))


def _powers(start: int, factor: int, first: int, count: int) -> npt.NDArray[np.uint32]:
    """Return start·factor^k modulo 2³² for `count` k from `first` on."""
    powers = [start * pow(factor, first + k, 2**32) % 2**32 for k in range(count)]
    return np.array(powers, np.uint32)


def draw_seed(
    source: np.random.SeedSequence | np.random.BitGenerator | np.random.Generator | None = None,
) -> int:
    """Return a seed, short enough to type, from a source of randomness or the operating system's entropy.

    A generator moves on by it, so that its next seed is another one; a `SeedSequence` always gives the same.
    """
    return int(np.random.default_rng(source).integers(2**63))
