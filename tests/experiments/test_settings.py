from __future__ import annotations

import pytest

from gracezo.experiments import tables
from gracezo.experiments.runs import Job
from gracezo.experiments.settings import Override, Plan, Settings


def never(job: Job) -> None:
    return None


def test_the_papers_settings() -> None:
    (job,) = Settings().jobs(Plan("attack", "grace", range(4, 5)), never)
    assert job == Job(
        "attack",
        "grace",
        4,
        {"step_size": 0.5, "first_division": 10, "variant": "published"},
        max_steps=100,
    )


def test_what_the_user_says_wins_and_the_function_wins_over_all() -> None:
    said = ["distance:grace.step_size=0.2", "grace.step_size=0.1", "grace.gamma=0.5", "fdsa.step_size=9"]
    settings = Settings([Override.parse(text) for text in said])
    assert settings.options("distance", "grace")["step_size"] == 0.2
    assert settings.options("magnitude", "grace")["step_size"] == 0.1
    assert settings.options("magnitude", "grace")["gamma"] == 0.5


@pytest.mark.parametrize(
    "text", ["", "grace", "grace.step_size", "=3", "step_size=3", ":grace.eps=1", "grace.=1"]
)
def test_a_setting_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="form"):
        Override.parse(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1", 0.1),
        ("3", 3),
        ("True", True),
        ("None", None),
        ("[2, 3]", [2, 3]),
        ("word", "word"),
        ("{1}", "{1}"),
    ],
)
def test_values_of_settings(text: str, value: object) -> None:
    assert Override.parse(f"m.o={text}").value == value


def test_a_cell_without_a_step_size_asks_for_trials_on_another_instance() -> None:
    jobs = Settings(budget=400).jobs(Plan("distance", "fdsa", range(3)), never)
    assert {job.instance for job in jobs} == {100}
    assert {job.max_queries for job in jobs} == {20}
    assert [job.options["step_size"] for job in jobs][:4] == [0.5, 0.2, 0.1, 0.05]


def test_told_the_true_sparsity_the_run_is_that_of_the_main_table() -> None:
    settings = Settings()
    main = settings.jobs(tables.main_plans(["distance"], ["grace"], 2)[0], never)
    told = {plan.sparsity: settings.jobs(plan, never) for plan in tables.sparsity_plans(["grace"], 2)}
    assert [job.name for job in told[None]] == [job.name for job in main]
    assert sorted(s for s in told if s is not None) == [6, 7, 8, 9, 11, 12, 13, 14, 15]
    assert told[6][0].sparsity == 6


def test_everything_that_decides_a_run_is_in_its_name() -> None:
    base = Job("distance", "grace", 0, {"step_size": 0.5}, max_steps=9)
    others = [
        Job("magnitude", "grace", 0, {"step_size": 0.5}, max_steps=9),
        Job("distance", "fdsa", 0, {"step_size": 0.5}, max_steps=9),
        Job("distance", "grace", 1, {"step_size": 0.5}, max_steps=9),
        Job("distance", "grace", 0, {"step_size": 0.2}, max_steps=9),
        Job("distance", "grace", 0, {"step_size": 0.5}, max_steps=8),
        Job("distance", "grace", 0, {"step_size": 0.5}, max_queries=9),
        Job("distance", "grace", 0, {"step_size": 0.5}, sparsity=3, max_steps=9),
        Job("distance", "grace", 0, {"step_size": 0.5}, max_steps=9, code="abc"),
    ]
    assert len({job.name for job in [base, *others]}) == 9
    again = Job("distance", "grace", 0, {"step_size": 0.5}, max_steps=9)
    assert again.name == base.name


def test_names_cannot_leave_the_folder() -> None:
    assert ".." not in Job("../x", "a/b", 0, {}, max_steps=1).name.split("/")


def test_a_quick_look_is_a_tenth() -> None:
    settings = Settings(shrink=10)
    (job,) = settings.jobs(Plan("distance", "grace", range(1)), never)
    assert job.max_steps == 10
    assert settings.queries("distance-2500") == 25_000


def test_settings_that_a_method_refuses_are_found_before_any_run() -> None:
    settings = Settings([Override.parse("grace.step_size=-1")])
    with pytest.raises(ValueError, match="step_size"):
        settings.check(Plan("distance", "grace", range(1)))
