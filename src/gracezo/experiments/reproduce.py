"""The whole experiment without a terminal: what is asked for, made, written."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from rich.console import Console

import gracezo
from gracezo import problems
from gracezo.experiments import figures, paper, tables, trial
from gracezo.experiments.cells import Cell
from gracezo.experiments.pool import make_runs, workers
from gracezo.experiments.settings import Override, Plan, Settings
from gracezo.experiments.sheets import Sheet
from gracezo.experiments.store import Store

QUICK_SHRINK = 10
QUICK_RUNS = 2
_QUICK_MARK = "QUICK LOOK, a tenth of the steps"


@dataclass(frozen=True)
class Request:
    """What is to be reproduced. Checked when it is made: a wrong name is a ValueError.

    Parameters
    ----------
    tables
        Of `TABLES`.
    functions
        Of `problems.names()`; None for the paper's three. Tables that are about Distance alone are
        left out when it is not among them.
    methods
        Of `gracezo.methods()`; None for those that the table has in the paper.
    runs
        Instances 0, 1, … of each cell; None for as many as the table has.
    quick
        A tenth of the steps and fewer runs, for a look in about a minute.
    budget
        Queries of the cells that the paper does not have.
    overrides
        Settings of the user's.
    imports
        The user's modules that register methods and functions; imported already.
    """

    tables: Sequence[str]
    functions: Sequence[str] | None = None
    methods: Sequence[str] | None = None
    runs: int | None = None
    quick: bool = False
    budget: int | None = None
    overrides: Sequence[Override] = ()
    imports: Sequence[str] = ()

    def __post_init__(self) -> None:
        for name in self.tables:
            known("table", name, TABLES)
        for name in [*(self.functions or ()), *(o.function for o in self.overrides if o.function)]:
            known("function", name, problems.names())
        for name in [*(self.methods or ()), *(o.method for o in self.overrides)]:
            known("method", name, gracezo.methods())
        if not self.wanted:
            raise ValueError(
                f"{' and '.join(self.tables)}: about distance alone, which --functions leaves out"
            )
        for plan in self.plans():
            self.settings.check(plan)

    @property
    def settings(self) -> Settings:
        """The settings of all runs."""
        return Settings(self.overrides, self.budget, QUICK_SHRINK if self.quick else 1, self.imports)

    @property
    def wanted(self) -> list[str]:
        """The tables that are left with these functions."""
        distance = self.functions is None or "distance" in self.functions
        return [name for name in self.tables if distance or not TABLES[name].distance_only]

    def plans(self) -> list[Plan]:
        """Return all cells that the tables need."""
        return [plan for name in self.wanted for plan in TABLES[name].plans(self)]

    def count(self, usual: int, quick: int) -> int:
        """Return how many runs a cell has."""
        return self.runs or (quick if self.quick else usual)


@dataclass(frozen=True)
class Table:
    """One thing that can be reproduced: its cells, and how they are laid out (None: as plots)."""

    summary: str
    plans: Callable[[Request], list[Plan]]
    sheet: Callable[[Request, list[Cell]], Sheet] | None
    distance_only: bool = False


def _functions(request: Request) -> Sequence[str]:
    return request.functions or paper.FUNCTIONS


def _methods(request: Request) -> Sequence[str]:
    return request.methods or paper.METHODS


def _main(request: Request, *beside: str) -> list[Plan]:
    """Return the cells of the main table, and of methods beside it where the user names none."""
    runs = request.count(tables.RUNS, QUICK_RUNS)
    methods = request.methods or (*paper.METHODS, *beside)
    return tables.main_plans(_functions(request), methods, runs)


TABLES: dict[str, Table] = {
    "main": Table(
        "the best objective of 13 methods on 3 functions, 10 runs each",
        _main,
        lambda request, cells: tables.main_sheet(cells),
    ),
    "sparsity": Table(
        "GraCe on Distance, told a sparsity from 6 to 15 instead of 10",
        lambda request: tables.sparsity_plans(
            request.methods or ["grace"], request.count(tables.RUNS, QUICK_RUNS)
        ),
        lambda request, cells: tables.sparsity_sheet(cells),
        distance_only=True,
    ),
    "nonsparse": Table(
        "14 methods on Distance with 2,500 large coordinates, 250,000 queries, 3 runs",
        lambda request: tables.nonsparse_plans(
            request.methods or list(paper.NONSPARSE), request.count(tables.NONSPARSE_RUNS, 1)
        ),
        lambda request, cells: tables.nonsparse_sheet(cells),
        distance_only=True,
    ),
    "worst-case": Table(
        "the most queries of one gradient estimate, 35 figures; computed at once",
        lambda request: [],
        lambda request, cells: tables.worst_case_sheet(),
    ),
    "hyperparameters": Table(
        "the settings of the main table beside the paper's; printed at once",
        lambda request: [],
        lambda request, cells: tables.hyperparameters_sheet(
            request.settings, _functions(request), _methods(request)
        ),
    ),
    "figures": Table(
        "six convergence plots, from the runs of the main table, with auto beside them",
        lambda request: _main(request, "auto"),
        None,
    ),
}


@dataclass(frozen=True)
class Written:
    """A finished table: its name, its files, what to show of it, and its rows for machines."""

    name: str
    paths: Sequence[Path]
    text: str = ""
    data: Sequence[Mapping[str, str]] = ()


def reproduce(
    request: Request, store: Store, *, processes: int, console: Console | None = None
) -> Iterator[Written]:
    """Make what is missing, then write table by table.

    Raises
    ------
    RunFailed, PlotsMissing, FolderError
        With one line for people. Finished runs are kept.
    """
    if "figures" in request.wanted:
        figures.require_matplotlib()
    settings = request.settings
    plans = request.plans()
    with workers(processes, request.imports) as pool:
        # Trials decide on step sizes, so what is to be run becomes known in rounds.
        while missing := [j for plan in plans for j in settings.jobs(plan, store.get) if not store.get(j)]:
            trials = any(job.instance == trial.INSTANCE for job in missing)
            label = "trials and runs" if trials else "runs"
            make_runs(missing, store, pool, weight=settings.weight, label=label, console=console)
    store.write("machine.json", _machine(store))
    for name in request.wanted:
        yield _write(request, name, store)


def _cells(request: Request, plans: Iterable[Plan], store: Store) -> list[Cell]:
    cells = []
    for plan in plans:
        records = [store.get(job) for job in request.settings.jobs(plan, store.get)]
        finished = tuple(record for record in records if record is not None)
        assert len(finished) == len(plan.instances)
        found = finished[0].job.options["step_size"] if request.settings.on_trial(plan) else None
        cells.append(Cell(plan, finished, not request.quick, found))
    return cells


def _write(request: Request, name: str, store: Store) -> Written:
    table = TABLES[name]
    cells = _cells(request, table.plans(request), store)
    if table.sheet is None:
        mark = f" ({_QUICK_MARK})" if request.quick else ""
        return Written(name, figures.plot_all(cells, store.folder, mark))
    sheet = table.sheet(request, cells)
    if request.quick and cells:
        sheet = replace(sheet, title=f"{_QUICK_MARK}: {sheet.title}")
    forms = {".csv": sheet.csv(), ".md": sheet.markdown(), ".tex": sheet.latex()}
    paths = [store.write(name + ending, text) for ending, text in forms.items()]
    return Written(name, paths, forms[".md"], sheet.data)


def _machine(store: Store) -> str:
    """Return what all runs in the folder were made with, as JSON."""
    runs = list(store.about())
    machines = Counter(json.dumps(about["made_with"], sort_keys=True) for about in runs)
    record = {
        "seeds": "run i uses instance i of its function and seed i of its method, i = 0, 1, …; "
        f"trials of step sizes use {trial.INSTANCE}",
        "runs": len(runs),
        "processor_seconds": round(sum(about["seconds"] for about in runs)),
        "made_with": [{**json.loads(text), "runs": count} for text, count in sorted(machines.items())],
    }
    return json.dumps(record, indent=1, ensure_ascii=False) + "\n"


def known(kind: str, name: str, names: Iterable[str]) -> str:
    """Return a name that is known, or raise a ValueError that names the near ones."""
    all_ = list(names)
    if name in all_:
        return name
    near = get_close_matches(name.lower(), all_, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
    raise ValueError(f"unknown {kind} {name!r}; {hint}known: {', '.join(all_)}")
