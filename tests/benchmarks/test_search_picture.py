"""The picture of a search shows what was asked."""

from __future__ import annotations

import numpy as np
from benchmarks.search_picture import search

from gracezo.problems import Distance


def test_single_coordinates_are_asked_where_they_are() -> None:
    problem = Distance(seed=1, d=300, s=3)
    queries, order = search(problem, seed=1)
    assert sorted(order.tolist()) == list(range(300))
    assert [len(query.positions) for query in queries[:3]] == [300] * 3
    assert not any(query.labelled for query in queries[:3])
    assert queries[3].labelled
    alone = {int(order[query.positions[0]]) for query in queries if len(query.positions) == 1}
    assert alone == set(np.flatnonzero(problem.optimum).tolist())
