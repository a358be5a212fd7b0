"""Algorithm 1, piece by piece and against an oracle written straight from its text."""

from __future__ import annotations

import math
from itertools import chain, repeat

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gracezo
from gracezo.core.asks import Ask, Point, Role, SparseRows
from gracezo.core.keys import Key
from gracezo.core.method import HasEstimator, Problem
from gracezo.estimators.grace import VARIANTS, printed_labels, published_labels, search
from gracezo.methods.catalog import make

sizes = st.integers(3, 400)
divisions = st.integers(2, 500)


@given(sizes, divisions)
def test_printed_labels(size: int, division: int) -> None:
    block = math.ceil(size / division)
    assert printed_labels(size, division).tolist() == [math.ceil((k + 1) / block) for k in range(size)]


@given(sizes, divisions)
def test_published_labels(size: int, division: int) -> None:
    block = math.ceil(size / division)
    assert published_labels(size, division).tolist() == [(block + 1 + k) // block for k in range(size)]


@given(
    st.sampled_from(sorted(VARIANTS)),
    st.integers(3, 300),
    st.lists(st.integers(2, 30), min_size=1, max_size=3),
    st.integers(0, 2**32),
    st.data(),
)
def test_a_search_follows_the_algorithm(
    variant: str, size: int, schedule: list[int], seed: int, data: st.DataObject
) -> None:
    """Feed arbitrary ratios and check each round's queries and what is kept."""
    rules = VARIANTS[variant]
    eps = 0.5
    at = Point(np.zeros(1000), 1.0)
    group = np.random.default_rng(seed).permutation(1000)[:size]
    steps = search(at, group, eps, chain(schedule, repeat(schedule[-1])), rules, Key(seed).generator())
    said = next(steps)
    for division in chain(schedule, repeat(schedule[-1])):
        u = _row(said, group, reserve=2)
        assert set(np.abs(u)) == {eps}
        said = steps.send(np.array([1.5]))
        labels = np.rint(_row(said, group, reserve=1) / u)
        assert np.array_equal(labels, rules.labels(np.random.default_rng(0), len(group), division))
        ratio = data.draw(st.integers(-2, int(labels[-1]) + 2))
        target = min(max(ratio, 0), int(labels[-1])) if rules.clamp else ratio
        group = group[labels == target]
        answer = np.array([1.0 + 0.5 * ratio])
        if len(group) <= 2:
            break
        said = steps.send(answer)
    with pytest.raises(StopIteration) as end:
        steps.send(answer)
    assert end.value.value.left.tolist() == group.tolist()
    assert not end.value.value.flat


def _row(said: object, group: np.ndarray, reserve: int) -> np.ndarray:
    assert isinstance(said, Ask)
    assert isinstance(said.offsets, SparseRows)
    assert (len(said), said.role, said.reserve) == (1, Role.PROBE, reserve)
    assert said.offsets.indices.tolist() == group.tolist()
    return said.offsets.values


def test_a_flat_group_does_not_cost_its_second_query() -> None:
    g = gracezo.estimate_gradient(lambda x: 0.0, np.zeros(98), method="grace", sparsity=5, seed=0)
    assert g.queries == 1 + math.ceil(98 / 13)
    assert g.flat
    assert len(g.indices) == 0
    result = gracezo.minimize(lambda x: 0.0, np.zeros(98), method="grace", sparsity=5)
    assert (result.status, result.nfev) == (4, 1 + math.ceil(98 / 13))


@given(st.integers(2, 60), st.integers(0, 99))
def test_the_groups_are_a_partition(n: int, seed: int) -> None:
    d = 100
    method = make("grace", Problem(d, 1), {"group_size": n, "repeats": 2})
    assert isinstance(method, HasEstimator)
    steps = method.estimator.estimate(Point(np.zeros(d), 0.0), 1, Key(seed))
    said = next(steps)
    assert isinstance(said, Ask)
    if n > 2:
        assert isinstance(said.offsets, SparseRows)
        lengths = np.diff(said.offsets.indptr)
        full, rest = divmod(d, n)
        once = [n] * full + [rest] * (rest > 0)
        assert lengths.tolist() == [length for length in once * 2 if length > 2]
        if rest == 0 or rest > 2:
            for half in np.split(said.offsets.indices, 2):
                assert sorted(half.tolist()) == list(range(d))
    else:
        assert len(said) == d  # groups of two cost no round: each coordinate is measured


@given(st.integers(1, 5), st.integers(30, 3000), st.integers(2, 40), st.integers(0, 99))
def test_no_run_exceeds_the_worst_case(s: int, d: int, first: int, seed: int) -> None:
    """Whatever the values: here they are random, so that groups go anywhere."""
    random = np.random.default_rng(seed)
    for variant in VARIANTS:
        g = gracezo.estimate_gradient(
            lambda x: random.random(),
            np.zeros(d),
            method="grace",
            sparsity=s,
            seed=seed,
            options={"first_division": first, "variant": variant},
        )
        assert g.queries <= gracezo.theory.worst_case_queries(d, s, first_division=first)


@given(st.integers(0, 999), st.integers(50, 5000))
def test_one_coordinate_is_always_found(seed: int, d: int) -> None:
    """On an exactly 1-sparse linear function the ratio is exact."""
    j = seed % d
    g = gracezo.estimate_gradient(lambda x: 2.0 * x[j], np.zeros(d), method="grace", sparsity=1, seed=seed)
    assert j in g.indices
    assert g.values[g.indices.tolist().index(j)] == pytest.approx(2.0)
    assert g.confirmed.all()


def test_many_relevant_coordinates_make_it_fdsa() -> None:
    weights = np.arange(1.0, 11.0)
    g = gracezo.estimate_gradient(
        lambda x: float(weights @ x), np.zeros(10), method="grace", sparsity=10, seed=0
    )
    assert g.queries == 11
    assert g.toarray() == pytest.approx(weights)


def test_eps_may_follow_the_step() -> None:
    asked: list[float] = []

    def f(x: np.ndarray) -> float:
        asked.append(float(np.abs(x).max()))
        return float(x[3])

    options = {"eps": lambda t: 1.0 / t**2, "step_size": 1e-12}
    gracezo.minimize(f, np.zeros(4), method="fdsa", max_steps=3, seed=0, options=options)
    assert asked[1:5] == pytest.approx([1.0] * 4)
    assert asked[6:10] == pytest.approx([0.25] * 4)
    assert asked[11:15] == pytest.approx([1 / 9] * 4)
