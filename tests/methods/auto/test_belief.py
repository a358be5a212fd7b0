"""What is believed of the gradient: background, spikes, and how many there are."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gracezo.methods.auto.belief import Belief, Density, Evidences


@dataclass
class Said:
    """What a group says."""

    u: float
    error: float
    squares: float
    spread: float


def simulated(
    tau: float, count: int, seed: int, *, spikes: int = 0, size: float = 100.0, error: float = 1e-9
) -> list[Said]:
    """Return groups of a background, of different sizes; some hold a spike of `size` deviations as well."""
    rng = np.random.default_rng(seed)
    groups = []
    for k in range(count):
        squares = float(rng.integers(2, 200))
        u = tau * math.sqrt(squares) * rng.normal() + error * rng.normal()
        if k < spikes:
            u += size * tau * math.sqrt(200.0) * rng.choice([-1.0, 1.0])
        groups.append(Said(float(u), error, squares, squares))
    return groups


def believing(groups: list[Said], d: int = 10_000, met: float = 0.0) -> Belief:
    belief = Belief(d)
    if met:
        belief.meet(met)
        belief.density.found()
    belief.learn(groups)
    return belief


def knowing_few(groups: list[Said], met: float) -> Belief:
    """Return what is believed when cuts have shown that few coordinates matter, and one was found."""
    belief = Belief(10_000)
    for n in (10_000, 5_000, 2_500):
        belief.density.saw_split(n, one_sided=True)
    belief.meet(met)
    belief.learn(groups)
    return belief


@pytest.mark.parametrize("spikes", [0, 3, 8])
@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e5])
@pytest.mark.parametrize("few", [False, True])
def test_the_background_is_learned_from_the_open_groups(spikes: int, unit: float, few: bool) -> None:
    ratios, below = [], 0
    for seed in range(40):
        groups = simulated(unit, 32, seed, spikes=spikes, error=1e-9 * unit)
        # Where few coordinates matter, a large sum is hardly a spike.
        belief = knowing_few(groups, 1400.0 * unit) if few else believing(groups)
        ratios.append(belief.tau / unit)
        below += belief.least <= unit
    assert np.quantile(ratios, 0.05) > (0.65 if few else 0.5)
    assert np.quantile(ratios, 0.95) < 1.3
    assert (0.85 if few else 0.7) < np.median(ratios) < 1.1
    assert below >= 0.8 * 40  # its 5 % quantile


def test_without_background_the_deviation_is_that_of_the_error() -> None:
    for seed in range(20):
        groups = simulated(0.0, 16, seed, error=1e-7)
        groups.append(Said(1.0, 1e-7, 50.0, 50.0))
        belief = believing(groups)
        assert 1e-7 <= belief.deviation(50.0, 1e-7) <= 2e-7


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), power=st.integers(-200, 200), spikes=st.integers(0, 4))
def test_units_of_f_change_nothing(seed: int, power: int, spikes: int) -> None:
    unit = 2.0**power
    groups = simulated(1.0, 12, seed, spikes=spikes)
    scaled = [Said(unit * said.u, unit * said.error, said.squares, said.spread) for said in groups]
    one, other = believing(groups, met=50.0), believing(scaled, met=50.0 * unit)
    assert other.tau == pytest.approx(unit * one.tau, rel=1e-6)
    assert other.least == pytest.approx(unit * one.least, rel=1e-6)
    one_says, other_says = (b.chances(Evidences.of(g)) for b, g in ((one, groups), (other, scaled)))
    assert other_says == pytest.approx(one_says, rel=1e-5, abs=1e-9)


def test_a_spike_through_background_is_told_from_it() -> None:
    wrong = 0
    for seed in range(40):
        groups = simulated(1.0, 32, seed, spikes=1, size=1.0)  # a group of 200 has a deviation of 14
        groups[0].u = 14.0 * 12.0
        for belief in (believing(groups), knowing_few(groups, 160.0)):
            chances = belief.chances(Evidences.of(groups))
            assert chances[0] > 0.5
        wrong += int((chances[1:] > 0.5).sum())
    assert wrong <= 0.01 * 40 * 31


def test_a_sum_within_its_error_or_without_weights_holds_nothing() -> None:
    belief = believing(simulated(1e-3, 16, 0))
    assert belief.holds(Said(1.0, 2.0, 5.0, 5.0)) == 0.0
    assert belief.holds(Said(1.0, 1e-9, 0.0, 1.0)) == 0.0
    assert belief.holds(Said(1.0, 1e-9, 5.0, 5.0)) > 0.9


def test_what_cancels_in_u_shows_in_k() -> None:
    groups = simulated(1.0, 32, 1)
    belief = believing(groups, met=200.0)
    quiet = Said(5.0, 1e-9, 100.0, 100.0)
    moments = [(0.0, 1e-9), (120.0, 1e-9)]
    empty, hidden = (belief.chances(Evidences.of([quiet], [about]), unknown=0.0)[0] for about in moments)
    assert empty < 0.05
    assert hidden > 0.95


def test_one_spike_alone_has_its_ratio_at_an_integer() -> None:
    belief = believing(simulated(1e-3, 16, 0))
    group = Said(1.0, 1e-9, 100.0, 1.0)
    second = 100.0 * 30.0**2  # K/U is blurred by 1e-3·300 = 0.3 positions
    blurred, tau = belief.alone(group, 0.2, second, 1e-6)
    assert blurred > 0.3
    assert 3e-4 < tau < 3e-3
    sharp = believing(simulated(1e-9, 16, 0, error=1e-12))
    on, off = sharp.alone(group, 1e-7, second, 1e-6)[0], sharp.alone(group, 0.2, second, 1e-6)[0]
    assert (on > 0.99, off < 0.01) == (True, True)
    beyond = belief.alone(group, 30.0, second, 1e-6)[0]  # a hundred deviations beyond the ends
    assert beyond < 1e-6


def test_the_size_of_a_spike_is_the_median_of_those_met_lately() -> None:
    belief = Belief(100)
    assert belief.size == 0.0
    for size in (-5.0, 1.0, 3.0):
        belief.meet(size)
    assert belief.size == 3.0
    for _ in range(31):
        belief.meet(0.5)
    assert belief.size == 0.5
    belief.begin()
    assert belief.size == 0.0


def test_failures_in_a_row_make_a_success_unlikely_never_impossible() -> None:
    belief = Belief(100)
    assert belief.rate(0) == belief.rate(1) == 1.0
    for _ in range(300):
        belief.tried(0, False)
    assert belief.rate(0) == 1.0 / 302.0
    assert belief.rate(1) == 1.0
    for _ in range(50):
        belief.tried(0, True)
    assert belief.rate(0) > 0.99


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


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    tau=st.sampled_from([0.0, 1e-12, 1e-3, 1.0]),
    met=st.sampled_from([0.0, 1e-6, 1.0, 1e6]),
)
def test_one_group_is_judged_as_it_is_among_others(seed: int, tau: float, met: float) -> None:
    groups = simulated(max(tau, 1e-30), 12, seed, spikes=3)
    belief = believing(groups, met=met)
    together = belief.chances(Evidences.of(groups))
    assert [belief.holds(group) for group in groups] == pytest.approx(together.tolist(), rel=1e-9, abs=1e-300)
