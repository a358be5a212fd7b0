"""How many spikes there are, and how large."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gracezo.methods.auto.spikes import Density, Sizes, normal


class TestSizes:
    """How large they are."""

    def test_the_typical_one_is_the_median_of_those_met_lately(self) -> None:
        sizes = Sizes(100)
        assert sizes.typical == 0.0
        for size in (5.0, 1.0, 3.0):
            sizes.meet(size, 0.0)
        assert sizes.typical == 3.0
        for _ in range(31):
            sizes.meet(0.5, 0.0)
        assert sizes.typical == 0.5
        sizes.forget()
        assert sizes.typical == 0.0

    def test_what_background_explains_is_no_spike(self) -> None:
        sizes = Sizes(1_000)
        for size in (1.0, 0.1, 0.1, 0.1, 1.0):
            sizes.meet(size, 0.0)
        assert sizes.typical == 0.1
        sizes.stand_out(0.03)  # of a thousand such, the largest is 0.11
        assert sizes.typical == 1.0
        assert sizes.novelty == pytest.approx(1.0 / 3.0)

    def test_the_chance_of_another_kind_follows_the_rule_of_succession(self) -> None:
        sizes = Sizes(1_000)
        seen = [sizes.novelty]
        for _ in range(4):
            sizes.meet(1.0, 0.0)
            seen.append(sizes.novelty)
        assert seen == [1.0, 1 / 2, 1 / 3, 1 / 4, 1 / 5]

    def test_likelihoods_are_densities(self) -> None:
        sizes = Sizes(1_000)
        for size in (0.5, 0.7, 0.9, 1.0):
            sizes.meet(size, 0.0)
        u = np.linspace(-60.0, 60.0, 120_001)
        one, missed = sizes.likely(u, np.full(len(u), 0.05))
        assert np.trapezoid(one, u) == pytest.approx(1.0, abs=1e-3)
        assert (missed <= one * (1.0 + 1e-12)).all()
        assert one == pytest.approx(one[::-1])

    def test_the_narrower_those_met_are_the_less_is_expected_near_zero(self) -> None:
        narrow, wide = Sizes(1_000), Sizes(1_000)
        for k in range(8):
            narrow.meet(1.0 + 0.01 * k, 0.0)
            wide.meet(math.exp(k - 3.5), 0.0)
        at = np.zeros(1), np.full(1, 0.1)
        assert narrow.likely(*at)[0] < 0.1 * wide.likely(*at)[0]


def test_the_normal_density_is_that_of_its_deviation() -> None:
    assert normal(np.zeros(1), np.full(1, 2.0))[0] == pytest.approx(1.0 / math.sqrt(8.0 * math.pi))


class TestDensity:
    """How many coordinates matter."""

    def test_it_learns_that_few_or_many_matter(self) -> None:
        few, many = Density(10_000, 0.9), Density(10_000, 0.9)
        for n in (10_000, 5_000, 2_500):
            few.saw_split(n, one_sided=True)
            many.saw_split(n, one_sided=False)
        assert few.alone(1_000) > 0.9
        assert many.alone(1_000) < 0.5
        assert few.none(np.array([1_000.0]))[0] > 0.7 > many.none(np.array([1_000.0]))[0]

    def test_a_set_cut_in_more_parts_is_less_likely_in_one(self) -> None:
        eight, two = Density(1_000, 0.9), Density(1_000, 0.9)
        for _ in range(3):
            eight.saw_split(1_000, one_sided=True, parts=8)
            two.saw_split(1_000, one_sided=True, parts=2)
        assert eight.alone(500) > two.alone(500)

    def test_so_many_as_were_found_there_are_at_least(self) -> None:
        density = Density(1_000, 0.9)
        before = density.none(np.array([10.0, 100.0]))
        for _ in range(50):
            density.found()
        after = density.none(np.array([10.0, 100.0]))
        assert (after < before).all()
        assert after[1] < 0.01  # fifty in a thousand: five in a hundred

    @given(n=st.floats(1.0, 1e4), found=st.integers(0, 30), decoded=st.lists(st.booleans(), max_size=6))
    @settings(max_examples=40)
    def test_chances_are_those_of_poisson_numbers(self, n: float, found: int, decoded: list[bool]) -> None:
        density = Density(10_000, 0.9)
        for _ in range(found):
            density.found()
        for one in decoded:
            density.saw_labels(n, one)
        none, fewer = density.none(np.array([n, 2.0 * n]))
        assert 0.0 <= fewer <= none <= 1.0
        assert fewer >= none**2 - 1e-12  # Jensen: over a mixture of densities
        assert 0.0 <= density.alone(2.0 * n) <= density.alone(n) <= 1.0
