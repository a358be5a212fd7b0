from __future__ import annotations

import math

import pytest
from tests.experiments.builders import cell, record

from gracezo.experiments.cells import Cell, better_than_grace
from gracezo.experiments.paper import PUBLISHED_STEPS, Printed
from gracezo.experiments.runs import Job
from gracezo.experiments.settings import Plan


def test_the_measure_is_the_best_normalised_iterate() -> None:
    job = Job("distance", "rs", 0, {}, max_steps=3)
    run = record(job, [4.0, 6.0, 1.0, 2.0])
    assert run.best == 0.25
    assert run.best_within(1) == 1.0
    assert run.best_within(2) == 0.25


def test_mean_and_standard_error() -> None:
    measured = cell([0.1, 0.2, 0.3]).measured
    assert measured.mean == pytest.approx(0.2)
    assert measured.se == pytest.approx(0.1 / math.sqrt(3))


def test_differs_beyond_three_combined_errors() -> None:
    # Ours: mean 0.2, standard error 0.03/√… chosen so that the combined error is 0.05.
    ours = [0.2 - 0.03 * math.sqrt(2) / math.sqrt(2), 0.2 + 0.03 * math.sqrt(2) / math.sqrt(2)]
    assert cell(ours).measured.se == pytest.approx(0.03)
    assert not cell(ours, Printed(0.349, 0.04)).differs
    assert cell(ours, Printed(0.351, 0.04)).differs
    assert not cell(ours, Printed(0.351, 0.04), comparable=False).differs


def test_without_an_error_of_the_papers_ours_stands_for_both_and_rounding_is_allowed() -> None:
    limit = 3 * math.sqrt(2) * 0.03 + 0.5e-4
    assert not cell([0.17, 0.23], Printed(0.2 + limit - 1e-6, digits=4)).differs
    assert cell([0.17, 0.23], Printed(0.2 + limit + 1e-6, digits=4)).differs


def test_a_single_run_is_not_judged() -> None:
    single = cell([0.5], Printed(0.1, 0.001))
    assert math.isnan(single.measured.se)
    assert not single.judged
    assert not single.differs


def test_gld_is_counted_as_the_paper_does_too() -> None:
    gld = cell([0.5, 0.6], method="gld")
    assert gld.queries == 5
    assert gld.paper_queries == 1 + 5 * 2
    assert cell([0.5], method="rs").paper_queries == 5


def test_the_published_end_is_read_from_the_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PUBLISHED_STEPS, ("attack", "gld"), 1)
    job = Job("attack", "gld", 0, {}, max_steps=2)
    longer = Cell(Plan("attack", "gld", range(1)), (record(job, [1.0, 0.8, 0.5]),))
    assert longer.at_published_end is not None
    assert longer.at_published_end.mean == 0.8
    shorter = Cell(Plan("attack", "gld", range(1)), (record(job, [1.0, 0.8]),))
    assert shorter.at_published_end is None


def test_who_is_better_than_grace() -> None:
    grace = cell([0.10, 0.12], method="grace")
    close = cell([0.09, 0.11], method="zo-bcd")
    better = cell([0.01, 0.011], method="mine")
    elsewhere = cell([0.01, 0.011], method="mine", function="attack")
    assert better_than_grace([close, better, elsewhere, grace]) == [better]
