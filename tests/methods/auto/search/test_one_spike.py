"""How one spike explains a group: against a fit at every position, one by one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.auto.rooms import World, sparse

from gracezo.core.types import FloatArray
from gracezo.methods.auto.search.groups import Group, Row, explain, moment, place
from gracezo.methods.auto.search.order import Order, labelled


def fitted(group: Group, order: Order, tau: float, met: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return χ², amplitude and its error of one spike at each position of a group that knows its K.

    Generalised least squares, written down as it stands: every quadratic form with the inverse of Σ.
    """
    assert group.family is not None
    positions = np.arange(group.start, group.stop)
    rows = [np.ones(group.size), (positions - group.centre) / (0.5 * group.size)]
    values = [group.u, (group.family.total - group.centre * group.u) / (0.5 * group.size)]
    errors = [group.error, group.family.blur / (0.5 * group.size)]
    for row in group.rows:
        rows.append(np.where((positions >= row.start) & (positions < row.start + len(row.labels)), 1.0, 0.0))
        rows[-1][row.start - group.start : row.start - group.start + len(row.labels)] *= row.labels
        values.append(row.value)
        errors.append(row.error)
    matrix, y = np.array(rows), np.array(values)
    weights = order.weights[group.start : group.stop]
    sigma = tau**2 * matrix @ np.diag(weights**2) @ matrix.T + met**2 * np.diag(np.square(errors))
    inverse = np.linalg.inv(sigma)
    chi, amplitude, error = np.full((3, group.size), np.inf)
    for k in np.flatnonzero(weights):
        column = matrix[:, k]
        norm = column @ inverse @ column
        amplitude[k] = column @ inverse @ y / norm
        error[k] = norm**-0.5
        left = y - amplitude[k] * column
        chi[k] = left @ inverse @ left
    return chi, amplitude, error


@settings(max_examples=150)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(4, 120),
    tau=st.floats(1e-4, 0.3),
    error=st.floats(1e-4, 1e-2),
    met=st.floats(0.2, 1.0),
    window=st.booleans(),
    taken=st.booleans(),
)
def test_the_candidates_are_those_of_a_fit_at_every_position(
    seed: int, n: int, tau: float, error: float, met: float, window: bool, taken: bool
) -> None:
    rng = np.random.default_rng(seed)
    gradient = tau * rng.normal(size=n)
    gradient[rng.integers(n)] += rng.choice([-1.0, 1.0])
    world = World(gradient, seed)
    world.belief.tau = tau
    if taken:
        world.order.remove(int(rng.integers(n)))
    group = world.labelled(error=error)
    group.u += error * rng.normal()
    if window:
        first = explain(group, world.order, world.belief, tau, met, 3.0)
        assert first is not None
        labels = labelled(False, True).labels(first.number)
        value = float(labels @ world.shares[first.first : first.last + 1])
        group.hear(Row(first.first, labels, value + error * rng.normal(), error, tau))
    chi, amplitude, errors = fitted(group, world.order, tau, met)
    if window:  # labels are asked where the spike was: nothing outside is looked at again
        row = group.rows[0]
        outside = np.ones(n, np.bool_)
        outside[row.start : row.start + len(row.labels)] = False
        chi[outside] = np.inf
    found = explain(group, world.order, world.belief, tau, met, 3.0)
    assert found is not None
    best = int(np.argmin(chi))
    assert chi[found.best] == pytest.approx(chi[best], rel=1e-6, abs=1e-6)
    near = np.flatnonzero(chi <= chi[best] + 9.0)
    # At the very edge of the window, and of what is looked at at all, rounding decides.
    clear = np.flatnonzero(chi <= chi[best] + 0.999 * 9.0)
    assert near[0] <= found.first <= clear[0]
    assert clear[-1] <= found.last <= near[-1]
    assert found.number == found.last - found.first + 1
    assert found.share == pytest.approx(amplitude[found.best], rel=1e-6)
    assert found.error == pytest.approx(errors[found.best], rel=1e-6)
    assert found.misfit == pytest.approx(chi[best] / (1 + window), rel=1e-5, abs=1e-6)


def test_the_true_position_is_among_the_candidates_as_often_as_the_window_says() -> None:
    """A window of 3 σ, and χ² of a degree of freedom: 99.7 %; the share of U lies within its error."""
    inside, within, trials = 0, 0, 400
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        spike, tau = int(rng.integers(300)), 0.03
        gradient = tau * rng.normal(size=300)
        world = World(gradient + sparse(300, {spike: 2.0}), seed)
        world.belief.tau = tau
        at = int(np.flatnonzero(world.order.coordinates == spike)[0])
        found = explain(world.labelled(), world.order, world.belief, tau, 1.0, 3.0)
        assert found is not None
        inside += found.first <= at <= found.last
        if found.best == at:
            within += abs(found.share - world.shares[at]) <= 2.0 * found.error
    assert inside >= 0.985 * trials
    assert within > 0


@given(size=st.integers(2, 5000), share=st.floats(0.0, 0.999), value=st.floats(1e-6, 1e6))
def test_one_coordinate_is_decoded_at_any_place(size: int, share: float, value: float) -> None:
    at = int(share * size)
    world = World(np.zeros(size))
    for sign in (-1.0, 1.0):
        group = Group(0, size, sign * value, 0.0, float(size), 0.0)
        group.label(at * sign * value, 0.0)
        about = moment(group, world.order, world.belief)
        assert about is not None
        position, error = place(group, about)
        assert position == pytest.approx(at, abs=1e-9 * size)
        assert error == 0.0
        found = explain(group, world.order, world.belief, 0.0, 1.0, 3.0)
        assert found is not None
        assert (found.best, found.number) == (at, 1)


def test_two_of_one_sign_are_separated_by_their_moment() -> None:
    world = World(np.zeros(100))
    group = Group(0, 100, 3.0, 0.0, 100.0, 0.0)
    group.label(1.0 * 20 + 2.0 * 70, 0.0)
    about = moment(group, world.order, world.belief)
    assert about is not None
    assert 20 < place(group, about)[0] < 70


def test_a_blurred_ratio_gives_a_window_around_it() -> None:
    world = World(np.zeros(10_000))
    group = Group(0, 10_000, 1.0, 0.0, 1e4, 0.0)
    group.label(4_321.3, 5.0)
    found = explain(group, world.order, world.belief, 0.0, 1.0, 3.0)
    assert found is not None
    assert (found.first, found.best, found.last) == (4_307, 4_321, 4_336)  # 3 σ of 5
    met = explain(
        group, world.order, world.belief, 0.0, 0.2, 3.0
    )  # errors were a fifth of their bounds so far
    assert met is not None
    assert (met.first, met.last) == (4_319, 4_324)


def test_a_coordinate_already_taken_is_not_named_again() -> None:
    world = World(np.zeros(8))
    group = Group(0, 8, 2.0, 0.0, 8.0, 0.0)
    group.label(10.0, 1e-6)
    world.order.remove(5)
    found = explain(group, world.order, world.belief, 0.0, 1.0, 3.0)
    assert found is None or found.best != 5
    if found is not None:
        assert found.misfit > 1e6  # of another, one spike is refuted


def test_a_ratio_beyond_the_ends_leaves_no_position() -> None:
    world = World(np.zeros(8))
    group = Group(0, 8, 1.0, 0.0, 8.0, 0.0)
    group.label(20.0, 1e-6)
    assert explain(group, world.order, world.belief, 0.0, 1.0, 3.0) is None


class TestFamilies:
    """Groups that were cut after K was asked know it together."""

    def cut(self, off: float, error: float) -> tuple[World, Group, Group]:
        """Return a spike of size one at position 950 of 900 to 1000, cut at 951, its U misread by `off`."""
        world = World(np.zeros(1000))
        whole = Group(900, 1000, 1.0, error, 100.0, 0.0)
        whole.label(950.0, 1e-8)
        large, empty = whole.parts([(951, 1.0 + off, error, 0.0)], [51.0, 49.0])
        world.belief.learn([large, empty])
        return world, large, empty

    def test_what_an_empty_part_seems_to_hold_does_not_move_the_ratio(self) -> None:
        world, large, empty = self.cut(5e-7, 4e-7)
        assert abs(empty.u) == pytest.approx(5e-7)
        about = moment(large, world.order, world.belief)
        assert about is not None
        position, error = place(large, about)
        # K minus nothing, over a U misread, would be 5e-4 off; about the centre of what is empty, 1e-5.
        assert position == pytest.approx(950.0, abs=2e-5)
        assert abs(position - 950.0) <= 2.0 * error < 1e-4
        found = explain(large, world.order, world.belief, world.belief.tau, 1.0, 3.0)
        assert found is not None
        assert (found.best, found.number) == (950, 1)

    def test_a_part_that_holds_a_spike_leaves_k_unknown(self) -> None:
        world, large, empty = self.cut(0.5, 4e-7)
        assert world.belief.holds(empty) > 0.5
        assert moment(large, world.order, world.belief) is None

    @given(seed=st.integers(0, 1000), tau=st.floats(1e-3, 0.1))
    @settings(max_examples=30)
    def test_background_in_the_others_is_in_the_error(self, seed: int, tau: float) -> None:
        rng = np.random.default_rng(seed)
        world = World(tau * rng.normal(size=200), seed)
        world.belief.tau = tau
        whole = world.labelled()
        one, two = whole.parts(
            [(120, float(world.shares[:120].sum()), 1e-9, 0.0)],
            [world.order.left(0, 120), world.order.left(120, 200)],
        )
        if world.belief.holds(two) > 0.5:
            return
        about = moment(one, world.order, world.belief)
        assert about is not None
        true = float((np.arange(120) - one.centre) @ world.shares[:120]) / 60.0
        # What lies off the centre of the other part is not known: Στ²w²(k − centre)².
        way = np.arange(120, 200) - two.centre
        sigma = tau * math.sqrt(float(world.order.weights[120:] ** 2 @ way**2)) / 60.0
        assert about[1] == pytest.approx(sigma, rel=1e-3)
        assert abs(about[0] - true) <= 5.0 * sigma


def test_the_second_moment_is_that_of_the_squared_weights() -> None:
    world = World(np.zeros(50), 3)
    group = world.group(10, 30)
    expected = sum(float(world.order.weights[k]) ** 2 * (k - 12.5) ** 2 for k in range(10, 30))
    assert world.order.second_moment(group.start, group.stop, 12.5) == pytest.approx(expected)
