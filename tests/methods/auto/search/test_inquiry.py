"""What is asked of a group: inquiries fed by values alone, of a function that need not exist."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.auto.rooms import Sure, World, sparse, written

from gracezo.core.asks import Role
from gracezo.core.box import Box
from gracezo.core.walls import Walls
from gracezo.methods.auto.instrument.look import Change, Request, Stencil
from gracezo.methods.auto.search.groups import Group, Several, moment, place
from gracezo.methods.auto.search.inquiry import Confirm, Cut, Inquiries, Label, Outcome
from gracezo.methods.auto.search.order import labelled


def silent(world: World) -> list[Group]:
    """Return groups in which nothing is to be seen."""
    return [Group(0, 50, 1e-10, 1e-9, world.order.left(0, 50), 0.0) for _ in range(8)]


def labels_of(world: World, request: Request, start: int) -> np.ndarray:
    """Return the labels of a request, in units of the largest, by position from `start`."""
    labels = written(request).values / world.order.weights[start : start + len(written(request).values)]
    return np.asarray(labels / np.abs(labels).max())


# ------------------------------------------------------------ labels


@given(span=st.integers(1, 500), whole=st.booleans(), both=st.booleans())
def test_labels_rise_with_the_position_and_keep_away_from_zero_in_a_window(
    span: int, whole: bool, both: bool
) -> None:
    labels = labelled(whole, both).labels(span)
    assert len(labels) == span
    assert (np.diff(labels) > 0.0).all()
    assert np.abs(labels).max() < 1.0
    assert (labels < 0.0).any() == (both and span > 1)
    if whole:  # linear in the position, about the centre where they go to both sides
        steps = (2.0 if both else 1.0) / span
        assert labels == pytest.approx((np.arange(span) + 0.5) * steps - both)
    else:
        assert np.abs(labels).min() >= 0.25


@settings(max_examples=30)
@given(seed=st.integers(0, 1000), start=st.integers(0, 50), size=st.integers(2, 400), noisy=st.booleans())
def test_k_is_the_sum_over_positions(seed: int, start: int, size: int, noisy: bool) -> None:
    world = World(np.random.default_rng(seed).normal(size=500), seed, noise=1e-12 if noisy else None)
    group = world.group(start, start + size)
    inquiries = world.inquiries()
    outcome, (asked,) = world.ask(inquiries.begin(group, Label(group.start, group.stop, 0.0)))
    assert outcome.groups == (group,)
    assert asked.role is Role.PROBE
    assert asked.stencil is Stencil.FORWARD or noisy  # to both sides only if one side is not sharp enough
    assert group.family is not None
    assert group.direct
    true = float(np.arange(group.start, group.stop) @ world.shares[group.start : group.stop])
    assert group.family.total == pytest.approx(true, abs=4.0 * group.family.blur + 1e-9)
    assert group.family.blur < 1e-3 * size


@pytest.mark.parametrize("at", [0, 400, 499, 500, 999])
def test_where_looks_go_to_both_sides_labels_do(at: int) -> None:
    world = World(np.zeros(1000), noise=1e-9)
    world.gradient[world.order.coordinates[at]] = 1.0
    group = world.group()
    inquiries = world.inquiries()
    outcome, (labels,) = world.ask(inquiries.begin(group, Label(0, 1000, 0.0)))
    assert outcome.groups == (group,)
    assert labels.stencil is Stencil.CENTRAL
    steps = labels_of(world, labels, 0)
    assert steps == pytest.approx(-steps[::-1])
    about = moment(group, world.order, world.belief)
    assert about is not None
    assert place(group, about)[0] == pytest.approx(at, abs=1e-5)
    plan = inquiries.plan(group)
    assert isinstance(plan, Confirm)
    assert plan.position == at


def test_labels_stay_on_one_side_where_a_bound_is_near() -> None:
    world = World(np.ones(1000), noise=1e-9)
    world.order.limits = (np.ones(1000), np.full(1000, 1e-15))  # ahead, and behind
    _, (labels,) = world.ask(world.inquiries().begin(world.group(), Label(0, 1000, 0.0)))
    assert labels.stencil is Stencil.FORWARD
    assert (written(labels).values / world.order.weights > 0.0).all()


@pytest.mark.parametrize("at", [700, 703, 709])
def test_labels_on_the_candidates_name_what_is_there(at: int) -> None:
    world = World(np.zeros(1000))
    world.gradient[world.order.coordinates[at]] = 1.0 / world.order.weights[at]
    group = Group(0, 1000, 1.0, 1e-9, world.order.left(0, 1000), 0.0)
    world.belief.learn([group, *silent(world)])
    group.label(705.0, 1.0)
    inquiries = world.inquiries()
    outcome, (labels,) = world.ask(inquiries.begin(group, Label(700, 710, 0.0)))
    assert written(labels).indices.tolist() == world.order.coordinates[700:710].tolist()
    assert outcome.groups == (group,)
    assert len(group.rows) == 1
    plan = inquiries.plan(group)
    assert isinstance(plan, Confirm)
    assert plan.position == at
    assert plan.share == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("start", [0, 700])
def test_nothing_among_the_candidates_refutes_one_spike(start: int) -> None:
    world = World(np.zeros(1000))
    world.gradient[world.order.coordinates[600]] = 1.0 / world.order.weights[600]
    group = Group(0, 1000, 1.0, 1e-9, world.order.left(0, 1000), 0.0)
    world.belief.learn([group, *silent(world)])
    group.label(start + 5.0, 1.0)
    inquiries = world.inquiries()
    before = world.belief.density.alone(1000)
    outcome, (labels,) = world.ask(inquiries.begin(group, Label(start, start + 10, 0.0)))
    assert written(labels).indices.tolist() == world.order.coordinates[start : start + 10].tolist()
    assert outcome.groups == (group,)
    assert isinstance(inquiries.plan(group), Cut)
    assert (group.rows, group.several) == ((), Several.UNSURE)
    assert world.belief.density.alone(1000) < before


def test_labels_on_candidates_go_to_both_sides_where_nothing_is_known_to_kink() -> None:
    world = World(np.ones(1000))
    inquiries = world.inquiries()
    _, (smooth,) = world.ask(inquiries.begin(world.group(), Label(200, 400, 0.0)))
    assert (labels_of(world, smooth, 200) < 0.0).sum() == 100
    for _ in range(9):
        world.belief.tried(1, False)
    _, (kinked,) = world.ask(inquiries.begin(world.group(), Label(200, 400, 0.0)))
    assert (labels_of(world, kinked, 200) > 0.0).all()


# ------------------------------------------------------------ plans


def test_a_sharp_ratio_between_positions_means_several_and_says_where_to_cut() -> None:
    world = World(np.zeros(100))
    group = Group(0, 100, 3.0, 1e-9, world.order.left(0, 100), 0.0)
    world.belief.learn([group, *silent(world)])
    group.label(1.0 * 20 + 2.0 * 70.2, 1e-6)
    before = world.belief.density.alone(100)
    assert world.inquiries().plan(group) == Cut(54)  # K/U is 53.47
    assert group.several is Several.SURE
    assert world.belief.density.alone(100) < before
    assert world.inquiries().plan(group) == Cut(54)  # it is learned once
    assert world.belief.density.alone(100) < before


@pytest.mark.parametrize(("share", "at"), [(0.4, None), (0.6, 60)])
def test_a_cut_beside_the_candidates_leaves_neither_part_next_to_nothing(
    share: float, at: int | None
) -> None:
    world = World(np.zeros(100), belief=Sure(100, 0.3))  # less than even: a cut is worth more
    group = Group(0, 100, 1.0, 1e-9, world.order.left(0, 100), 0.0)
    group.label(10.0 if at is None else 70.0, 10.0 / 3.0)
    plan = world.inquiries().plan(group)
    assert isinstance(plan, Cut)
    if at is None:
        assert plan.at is None or 15 <= plan.at <= 85
    else:
        assert plan.at == 60


@pytest.mark.parametrize(("complete", "at"), [(False, 55), (True, 70)])
def test_a_search_to_the_end_cuts_through_candidates_that_are_many(complete: bool, at: int) -> None:
    world = World(np.zeros(100), belief=Sure(100, 0.3))
    group = Group(0, 100, 1.0, 1e-9, world.order.left(0, 100), 0.0)
    group.label(70.0, 5.0)  # candidates from 55 to 85
    assert world.inquiries(complete=complete).plan(group) == Cut(at)


@pytest.mark.parametrize(
    ("size", "batch", "complete", "chance"),
    [
        (500, 1, False, 1 / math.log2(500)),
        (500, 8, False, 1 / 3),
        (500, 32, False, 1 / 2),
        (50, 8, False, 1 / 2),
        (500, 8, True, 1 / math.log2(500)),  # to the end: by queries
    ],
)
def test_labels_pay_by_the_rounds_of_cuts_that_they_save(
    size: int, batch: int, complete: bool, chance: float
) -> None:
    for factor, pay in ((0.99, False), (1.01, True)):
        world = World(np.zeros(1000), belief=Sure(1000, factor * chance))
        plan = world.inquiries(complete=complete, batch=batch).plan(
            Group(0, size, 1.0, 1e-12, 1.1 * size, 0.0)
        )
        assert isinstance(plan, Label if pay else Cut)


def test_background_makes_labels_tell_less() -> None:
    """They pay where K/U is blurred over few positions, and do not where over half of them."""
    for tau, pays in ((0.0, True), (1e-3, True), (0.05, False)):
        world = World(np.zeros(1000), belief=Sure(1000, 0.5))
        world.belief.tau = tau
        plan = world.inquiries().plan(Group(0, 500, 1.0, 1e-12, 550.0, 0.0))
        assert isinstance(plan, Label) == pays


# ------------------------------------------------------------ cuts


@settings(max_examples=40)
@given(seed=st.integers(0, 1000), count=st.integers(1, 8), at=st.integers(1, 99))
def test_a_cut_asks_for_all_parts_but_the_last(seed: int, count: int, at: int) -> None:
    world = World(np.random.default_rng(seed).normal(size=100), seed)
    group = world.labelled()
    outcome, asked = world.ask(world.inquiries().cut(group, at if count == 1 else None, count))
    assert len(asked) == count
    assert len(outcome.groups) == count + 1
    for part, request in zip(outcome.groups, asked, strict=False):
        assert written(request).indices.tolist() == world.order.coordinates[part.start : part.stop].tolist()
    if count == 1:
        assert outcome.groups[0].stop == at
    for part in outcome.groups:
        true = float(world.shares[part.start : part.stop].sum())
        assert abs(part.u - true) <= 4.0 * part.error < 1e-4
        assert part.squares == pytest.approx(world.order.left(part.start, part.stop))
    family = group.family
    assert family is not None
    assert family.members == list(outcome.groups)


def test_a_one_sided_cut_narrows_where_the_spike_may_be() -> None:
    world = World(np.zeros(64))
    world.gradient[world.order.coordinates[50]] = 1.0
    group = world.group()
    for streak in (1, 2, 3):
        outcome, _ = world.ask(world.inquiries().cut(group, None))
        group = max(outcome.groups, key=lambda part: abs(part.u))
        assert (group.streak, group.spread) == (streak, max(1.0, 64 / 2 ** (2 * streak)))
    alone = world.belief.density.alone(64)
    assert alone > World(np.zeros(64)).belief.density.alone(64)


def test_a_cut_that_divides_says_that_there_are_more() -> None:
    world = World(np.zeros(64))
    world.gradient[world.order.coordinates[[10, 50]]] = 1.0
    before = world.belief.density.alone(64)
    outcome, _ = world.ask(world.inquiries().cut(world.group(), None))
    assert [part.streak for part in outcome.groups] == [0, 0]
    assert world.belief.density.alone(64) < before


def test_background_in_the_lesser_part_does_not_divide() -> None:
    """A sum of background is no spike, however far above its own error."""
    rng = np.random.default_rng(5)
    for tau, one_sided in ((0.01, True), (0.0, False)):
        world = World(0.01 * rng.normal(size=200), 5)
        world.gradient[world.order.coordinates[150]] = 0.5
        world.belief.tau = tau
        outcome, _ = world.ask(world.inquiries().cut(world.group(), None))
        lesser, large = sorted(outcome.groups, key=lambda part: abs(part.u))
        assert 0.05 * abs(large.u) < abs(lesser.u) < 3.0 * 0.01 * math.sqrt(lesser.squares)
        assert (large.streak == 1) == one_sided


# ------------------------------------------------------------ noise


def test_a_group_that_fades_into_noise_is_asked_again_before_it_is_cut() -> None:
    world = World(np.zeros(1000), noise=1e-3)
    inquiries = world.inquiries()
    clear, faded = (Group(100, 300, 1.0, error, 210.0, 0.0, several=Several.SURE) for error in (0.16, 0.17))
    assert (inquiries.faded(clear), inquiries.faded(faded)) == (False, True)
    inquiry = inquiries.again(faded)
    (again,) = next(inquiry)
    assert written(again).indices.tolist() == world.order.coordinates[100:300].tolist()
    eps = written(again).values[0] / world.order.weights[100]
    error = 1e-3 / (math.sqrt(2.0 * again.repeats) * eps)
    with pytest.raises(StopIteration) as stop:
        inquiry.send([Change(1.2 * eps, -1.2 * eps)])
    assert stop.value.value.groups == (faded,)
    # Both are unbiased: the mean weighs them by what they are worth.
    assert faded.u == pytest.approx(
        (1.0 / 0.17**2 + 1.2 / error**2) / (1.0 / 0.17**2 + 1.0 / error**2), rel=1e-2
    )
    assert faded.error == pytest.approx((1.0 / 0.17**2 + 1.0 / error**2) ** -0.5, rel=1e-2)
    assert not inquiries.faded(faded)


def test_a_group_is_asked_again_when_errors_of_subtraction_come_near_its_sum() -> None:
    world = World(np.full(100, 0.01))
    inquiries = world.inquiries()
    group = world.group(20, 60)
    own = world.differences.across(group.squares, group.u).error(group.u)
    for error, faded in ((2.1 * own, False), (abs(group.u) / 15.0, True), (abs(group.u) / 17.0, False)):
        group.error = error
        assert inquiries.faded(group) == faded
    group.error, group.u = abs(group.u) / 10.0, 1.05 * group.u
    outcome, (again,) = world.ask(inquiries.again(group))
    assert outcome.groups == (group,)
    assert written(again).indices.tolist() == world.order.coordinates[20:60].tolist()
    assert group.u == pytest.approx(world.shares[20:60].sum(), abs=4.0 * own)
    assert group.error <= own
    assert not inquiries.faded(group)


# ------------------------------------------------------------ one coordinate


def named(world: World, group: Group, inquiries: Inquiries, most: int) -> tuple[Outcome, int]:
    """Ask what is planned of a group, and of the part that holds most, until a coordinate is found."""
    spent, others = 0, list[Group]()
    while spent <= most:
        world.belief.learn([group, *others])
        plan = inquiries.plan(group)
        inquiry = inquiries.cut(group, plan.at) if isinstance(plan, Cut) else inquiries.begin(group, plan)
        outcome, asked = world.ask(inquiry)
        spent += len(asked)
        if outcome.found is not None:
            return outcome, spent
        *rest, group = sorted(outcome.groups, key=lambda part: abs(part.u))
        others += rest
    pytest.fail("no coordinate was found")


@pytest.mark.parametrize("tau", [0.0, 1e-4, 1e-3, 5e-3])
def test_a_spike_through_background_is_named(tau: float) -> None:
    spent = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        spike = int(rng.integers(1000))
        world = World(tau * rng.normal(size=1000) + sparse(1000, {spike: 1.0}), seed)
        group = world.group()
        outcome, queries = named(world, group, world.inquiries(complete=True), 20)
        assert outcome.found is not None
        assert outcome.found.coordinate == spike
        assert outcome.found.slope == pytest.approx(world.gradient[spike], abs=1e-6)  # whatever blurs sums
        assert outcome.taken is not None
        assert world.order.coordinates[outcome.taken.position] == spike
        spent.append(queries)
    # K and a look, or two where the slope is blurred; labels where background leaves several candidates.
    assert np.mean(spent) <= {0.0: 2.0, 1e-4: 6.5, 1e-3: 8.0, 5e-3: 12.0}[tau]


def test_what_is_found_is_taken_out_of_its_group() -> None:
    world = World(sparse(500, {77: 2.0, 300: -0.5}))
    group = world.labelled(error=1e-12)
    at = int(np.flatnonzero(world.order.coordinates == 77)[0])
    weight = float(world.order.weights[at])
    outcome, asked = world.ask(world.inquiries().begin(group, Confirm(at, 2.0 * weight, 1e-9)))
    assert len(asked) == 1
    assert outcome.found is not None
    assert outcome.found.slope == pytest.approx(2.0)
    assert outcome.found.curvature == pytest.approx(world.differences.curvatures.mean, rel=1e-6)
    assert outcome.groups == (group,)
    assert outcome.taken is not None
    assert outcome.taken.position == at
    assert outcome.taken.share == pytest.approx(2.0 * weight)
    assert world.order.weights[at] == 0.0
    assert group.u == pytest.approx(world.shares.sum(), abs=1e-9)
    assert group.squares == pytest.approx(world.order.left(0, 500))
    about = moment(group, world.order, world.belief)  # K goes with it: the other one is named by what is left
    assert about is not None
    other = int(np.flatnonzero(world.order.coordinates == 300)[0])
    assert place(group, about)[0] == pytest.approx(other, abs=1e-5)


def test_the_wrong_one_is_not_taken_out() -> None:
    world = World(sparse(500, {77: 2.0}))
    group = world.labelled()
    at = int(np.flatnonzero(world.order.coordinates == 77)[0])
    u, wrong = group.u, at - 1 if at else 1
    before = world.belief.density.alone(500)
    outcome, _ = world.ask(world.inquiries().begin(group, Confirm(wrong, 2.0, 1e-9)))
    assert (outcome.found, outcome.kink, outcome.taken) == (None, None, None)
    assert outcome.groups == (group,)
    assert (group.u, group.several) == (u, Several.UNSURE)
    assert world.order.weights[wrong] != 0.0
    assert world.belief.density.alone(500) < before
    single = world.group(wrong, wrong + 1)
    single.u = 1.0
    assert world.inquiries().plan(single) == Confirm(wrong, 1.0, 1e-9)


def test_errors_are_trusted_as_far_as_they_were_met() -> None:
    world = World(sparse(1000, {300: 1.0}))
    differences = world.differences
    assert differences.met == 1.0
    for _ in range(3):
        differences.see(0.1, 1.0)
    assert differences.met == pytest.approx(math.sqrt(1.03 / 4.0))
    differences.see(5.0, 1.0)  # no more than the bound counts
    assert differences.met == pytest.approx(math.sqrt(2.03 / 5.0))
    # A coordinate found tells by how far its labels were off.
    group = world.labelled(error=1e-7)
    world.belief.learn([group, *silent(world)])
    before = differences.met
    plan = world.inquiries().plan(group)
    assert isinstance(plan, Confirm)
    outcome, _ = world.ask(world.inquiries().begin(group, plan))
    assert outcome.found is not None
    assert differences.met < before


def test_a_doubtful_candidate_before_a_wall_is_asked_inward() -> None:
    world = World(np.zeros(4))
    world.order.weights[:] = 1.0
    walls = Walls(Box.of(np.zeros(4), np.ones(4), 4))
    walls.centre(np.array([0.0, 0.5, 0.5, 0.5]))
    inquiries = Inquiries(world.differences, world.belief, world.order, walls)
    for at, way in ((0, 1.0), (1, -1.0)):  # uphill all the way: the first cannot go down
        group = Group(0, 4, 1.0, 1e-9, 4.0, 0.0)
        coordinate = int(world.order.coordinates[at])
        walls.centre(np.where(np.arange(4) == coordinate, 0.0 if at == 0 else 0.5, 0.5))
        (request,) = next(inquiries.begin(group, Confirm(at, 1.0, 1e-9, doubtful=True)))
        assert written(request).indices.tolist() == [coordinate]
        assert np.sign(written(request).values).tolist() == [way]
