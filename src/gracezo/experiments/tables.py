"""The tables: which cells each has, and how it is laid out.

A table of runs is a list of plans and a layout of the finished cells; adding one is adding both here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from gracezo import theory
from gracezo.experiments import paper
from gracezo.experiments.cells import Cell, better_than_grace
from gracezo.experiments.runs import NONSPARSE_FUNCTION
from gracezo.experiments.settings import Plan, Settings
from gracezo.experiments.sheets import DIFFERS, Sheet, with_error
from gracezo.experiments.trial import INSTANCE as TRIAL_INSTANCE

RUNS = 10
NONSPARSE_RUNS = 3
NEAR = 1.5  # the factor within which a figure without an error of its own is called near
_ON_TRIAL = f"in a trial on instance {TRIAL_INSTANCE}, which is not in the table"


# ---------------------------------------------------------------- what is run


def main_plans(functions: Sequence[str], methods: Sequence[str], runs: int) -> list[Plan]:
    """Return the main table: every method on every function."""
    return [
        Plan(function, method, range(runs), paper.MAIN.get(function, {}).get(method))
        for function in functions
        for method in methods
    ]


def sparsity_plans(methods: Sequence[str], runs: int) -> list[Plan]:
    """Return the table of inexact sparsity: Distance, with true s = 10, told 6 to 15."""
    return [
        # Told the truth, a run is that of the main table.
        Plan(
            "distance",
            method,
            range(runs),
            printed if method == "grace" else None,
            told if told != 10 else None,
        )
        for method in methods
        for told, printed in paper.SPARSITY.items()
    ]


def nonsparse_plans(methods: Sequence[str], runs: int) -> list[Plan]:
    """Return the table of non-sparse gradients: Distance with s = 2500."""
    return [Plan(NONSPARSE_FUNCTION, method, range(runs), paper.NONSPARSE.get(method)) for method in methods]


# ---------------------------------------------------------------- how it is laid out


def main_sheet(cells: Sequence[Cell]) -> Sheet:
    """Lay out the main table: a row a method, a column a function, the paper's figure beside ours."""
    functions = list(dict.fromkeys(cell.plan.function for cell in cells))
    methods = list(dict.fromkeys(cell.plan.method for cell in cells))
    at = {(cell.plan.function, cell.plan.method): cell for cell in cells}
    header = ["method", *(text for name in functions for text in (paper.title(name), "paper"))]
    rows = [
        [paper.title(method), *(text for name in functions for text in _pair(at[name, method]))]
        for method in methods
    ]
    title = f"Best normalised objective, mean ± standard error of {_runs(cells)}"
    notes = [*_agreement(cells), *_published_ends(cells), *_ranking(cells), *_trials(cells)]
    return Sheet("main", title, header, rows, notes, [_data(cell) for cell in cells])


def sparsity_sheet(cells: Sequence[Cell]) -> Sheet:
    """Lay out the table of inexact sparsity: a row a guess."""
    several = len({cell.plan.method for cell in cells}) > 1
    rows, data = [], []
    for cell in cells:
        told = str(cell.plan.sparsity or 10)
        rows.append(
            [*([paper.title(cell.plan.method)] if several else []), told, *_pair(cell), _count(cell.queries)]
        )
        data.append({**_data(cell), "sparsity": told})
    who = "" if several else f"{paper.title(cells[0].plan.method)} on "
    title = f"{who}Distance (true s = 10), told another s: best normalised objective, mean of {_runs(cells)}"
    header = [*(["method"] if several else []), "told s", "measured", "paper", "queries"]
    return Sheet("sparsity", title, header, rows, _agreement(cells), data)


def nonsparse_sheet(cells: Sequence[Cell]) -> Sheet:
    """Lay out the table of non-sparse gradients, with the settings that were found."""
    rows, data = [], []
    for cell in cells:
        options = cell.records[0].job.options
        size, q = _number(options.get("step_size")), _number(options.get("queries"))
        ratio = "–" if cell.ratio is None else f"{cell.ratio:.2f}"
        rows.append([paper.title(cell.plan.method), *_pair(cell), ratio, size, q, _count(cell.queries)])
        settings = {"step_size": size, "options": json.dumps(options, sort_keys=True)}
        data.append({**_data(cell), "ratio": _bare(ratio), **settings})
    title = f"Non-sparse gradients (Distance, s = 2500): best normalised objective, mean of {_runs(cells)}"
    notes = [
        f"Unless it was given, η is the best of the paper's grid {_ON_TRIAL}. q: queries of one gradient "
        "estimate, where it is an option; as many as GraCe takes. The paper prints no errors here.",
        *_ratios(cells),
        *_agreement(cells),
    ]
    header = ["method", "measured", "paper", "ratio", "η", "q", "queries"]
    return Sheet("nonsparse", title, header, rows, notes, data)


def worst_case_sheet() -> Sheet:
    """Lay out the worst-case queries of one gradient estimate: computed, not run."""
    ours = {(s, d): theory.worst_case_queries(d, s) for s, d in paper.WORST_CASE}
    dimensions = sorted({d for _, d in ours})
    rows = []
    for s in sorted({s for s, _ in ours}):
        cells = [(ours[s, d], paper.WORST_CASE[s, d]) for d in dimensions]
        rows.append([f"s = {s}", *(f"{a}" if a == b else f"{a} {DIFFERS} {b}" for a, b in cells)])
    equal = sum(ours[place] == paper.WORST_CASE[place] for place in ours)
    data = [
        {"s": str(s), "d": str(d), "queries": str(ours[s, d]), "paper_queries": str(printed)}
        for (s, d), printed in paper.WORST_CASE.items()
    ]
    header = ["", *(f"d = 10{'⁰¹²³⁴⁵⁶⁷⁸⁹'[round(math.log10(d))]}" for d in dimensions)]
    note = f"{equal} of {len(ours)} are the paper's" + (
        "." if equal == len(ours) else f"; {DIFFERS} is followed by the paper's."
    )
    return Sheet("worst-case", "Worst-case queries of one gradient estimate", header, rows, [note], data)


def hyperparameters_sheet(settings: Settings, functions: Sequence[str], methods: Sequence[str]) -> Sheet:
    """Lay out the settings that the main table is run with, beside the paper's."""
    rows, data = [], []
    for function in functions:
        for method in methods:
            options = dict(settings.options(function, method))
            row = settings.row(function, method)
            printed = paper.SETTINGS.get(function, {}).get(method)
            size = _number(options.pop("step_size", None))
            queries = _number(options.pop("queries", None))
            steps = row.steps if row else None
            stop = f"T = {steps:,}" if steps else f"{settings.queries(function):,} queries"
            others = ", ".join(f"{name}={_number(value)}" for name, value in sorted(options.items()))
            theirs = (
                [_number(printed.step_size), _number(printed.queries), f"T = {printed.steps:,}"]
                if printed
                else ["–"] * 3
            )
            rows.append([paper.title(function), paper.title(method), size, queries, stop, *theirs, others])
            data.append(
                {
                    "function": function,
                    "method": method,
                    "step_size": _bare(size),
                    "queries": _bare(queries),
                    "steps": str(steps) if steps else "",
                    "max_queries": "" if steps else str(settings.queries(function)),
                    "paper_step_size": _bare(theirs[0]),
                    "paper_queries": _bare(theirs[1]),
                    "paper_steps": str(printed.steps) if printed else "",
                    "other_options": others,
                }
            )
    header = ["function", "method", "η", "q", "until", "paper η", "paper q", "paper T", "other options"]
    notes = [
        "η: step size. q: queries of one gradient estimate, where it is an option. "
        "–: not an option, or open: η is then found by a trial."
    ]
    return Sheet(
        "hyperparameters", "Settings of the main table, beside the paper's", header, rows, notes, data
    )


# ---------------------------------------------------------------- words and numbers


def _pair(cell: Cell) -> tuple[str, str]:
    """Return our figure, marked if it differs, and the paper's."""
    mark = f" {DIFFERS}" if cell.differs else ""
    printed = cell.plan.printed
    if printed is None:
        return with_error(cell.measured), "–"
    error = "" if printed.se is None else f" ± {printed.se:.{printed.digits}f}"
    return with_error(cell.measured) + mark, f"{printed.mean:.{printed.digits}f}{error}"


def _data(cell: Cell) -> dict[str, str]:
    """Return the columns that every table of runs has."""
    printed = cell.plan.printed
    return {
        "function": cell.plan.function,
        "method": cell.plan.method,
        "mean": f"{cell.measured.mean:.8g}",
        "se": "" if math.isnan(cell.measured.se) else f"{cell.measured.se:.4g}",
        "runs": str(len(cell.records)),
        "queries": _count(cell.queries).replace(",", ""),
        "paper_mean": "" if printed is None else f"{printed.mean:.{printed.digits}f}",
        "paper_se": "" if printed is None or printed.se is None else f"{printed.se:.{printed.digits}f}",
        "paper_queries": _count(cell.paper_queries).replace(",", ""),
        "differs": "yes" if cell.differs else "",
    }


def _agreement(cells: Sequence[Cell]) -> list[str]:
    compared = [cell for cell in cells if cell.judged]
    if not compared:
        return []
    apart = sum(cell.differs for cell in compared)
    bare = any(cell.plan.printed and cell.plan.printed.se is None for cell in compared)
    errors = " (ours stand for both where it prints none)" if bare else ""
    return [
        f"{len(compared) - apart} of {len(compared)} figures are within 3 combined standard errors of the "
        f"paper's{errors}" + (f"; {DIFFERS} marks the others." if apart else ".")
    ]


def _ratios(cells: Sequence[Cell]) -> list[str]:
    ratios = [cell.ratio for cell in cells if cell.judged and cell.ratio is not None]
    near = sum(1 / NEAR <= ratio <= NEAR for ratio in ratios)
    words = f"{near} of {len(ratios)} figures are within a factor of {NEAR} of the paper's."
    return [words] if ratios else []


def _published_ends(cells: Sequence[Cell]) -> list[str]:
    return [
        f"{_where(cell)}: the published run ended after "
        f"{paper.PUBLISHED_STEPS[cell.plan.function, cell.plan.method]:,} steps, "
        f"where ours stood at {with_error(ended)}."
        for cell in cells
        if (ended := cell.at_published_end) is not None
    ]


def _ranking(cells: Sequence[Cell]) -> list[str]:
    with_grace = any(cell.plan.method == "grace" for cell in cells)
    if not with_grace or len(cells[0].records) < 2 or not cells[0].comparable:
        return []
    who = ", ".join(_where(cell) for cell in better_than_grace(cells)) or "no method on any function"
    return [f"Better than GraCe by more than 2 combined standard errors: {who}."]


def _trials(cells: Sequence[Cell]) -> list[str]:
    found = [
        f"{_where(cell)} {_number(size)}" for cell in cells if (size := cell.found_step_size) is not None
    ]
    where = f"in a trial on instance {TRIAL_INSTANCE}, which is not in the table"
    return (
        [f"Step sizes η that are the best of the paper's grid {where}: {', '.join(found)}."] if found else []
    )


def _where(cell: Cell) -> str:
    return f"{paper.title(cell.plan.method)} on {paper.title(cell.plan.function)}"


def _runs(cells: Sequence[Cell]) -> str:
    runs = len(cells[0].records)
    return f"{runs} runs" if runs > 1 else "1 run"


def _count(queries: float) -> str:
    return f"{queries:,.0f}" if float(queries).is_integer() else f"{queries:,.1f}"


def _number(value: object) -> str:
    return "–" if value is None else f"{value:g}" if isinstance(value, (int, float)) else str(value)


def _bare(text: str) -> str:
    return "" if text == "–" else text
