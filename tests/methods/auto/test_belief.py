"""What is believed of the gradient: background, spikes, and how many there are."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gracezo.methods.auto.belief import Belief, Evidences


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


def test_the_same_groups_in_another_order_teach_nothing() -> None:
    groups = simulated(0.1, 12, 5, spikes=1)
    belief = believing(groups, met=1.0)
    before = belief.learned, belief._posterior
    belief.learn(groups[::-1])  # as labels leave them
    assert (belief.learned, belief._posterior) == before
    belief.density.saw_split(100.0, one_sided=True)
    belief.learn(groups)
    assert belief._posterior is not before[1]
    assert belief.learned == before[0] + 2


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


def test_a_group_near_zero_holds_none_but_two_that_cancel() -> None:
    belief = believing(simulated(1e-3, 16, 0))
    for size in (0.9, 1.0, 1.1, 0.8, 1.2, 1.0, 0.9, 1.1):
        belief.meet(size)
        belief.density.found()
    for n in (5_000, 2_000, 1_000, 500):
        belief.density.saw_labels(n, True)
    small, large = Said(0.01, 1e-9, 100.0, 100.0), Said(0.05, 1e-9, 2500.0, 2500.0)
    few, more = belief.missed(Evidences.of([small, large])).tolist()
    assert few < 0.01  # a spike would be a hundred deviations away
    assert few < more  # but in many coordinates there may be two


def test_a_second_search_looks_for_what_the_first_has_left() -> None:
    belief = believing(simulated(1e-3, 16, 0))
    belief.meet(0.05)
    group = Evidences.of([Said(0.02, 1e-9, 400.0, 400.0)])
    before = belief.missed(group)[0]
    belief.search_again(0.2, 10_000)
    assert belief.missed(group)[0] < 0.5 * before
    belief.begin()
    assert belief.unseen == 1.0


def test_a_search_elsewhere_begins_with_the_sizes_that_are_known() -> None:
    """Steps that are not as predicted leave no slope where it was, but slopes as large."""
    belief = believing(simulated(1e-3, 16, 0))
    belief.meet(0.05)
    belief.begin()
    assert belief.sizes.typical == 0.05
    belief.forget()
    assert belief.sizes.typical == 0.0


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
