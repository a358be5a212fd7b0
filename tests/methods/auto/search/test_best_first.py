"""The search: which group is asked next, in batches too, and when it begins anew."""

from __future__ import annotations

import numpy as np
import pytest
from tests.methods.auto.rooms import written

from gracezo.core.asks import Ask, Point, Role, Steps
from gracezo.core.types import FloatArray
from gracezo.methods.auto import constants
from gracezo.methods.auto.belief import Belief
from gracezo.methods.auto.instrument.central import Pairs
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.instrument.look import Change, Request
from gracezo.methods.auto.search import Search
from gracezo.methods.auto.search.alone import Found
from gracezo.methods.auto.search.groups import Group, Several
from gracezo.methods.auto.search.order import Order
from gracezo.methods.auto.search.queue import Partition, price
from gracezo.methods.auto.search.to_the_end import Allowance, WholeSearch


def begun(d: int = 1000, kind: type[Search] = Search, found: dict[int, float] | None = None) -> Search:
    """Return a search at its beginning that notes the errors of what it finds."""
    differences, noted = Differences(), {} if found is None else found

    def note(one: Found) -> None:
        noted[one.coordinate] = one.error

    search = kind(differences, Belief(d), note)
    search.centre(Point(np.zeros(d), 1.0))
    search.restart(np.arange(d), np.random.default_rng(0))
    return search


def partition_of(search: Search) -> Partition:
    assert search.partition is not None
    return search.partition


def order_of(search: Search) -> Order:
    return partition_of(search).order


def opened(search: Search, values: list[float], size: int) -> None:
    """Open groups one after the other that one spike does not explain, with nothing beside them."""
    order = order_of(search)
    search.root(0.0, 1e-9, 0.0)
    for group in partition_of(search).open.groups:
        partition_of(search).open.take(group)
    for place, value in enumerate(values):
        start, stop = place * size, (place + 1) * size
        group = Group(start, stop, value, 1e-9, order.left(start, stop), 0.0, several=Several.SURE)
        search.reopen(group)


def answer(search: Search, gradient: FloatArray, requests: list[Request]) -> None:
    """Answer with what a function of that gradient and the guessed curvature would."""
    for request in requests:
        bend = (
            0.5
            * search._differences.curvatures.mean
            * float(written(request).values @ written(request).values)
        )
        request.absorb(Change(float(gradient[written(request).indices] @ written(request).values) + bend))


@pytest.mark.parametrize("batch", [1, 4, 16])
def test_the_largest_coordinates_are_found_first(batch: int) -> None:
    gradient = np.zeros(1000)
    places = [7, 100, 512, 640, 999]
    gradient[places] = [1.0, -0.3, 0.1, 3.0, -0.03]
    found: dict[int, float] = {}
    search = begun(found=found)
    rounds = 0
    while len(found) < 5:
        answer(search, gradient, search.requests(batch))
        rounds += 1
        assert rounds < 60
        order = order_of(search)
        true = order.weights @ gradient[order.coordinates]
        allowed = 1e-4 + 6.0 * sum(found.values())
        assert partition_of(search).total == pytest.approx(true, abs=allowed)
        if not search._running:  # U of what is open is all that is left
            left = sum(group.u for group in partition_of(search).open.groups)
            assert left == pytest.approx(partition_of(search).total, abs=1e-4)
    assert set(found) == set(places)
    assert partition_of(search).open.norm <= allowed
    if batch == 1:
        assert next(iter(found)) == 640
        assert rounds <= 26


def test_everything_is_open_again_when_inquiries_are_given_up() -> None:
    gradient = np.random.default_rng(1).normal(size=1000)
    search = begun()
    answer(search, gradient, search.requests(8))
    for _ in range(5):
        answer(search, gradient, search.requests(8))
    search.requests(8)
    search.abandon()
    order = order_of(search)
    covered = sorted((group.start, group.stop) for group in partition_of(search).open.groups)
    left = sum(order.left(start, stop) for start, stop in covered)
    assert left == pytest.approx(order.left(0, 1000))
    assert sum(group.u for group in partition_of(search).open.groups) == pytest.approx(
        float(order.weights @ gradient[order.coordinates]), abs=1e-3
    )


def test_a_search_is_looked_at_again_when_it_would_waste_more_than_that_costs() -> None:
    search = begun()
    search.root(1.0, 1e-9, 0.0)
    assert not search.belief.drift.overdue(1e6)  # no step has given any reason
    # A fifth of `drift`; of two rechecks, one counts as fruitful beforehand.
    search.belief.drift.note_step(0.1, missed=0.01)
    assert (search.belief.drift.overdue(9.0), search.belief.drift.overdue(11.0)) == (False, True)
    assert search.belief.drift.doubt == pytest.approx(0.05)
    search.belief.drift.note_step(0.1, missed=0.5)
    # There is no more reason than one.
    assert (search.belief.drift.overdue(1.9), search.belief.drift.overdue(2.1)) == (
        False,
        True,
    )  # no more reason than one
    search.recheck()
    assert not search.belief.drift.overdue(1e6)
    assert search.belief.drift.doubt == 0.0


@pytest.mark.parametrize(("now", "outdated"), [(1.0, False), (1.2, True)])
def test_a_search_whose_sum_has_changed_is_out_of_date(now: float, outdated: bool) -> None:
    search = begun()
    search.root(1.0, 1e-9, 0.0)
    drifting = search.belief.drift.drifting
    recheck = search.recheck()
    eps = written(recheck).values[0] / order_of(search).weights[0]
    recheck.absorb(Change(recheck.expected + eps * (now - 1.0)))
    assert search.belief.drift.outdated == outdated
    assert (search.belief.drift.drifting > drifting) == outdated
    search.restart(np.arange(1000), np.random.default_rng(1))
    assert not search.belief.drift.outdated


@pytest.mark.parametrize(
    ("values", "parts"),
    [([1.0], [8]), ([1.0, 0.9], [5, 3]), ([1.0, 0.5], [7, 1]), ([1.0, 0.3], [8])],
)
def test_a_batch_cuts_where_a_query_tells_most(values: list[float], parts: list[int]) -> None:
    search = begun()
    size = 1000 // len(values)
    opened(search, values, size)
    asked = [written(request).indices for request in search.requests(8)]
    places = {int(coordinate): place for place, coordinate in enumerate(order_of(search).coordinates)}
    counts = [0] * len(values)
    for indices in asked:
        counts[places[int(indices[0])] // size] += 1
    assert [count for count in counts if count] == parts


def test_a_search_to_the_end_leaves_no_group_of_a_batch_aside() -> None:
    search = begun(100, WholeSearch)
    opened(search, [1.0, 0.2, 0.1], 2)
    assert len(search.requests(8)) == 3


@pytest.mark.parametrize("changed", [False, True])
def test_a_next_partition_is_used_only_if_the_search_has_changed(changed: bool) -> None:
    search = begun()
    search.root(1.0, 1e-9, 0.0)
    old = order_of(search)
    recheck, following = search.recheck(), search.following(np.arange(10, 1000), np.random.default_rng(1))
    eps = written(recheck).values[0] / old.weights[0]
    recheck.absorb(Change(recheck.expected + eps * changed))
    following.absorb(Change(1e-9))
    assert search.order is old
    search.restart(np.arange(500), np.random.default_rng(2))  # here, or later at another point
    assert search.rooted == changed
    assert len(order_of(search)) == (990 if changed else 500)
    if changed:
        assert partition_of(search).open.norm == abs(partition_of(search).total) > 0.0


def test_a_next_partition_is_of_no_use_elsewhere() -> None:
    """Its sum was measured around another point: what has got a slope since then would not be seen."""
    search = begun(100)
    search.root(1.0, 1e-9, 0.0)
    search.following(np.arange(100), np.random.default_rng(1)).absorb(Change(0.0))
    search.centre(Point(np.ones(100), 0.9))
    search.belief.drift.moved()
    search.restart(np.arange(100), np.random.default_rng(2))
    assert not search.rooted


def test_background_promises_what_its_coordinates_have_and_no_more() -> None:
    """A group of background is worth a query a coordinate; one that holds a spike, a few queries in all."""
    search = begun()
    opened(search, [1.0] + [0.03] * 30, 30)
    search.belief.learn(partition_of(search).open.groups)
    spiked, plain = partition_of(search).open.groups[:2]
    assert search.belief.holds(spiked) > 0.9
    assert (price(search.belief, plain).worth, price(search.belief, plain).cost) == (1.0, 30.0)
    found = price(search.belief, spiked)
    assert found.worth > 0.9
    assert found.cost < 7.0


class TestToTheEnd:
    """What is left of a whole gradient."""

    def test_what_is_outside_is_the_background_of_all_that_is_open(self) -> None:
        rng = np.random.default_rng(3)
        gradient = 0.01 * rng.normal(size=1000)
        search = begun(1000, WholeSearch)
        assert isinstance(search, WholeSearch)
        order = order_of(search)
        search.root(0.0, 1e-9, 0.0)
        partition_of(search).open.take(partition_of(search).open.groups[0])
        for start in range(0, 1000, 50):
            part = slice(start, start + 50)
            u = float(order.weights[part] @ gradient[order.coordinates[part]])
            search.reopen(Group(start, start + 50, u, 1e-9, order.left(start, start + 50), 0.0))
        for n in (1000, 500, 250):
            search.belief.density.saw_split(n, one_sided=True)  # few matter, but for these
        search.belief.learn(partition_of(search).open.groups)
        true = float(
            (order.weights * gradient[order.coordinates]) @ (order.weights * gradient[order.coordinates])
        )
        assert not search.busy
        assert search.outside == pytest.approx(true, rel=0.6)
        assert search.left == 20 * 49

    def test_what_was_bought_is_gone_through_by_how_likely_a_spike_is(self) -> None:
        search = begun(1000, WholeSearch)
        assert isinstance(search, WholeSearch)
        opened(search, [0.01, -0.02, 1.0, 0.015, 0.3] + [0.01] * 15, 50)
        search.belief.learn(partition_of(search).open.groups)
        _, groups = search.bought()
        assert len(groups) == 20
        assert [group.u for group in groups[:3]] == [1.0, 0.3, -0.02]

    def test_a_group_that_holds_a_spike_stands_out(self) -> None:
        search = begun(1000, WholeSearch)
        assert isinstance(search, WholeSearch)
        opened(search, [1.0] + [1e-3 * (-1) ** k for k in range(19)], 50)
        search.belief.learn(partition_of(search).open.groups)
        assert search.busy
        assert search.outside >= 1.0 / (1.0 + constants.SPREAD**2 / 3.0)  # the mean square of a weight
        top = search._top()
        assert top is not None
        assert top.group.u == 1.0


def test_changes_that_may_cancel_are_told_apart_where_one_is_likely() -> None:
    """A recheck with the support in one look took a change for none where the support changed as much."""
    search = begun()
    search.root(1.0, 1e-9, 0.0)
    search.belief.drift.note_step(0.1, missed=1.0)
    alike = search.recheck()  # of two rechecks one counts as fruitful beforehand: no more likely than not
    search.belief.drift.saw(True)
    search.belief.drift.note_step(0.1, missed=1.0)
    changed = search.recheck()
    eps = alike.expected  # the sum is one
    assert alike.allowed == pytest.approx(0.05 * eps, rel=1e-3)
    assert changed.allowed < 1e-3 * alike.allowed


def test_a_recheck_of_what_is_below_its_error_takes_one_look() -> None:
    differences = Differences()
    search = Search(differences, Belief(1000), lambda one: None)
    search.centre(Point(np.zeros(1000), 1.0))
    differences.values.hear(1e-2)
    pairs = Pairs(1e-2)
    pairs.begin(0.1, Change(0.1, -0.1, 0.05))
    differences.look_to_both_sides(pairs)
    for value, repeats in ((1e-9, 1), (0.3, 10)):
        search.restart(np.arange(1000), np.random.default_rng(0))
        search.root(value, 0.2, 0.1)
        assert search.recheck().repeats == repeats


class TestAllowance:
    """What a search may take, given what plain differences would."""

    def allowance(
        self, noise: float = 0.0, coarse: bool = False
    ) -> tuple[Allowance, WholeSearch, Differences]:
        search = begun(100, WholeSearch)
        assert isinstance(search, WholeSearch)
        differences = Differences()
        if noise:
            differences.values.hear(noise, coarse)
            differences.look_to_both_sides(Pairs(noise))
        return Allowance(100), search, differences

    def asked(self, allowance: Allowance, queries: int) -> None:
        steps = allowance.ledger.keep(in_one_ask(queries))
        next(steps)
        with pytest.raises(StopIteration):
            steps.send(np.zeros(queries))

    def test_the_first_look_is_not_limited_where_f_may_be_noisy(self) -> None:
        assert self.allowance()[0].left(*self.allowance()[1:]) == np.inf

    def test_an_exact_function_leaves_enough_for_plain_differences(self) -> None:
        allowance, search, differences = self.allowance()
        self.asked(allowance, 3)
        allowance.begin()
        assert search.left == 100  # no sum is known by which one would follow
        assert allowance.left(search, differences) == 115 - 3 - 100
        search.root(1.0, 1e-9, 1e-8)
        assert allowance.left(search, differences) == 115 - 3 - 99
        assert allowance.plain(search, differences)

    def test_noise_leaves_as_many_as_looks_to_both_sides_would_take(self) -> None:
        allowance, search, differences = self.allowance(noise=0.1)
        assert allowance.left(search, differences) == np.inf
        self.asked(allowance, 20)
        allowance.begin()
        assert allowance.left(search, differences) == 2 * 115
        assert differences.pairs is not None
        assert differences.pairs.often(1.0, 4.0) == 4
        assert allowance.left(search, differences) == 8 * 115
        assert not allowance.plain(search, differences)

    def test_a_coarse_function_is_searched_as_long_as_that_is_expected_to_pay(self) -> None:
        allowance, search, differences = self.allowance(noise=0.1, coarse=True)
        self.asked(allowance, 13)
        assert allowance.left(search, differences) == 115 - 13 - 100  # in the first look
        allowance.begin()
        assert not search.ends(102 / 2)
        assert allowance.left(search, differences) == 2
        for _ in range(10):
            search.belief.density.saw_labels(100.0, True)
        assert search.ends(102 / 2)
        assert allowance.left(search, differences) == 102
        assert allowance.plain(search, differences)
        self.asked(allowance, 3)
        assert allowance.left(search, differences) == 99
        assert not allowance.plain(search, differences)  # not enough is left for that

    def test_an_exact_function_without_a_background_is_searched_so_too(self) -> None:
        allowance, search, differences = self.allowance()
        self.asked(allowance, 3)
        allowance.begin()
        search.root(1e-10, 1e-9, 1e-8)
        for _ in range(10):
            search.belief.density.saw_labels(100.0, True)
        assert search.clear
        assert allowance.left(search, differences) == 112
        assert allowance.plain(search, differences)
        self.asked(allowance, 13)  # what one sum gives is spent
        assert allowance.left(search, differences) == 99
        assert not allowance.plain(search, differences)


def in_one_ask(queries: int) -> Steps[None]:
    yield Ask.at(np.zeros(1), Role.PROBE, queries)
