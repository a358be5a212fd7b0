"""``gracezo minimize``: a function of yours, or any program."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import gracezo
from gracezo import checks
from gracezo.commands import objective, outcome
from gracezo.commands.errors import Failed, Interrupted, UsageError, code
from gracezo.commands.interrupts import in_good_order
from gracezo.core.result import Result, Status
from gracezo.report import words as said

_DESCRIPTION = """\
Minimise a function by its values alone: a Python function, or any program that
reads a point from a file and answers with a number.

With --journal, every value is on record before it is used. A run that was
stopped, by whatever cause, goes on with --resume and asks nothing again.
"""
_EXAMPLES = """\
examples:
  gracezo minimize model:loss --x0 start.npy --max-queries 2000
  gracezo minimize --command "./simulate {input}" --format text --dim 10000 \\
          --max-queries 2000 --workers 8 --batch 8 --journal run.db
  gracezo minimize --command "./simulate {input}" --format text --resume run.db
  gracezo minimize model:loss --resume run.db --max-queries 4000 --out best.npy
  gracezo minimize model:loss --dim 10000 --names names.txt --json > result.json

Ctrl-C (or SIGTERM) ends the run, prints the best so far and how to go on; a
second one stops at once.

exit code: 0 converged or target reached, 1 failed, 2 usage error, 3 budget
spent, 4 nothing found or stuck, 130 interrupted.
"""
_RECORDED = (
    "x0",
    "dim",
    "names",
    "bounds",
    "method",
    "sparsity",
    "f0",
    "noise",
    "scale",
    "tol",
    "groups",
    "seed",
    "option",
    "loss",
    "f_scale",
    "ftol",
    "max_steps",
    "target",
    "batch",
    "on_failure",
    "journal",
)


def add(subparsers: Any, name: str) -> None:
    """Describe the words of the command."""
    parser = subparsers.add_parser(
        name,
        help="minimise a function of yours, or any program",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    objective.add_function(parser)
    objective.add_point(parser)
    objective.add_method(parser)
    add_rules(parser)
    parser.set_defaults(run=run)


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Describe when a run stops, how it is kept, and what is shown of it."""
    stop = parser.add_argument_group("when to stop (the first that comes true; default: 10,000 queries)")
    stop.add_argument("--max-queries", type=int, metavar="N", help="never more than so many evaluations")
    stop.add_argument("--max-steps", type=int, metavar="N", help="so many steps")
    stop.add_argument("--max-seconds", type=float, metavar="T", help="so long")
    stop.add_argument("--target", type=float, metavar="VALUE", help="a value this low")
    parser.add_argument(
        "--batch", type=int, metavar="K", help="so many useful queries may go out together (default: 1)"
    )
    parser.add_argument(
        "--on-failure",
        type=_on_failure,
        metavar="RULE",
        help="when an evaluation fails: raise (stop), retry (ask again, up to 3 times) or skip (go on "
        "without it, up to 100 in a row); with a limit of yours: retry:5 (default: raise)",
    )
    keep = parser.add_argument_group("the journal")
    keep.add_argument("--journal", type=Path, metavar="FILE", help="keep every value in this file")
    keep.add_argument("--resume", type=Path, metavar="FILE", help="go on with the run that is kept there")
    keep.add_argument(
        "--durable",
        choices=("process", "power"),
        default="process",
        help="what a kept value survives: the death of the process, or a power cut too (slower)",
    )
    add_same(keep)
    keep.add_argument(
        "--on-interrupt",
        choices=("drop", "finish"),
        default="drop",
        help="what becomes of the running batch; finish needs a journal (default: drop)",
    )
    outcome.add(parser, "the best point")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--quiet", action="store_true", help="no live line while it runs")
    shown.add_argument("--progress", action="store_true", help="a live line even where there is no terminal")


def add_same(parser: Any) -> None:
    """Describe how to overrule the comparison of functions."""
    parser.add_argument(
        "--same",
        action="store_true",
        help="take the function for that of the journal although it differs; your word is recorded there",
    )


def run(words: argparse.Namespace) -> int:
    """Minimise, and print what came of it."""
    check(words)

    def begin(fun: Callable[..., Any], **common: Any) -> Result:
        return gracezo.minimize(
            fun,
            objective.point(words),
            bounds=objective.bounds(words),
            names=objective.names(words),
            scale=objective.scale(words),
            **objective.method(words),
            **common,
        )

    return carried_out(words, objective.function(words), begin, "minimize")


def carried_out(
    words: argparse.Namespace,
    fun: Callable[..., Any],
    begin: Callable[..., Result],
    command: str,
    further: Sequence[str] = (),
) -> int:
    """Begin or resume a run, and print what came of it.

    Parameters
    ----------
    words
        As they were parsed.
    fun
        The function.
    begin
        Called with the function and what all runs take, for a run that is not resumed.
    command, further
        The name of the command, and what it needs besides to know the function again.
    """
    kept = words.journal or words.resume
    journal = None
    if kept is not None:
        journal = gracezo.Journal(kept, durable=words.durable, same=words.same)
    common: dict[str, Any] = {
        "max_queries": words.max_queries,
        "max_seconds": words.max_seconds,
        "vectorized": words.vectorized,
        "workers": words.workers,
        "timeout": words.timeout if words.command is None else None,  # a Command has its own
        "progress": words.progress or (not words.quiet and sys.stderr.isatty()),
    }
    go_on = _go_on(words, command, further)
    try:
        with in_good_order(journal if words.on_interrupt == "finish" else None):
            if words.resume is not None:
                assert journal is not None
                result = gracezo.resume(journal, fun, **common)
            else:
                result = begin(
                    fun,
                    **common,
                    batch=words.batch or 1,
                    on_failure=words.on_failure or "raise",
                    max_steps=words.max_steps,
                    target=words.target,
                    journal=journal,
                )
    except gracezo.EvaluationError as error:
        _show(error.result, words, error=str(error))
        hint = objective.format_hint(fun) if error.query == 1 else ""
        raise Failed(f"{error}{hint}{go_on()}") from error
    except (gracezo.JournalError, gracezo.JournalWriteError) as error:
        if error.result is not None:
            _show(error.result, words, error=str(error))
        raise Failed(str(error)) from error
    except (TypeError, ValueError) as error:
        raise UsageError(str(error)) from error
    except KeyboardInterrupt:  # before the first query, or while a file was being closed
        raise Interrupted(f"interrupted{go_on()}") from None
    if result.status == Status.STOPPED:
        _show(result, words, error="interrupted")
        raise Interrupted(f"interrupted{go_on()}")
    _show(result, words)
    hint = _answers_alike(result, fun, words)
    if hint:
        print(f"gracezo: {hint}", file=sys.stderr)
    return code(result.status)


def _on_failure(text: str) -> str | tuple[str, int]:
    """Return the rule that a word gives: an action, or an action with its limit."""
    action, colon, limit = text.partition(":")
    try:
        rule: str | tuple[str, int] = (action, int(limit)) if colon else action
        checks.on_failure(rule)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"must be raise, retry or skip, the last two also with a limit such as retry:5; given: {text}"
        ) from None
    return rule


def check(words: argparse.Namespace) -> None:
    """Refuse words that do not go together, before a query is spent."""
    outcome.check(words)
    if words.resume is not None:
        for name in _RECORDED:
            if getattr(words, name, None) not in (None, []):
                raise UsageError(
                    f"--resume takes everything but the function and the budget from the journal; "
                    f"leave out --{name.replace('_', '-')}"
                )
    if words.same and words.journal is None and words.resume is None:
        raise UsageError("--same speaks of the function of a journal: add --journal or --resume FILE")
    if words.on_interrupt == "finish" and words.journal is None and words.resume is None:
        raise UsageError("--on-interrupt finish keeps the running batch in a journal: add --journal FILE")


def _show(result: Result, words: argparse.Namespace, *, error: str | None = None) -> None:
    """Print a result and write it where the words say; why it failed is for standard error."""
    if words.out is not None:
        outcome.write_result(words.out, result)
    if words.json:
        outcome.print_json(
            outcome.result_object(result) | {"error": error, "out": words.out and str(words.out)}
        )
        return
    lines = said.result(result).splitlines()
    if error is None:
        print(*lines, sep="\n")
    elif len(result.trace.values):
        print(*lines[1:], sep="\n")
    if words.out is not None:
        print(f"  wrote    {words.out}")


def _answers_alike(result: Result, fun: object, words: argparse.Namespace) -> str:
    """Return what to look at when a program gives the same answer to everything."""
    if not isinstance(fun, gracezo.Command) or result.status != Status.NOTHING_TO_FIND or result.nit:
        return ""
    return (
        f"the program answered {said.value_of(result)!r} whatever the point was: "
        f"does it read {{input}}, which is written as {words.format} (--format)?"
    )


def _go_on(words: argparse.Namespace, command: str, further: Sequence[str]) -> Callable[[], str]:
    """Return what says how to resume, if there is something to resume by then."""

    def said_then() -> str:
        kept = words.journal or words.resume
        if kept is None or not kept.exists():
            return ""
        again = ["gracezo", command, *objective.function_words(words), *further, "--resume", str(kept)]
        return f"; go on with: {shlex.join(again)}"

    return said_then
