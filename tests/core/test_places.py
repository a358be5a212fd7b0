"""Points of very many coordinates: one whose origin is another's, times a number."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from gracezo.core.places import Place, differing, fill
from gracezo.core.types import FloatArray


@pytest.mark.parametrize("scale", [4.0, np.exp2(np.arange(50) % 7 - 3)])
def test_a_place_over_numbers_is_as_if_it_were_written_down(scale: FloatArray | float) -> None:
    rng = np.random.default_rng(0)
    place = Place.at(rng.normal(size=50)).replaced(np.array([30, 4]), np.array([9.0, -7.0]))
    scaled, expected = place.over(scale), place.dense() / scale
    moved, where = scaled.displaced(np.array([4, 8]), np.array([1.0, -2.0])), np.array([3, 4, 8, 30])
    after, out = expected.copy(), np.empty(50)
    after[[4, 8]] += [1.0, -2.0]
    for one, dense in ((scaled, expected), (moved, after)):
        fill(one.stand_in, out)
        assert np.array_equal(out, dense)
        for same in (one, pickle.loads(pickle.dumps(one))):
            assert np.array_equal(same.dense(), dense)
            assert np.array_equal(same[where], dense[where])
            assert (len(same), same.lean) == (50, False)
            assert same.largest == np.abs(dense).max()
            low, high = same.extent
            assert low <= dense.min()
            assert high >= dense.max()
            assert same.mean_square == pytest.approx(np.mean(dense**2), rel=1e-12)
    assert differing(scaled.stand_in, moved.stand_in)[0].tolist() == [4, 8]
    assert moved.root is scaled.root is place.origin
    assert np.array_equal(scaled.times(scale).dense(), place.dense())
