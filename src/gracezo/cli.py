"""The command line: a thin shell over the library. `commands.errors` has the exit codes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

import gracezo
from gracezo.commands import completion, fit, journal, methods, minimize, report, reproduce, screen, watch
from gracezo.commands.errors import CommandError, UsageError

COMMANDS = {
    "minimize": minimize,
    "fit": fit,
    "screen": screen,
    "journal": journal,
    "report": report,
    "watch": watch,
    "methods": methods,
    "reproduce": reproduce,
    "completion": completion,
}


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, not with a page of usage: each command for itself."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        known, left = super().parse_known_args(args, namespace)
        if left:
            hint = _near(left[0].partition("=")[0], self._option_string_actions)
            self.error(f"unknown {'option' if left[0].startswith('-') else 'word'} {left[0]!r}{hint}")
        return known, left

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see: {self.prog} --help)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    Examples
    --------
    >>> main(["methods", "fdsa"])
    FDSA: a finite difference along every coordinate, d queries a gradient.
    <BLANKLINE>
    options
      step_size  0.5
      eps        1e-06
    0
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if words and not words[0].startswith("-") and words[0] not in COMMANDS:
            raise UsageError(_unknown(words[0]))
        parsed = _parser().parse_args(words)
        code: int = parsed.run(parsed)
        sys.stdout.flush()
        return code
    except CommandError as error:
        print(f"gracezo: {error}", file=sys.stderr)
        return error.code
    except MemoryError as error:
        print(f"gracezo: there is not enough memory: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader of our output has gone; give the interpreter something to flush into at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="gracezo",
        description=(gracezo.__doc__ or "").split("\n\n")[0],
        epilog="Each command has a --help of its own, with examples.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"gracezo {gracezo.__version__}")
    subparsers = parser.add_subparsers(metavar="command", required=True)
    for name, command in COMMANDS.items():
        command.add(subparsers, name)
    return parser


def _unknown(word: str) -> str:
    return f"unknown command {word!r}{_near(word, COMMANDS) or ';'} known: {', '.join(COMMANDS)}"


def _near(word: str, known: Iterable[str]) -> str:
    near = get_close_matches(word, list(known), n=2, cutoff=0.5)
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
