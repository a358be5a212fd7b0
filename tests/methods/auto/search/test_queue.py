"""The queue of open groups, and inquiries under way."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gracezo.core.asks import Role
from gracezo.core.moves import Few
from gracezo.methods.auto import constants
from gracezo.methods.auto.instrument.look import Change, Request
from gracezo.methods.auto.search.groups import Group
from gracezo.methods.auto.search.inquiry import Inquiry, Outcome
from gracezo.methods.auto.search.queue import Open, Price, Running


def never(group: Group) -> bool:
    return False


def at(rate: float, group: Group) -> Price:
    return Price(group, 1.0, 1.0, rate)


def priced(rates: dict[Group, float]) -> Callable[[Group], Price]:
    return lambda group: at(rates[group], group)


def best_of(queue: Open, rates: dict[Group, float]) -> tuple[Group, float] | None:
    top = queue.best(-1, priced(rates), never)
    return None if top is None else (top.group, top.rate)


@given(moves=st.lists(st.tuples(st.floats(-9.0, 9.0), st.floats(0.0, 9.0), st.booleans()), max_size=60))
def test_the_best_price_is_on_top_and_the_norm_is_that_of_what_is_open(
    moves: list[tuple[float, float, bool]],
) -> None:
    queue, prices = Open(), dict[Group, float]()
    for u, price, out in moves:
        group = Group(0, 4, u, 0.0, 1.0, 0.0)
        queue.push(at(price, group))
        prices[group] = price
        top = best_of(queue, prices)
        assert top is not None
        assert top[1] == prices[top[0]] == max(prices.values())
        if out:
            assert queue.take(top[0]) is top[0]
            del prices[top[0]]
    assert set(queue.groups) == set(prices)
    assert queue.norm == pytest.approx(math.sqrt(sum(group.u**2 for group in prices)), abs=1e-6)
    for side in (0, 1):
        of_side = sum(group.u**2 for group in prices if (group.u > 0) == bool(side))
        assert queue.mass[side] == pytest.approx(of_side, abs=1e-10)


def test_a_group_that_comes_back_has_its_new_price_only() -> None:
    queue, one, two = Open(), Group(0, 4, 3.0, 0.0, 1.0, 0.0), Group(4, 8, -4.0, 0.0, 1.0, 0.0)
    queue.push(at(9.0, one))
    queue.push(at(5.0, two))
    assert queue.norm == 5.0
    queue.push(at(1.0, queue.take(one)))
    prices = {one: 1.0, two: 5.0}
    assert best_of(queue, prices) == (two, 5.0)
    queue.take(two)
    assert best_of(queue, prices) == (one, 1.0)
    queue.take(one)
    assert (best_of(queue, prices), queue.norm, queue.mass) == (None, 0.0, [0.0, 0.0])


def test_prices_are_worked_out_again_when_something_was_learned_and_only_then() -> None:
    one, two = (Group(k, k + 4, 3.0, 0.0, 1.0, 0.0) for k in (0, 4))
    queue, rates, asked = Open(), {one: 9.0, two: 5.0}, list[Group]()
    for group, first in rates.items():
        queue.push(at(first, group))

    def price(group: Group) -> Price:
        asked.append(group)
        return at(rates[group], group)

    def best(learned: int, spent: Callable[[Group], bool] = never) -> tuple[Group, float]:
        top = queue.best(learned, price, spent)
        assert top is not None
        return top.group, top.rate

    assert [best(1) for _ in range(3)] == 3 * [(one, 9.0)]
    assert asked == [one]
    rates[one] = 1.0  # nobody has said that anything was learned
    assert best(1) == (one, 9.0)
    assert best(2) == (two, 5.0)
    assert asked == [one, one, two]
    assert best(3, lambda group: group is two) == (one, 1.0)  # what is spent is left alone
    assert queue.groups == [one]


def test_what_is_left_alone_still_tells_of_the_background() -> None:
    queue = Open()
    groups = [Group(k, k + 1, 1.0, 0.0, 1.0, 0.0) for k in range(3 * constants.WINDOW)]
    for group in groups:
        queue.push(at(1.0, group))
    for group in groups[: 2 * constants.WINDOW]:
        queue.leave(group)
    assert queue.groups == groups[2 * constants.WINDOW :]
    assert set(queue.evidence) == set(groups[constants.WINDOW :])
    assert queue.norm == pytest.approx(math.sqrt(constants.WINDOW))


def test_an_inquiry_goes_on_when_all_that_it_wanted_is_heard() -> None:
    heard: list[list[float]] = []
    settled: list[tuple[Running, Outcome]] = []
    group = Group(0, 4, 1.0, 0.0, 4.0, 0.0)

    def asking() -> Inquiry:
        for count in (2, 1):
            requests = [Request(Few(np.array([k]), np.ones(1)), Role.PROBE) for k in range(count)]
            heard.append([change.ahead for change in (yield requests)])
        return Outcome((group,))

    running = Running(group, asking(), lambda *what: settled.append(what))
    running.begin()
    first, second = running.requests()
    first.absorb(Change(1.0))
    assert (heard, len(running.wanted)) == ([], 2)
    second.absorb(Change(2.0))
    assert (heard, settled) == ([[1.0, 2.0]], [])
    (third,) = running.requests()
    third.absorb(Change(3.0))
    assert heard == [[1.0, 2.0], [3.0]]
    ((who, outcome),) = settled
    assert (who is running, outcome.groups) == (True, (group,))
