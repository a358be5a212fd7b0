"""The lowest point that looks have met."""

from __future__ import annotations

import numpy as np

from gracezo.core.asks import Point
from gracezo.core.box import Box
from gracezo.core.moves import Few
from gracezo.methods.auto.instrument.look import (
    Heard,
    LowestMet,
)


def test_the_lowest_point_met_is_kept_until_it_is_left_behind() -> None:
    lowest_met = LowestMet()
    here = Point(np.array([0.0, 0.5]), 3.0)
    lowest_met.note(here, Heard(Few(np.array([1]), np.array([0.7])), 2.0))
    lowest_met.note(here, Heard(Few(np.array([0]), np.array([9.0])), 2.5))
    there = Point(np.array([5.0, 5.0]), 2.5)
    lowest_met.note(there, Heard(Few(np.array([0]), np.array([1.0])), 2.6))
    assert lowest_met.met_from(here.x)
    assert not lowest_met.met_from(there.x)
    point = lowest_met.point(None)
    assert (point.x.tolist(), point.value) == ([0.0, 1.2], 2.0)
    assert lowest_met.point(Box.of(0.0, 1.0, 2)).x.tolist() == [0.0, 1.0]
    lowest_met.note(there, Heard(Few(np.array([0]), np.array([1.0])), 1.0))
    assert (lowest_met.point(None).x.tolist(), lowest_met.value) == ([6.0, 5.0], 1.0)


def test_a_whole_set_is_to_be_clearly_lower() -> None:
    """Most of its coordinates do not matter: for a last bit the run would carry all of them along."""
    lowest_met, here, move = LowestMet(), Point(np.zeros(2), 3.0), Few(np.arange(2), np.ones(2))
    lowest_met.note(here, Heard(move, 2.95, whole=True), 10.0)
    assert lowest_met.value == np.inf
    lowest_met.note(here, Heard(move, 2.95), 10.0)
    assert lowest_met.value == 2.95
    lowest_met.note(here, Heard(move, 2.85, whole=True), 10.0)
    assert lowest_met.value == 2.85
