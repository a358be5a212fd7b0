from __future__ import annotations

import csv
import io

from tests.experiments.builders import cell

from gracezo.experiments import tables
from gracezo.experiments.paper import Printed
from gracezo.experiments.settings import Settings
from gracezo.experiments.sheets import Sheet

COLUMNS = ["function", "method", "mean", "se", "runs", "queries", "paper_mean", "paper_se"]


def test_the_main_table_in_its_three_forms() -> None:
    sheet = tables.main_sheet(
        [
            cell([0.5, 0.52], Printed(0.4, 0.001), method="rs"),
            cell([0.01, 0.02], Printed(0.00508, 0.00242), method="grace"),
        ]
    )
    markdown = sheet.markdown()
    assert "| RS     | 0.51000 ± 0.01000 ≠ | 0.40000 ± 0.00100 |" in markdown
    assert "| GraCe  | 0.01500 ± 0.00500   | 0.00508 ± 0.00242 |" in markdown
    assert "1 of 2 figures are within 3 combined standard errors" in markdown
    assert "Better than GraCe by more than 2 combined standard errors: no method on any function." in markdown
    rows = list(csv.DictReader(io.StringIO(sheet.csv())))
    assert list(rows[0])[: len(COLUMNS)] == COLUMNS
    assert rows[0]["mean"] == "0.51"
    assert rows[0]["differs"] == "yes"
    assert rows[1]["differs"] == ""
    latex = sheet.latex()
    assert r"RS & 0.51000 $\pm$ 0.01000 $\neq$ & 0.40000 $\pm$ 0.00100 \\" in latex
    assert latex.count(r"\toprule") == latex.count(r"\midrule") == latex.count(r"\bottomrule") == 1


def test_the_table_of_dense_gradients_states_every_ratio() -> None:
    cells = [
        cell([0.03, 0.05], Printed(0.03, digits=4), method="rspg"),  # 4/3 of it
        cell([0.03, 0.05], Printed(0.08, digits=4), method="gld"),  # half of it
        cell([0.03, 0.05], method="fdsa"),
    ]
    sheet = tables.nonsparse_sheet(cells)
    assert [row[3] for row in sheet.rows] == ["1.33", "0.50", "–"]
    assert [row["ratio"] for row in sheet.data] == ["1.33", "0.50", ""]
    assert "1 of 2 figures are within a factor of 1.5 of the paper's." in sheet.markdown()


def test_latex_has_no_bare_special_signs() -> None:
    latex = Sheet("t", "50 % & more", ["a_b"], [["#1 {x} ~ ^ \\ $"]]).latex()
    assert r"50 \% \& more" in latex
    assert r"a\_b" in latex
    assert r"\#1 \{x\} \textasciitilde{} \textasciicircum{} \textbackslash{} \$" in latex


def test_all_worst_cases_are_the_papers() -> None:
    sheet = tables.worst_case_sheet()
    assert sheet.notes == ["35 of 35 are the paper's."]
    assert len(sheet.data) == 35


def test_hyperparameters_show_both_sides() -> None:
    sheet = tables.hyperparameters_sheet(Settings(), ["distance", "attack"], ["grace", "fdsa"])
    row = sheet.data[0]
    assert (row["step_size"], row["paper_step_size"], row["steps"], row["paper_steps"]) == (
        "0.5",
        "0.5",
        "100",
        "100",
    )
    assert row["other_options"] == "first_division=20, variant=published"
    fdsa = sheet.data[1]
    assert (fdsa["step_size"], fdsa["paper_step_size"], fdsa["max_queries"]) == ("", "", "5901")
