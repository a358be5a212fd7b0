"""Keys name streams: the same path, the same numbers, however the key was come by."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gracezo.core import keys
from gracezo.core.keys import Key

NUMBERS = st.integers(0, 2**33) | st.sampled_from([0, 1, 2**32 - 1, 2**32])
SEEDS = st.integers(0, 2**200) | st.sampled_from([0, 2**32 - 1, 2**32, 2**96, 2**128 - 1, 2**128])


def drawn(random: np.random.Generator) -> list[int]:
    return [int(number) for number in random.integers(0, 2**63, 4)]


def numpys(key: Key) -> np.random.Generator:
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(key.seed, spawn_key=key.path)))


@settings(deadline=None)
@given(SEEDS, st.lists(NUMBERS, max_size=4), st.integers(1, 200))
def test_children_are_the_streams_that_numpy_makes(seed: int, path: list[int], number: int) -> None:
    key = Key(seed, tuple(path))
    child = next(islice(key.children(), number - 1, None))
    assert child == key.child(number)
    assert drawn(child.generator()) == drawn(numpys(key.child(number)))
    assert drawn(child.generator()) == drawn(child.generator())  # from the beginning again
    assert drawn(child.child(3).generator()) == drawn(numpys(key.child(number, 3)))


def test_children_go_on_beyond_the_numbers_of_one_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "_WIDE", 100)  # one block fits
    key = Key(5, (2,))
    some = list(islice(key.children(), 130))
    assert some == [key.child(number) for number in range(1, 131)]
    assert all(drawn(child.generator()) == drawn(numpys(child)) for child in some)
