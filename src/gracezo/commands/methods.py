"""``gracezo methods``: what there is to choose from."""

from __future__ import annotations

import argparse
from typing import Any

import gracezo
from gracezo.commands.errors import UsageError
from gracezo.commands.outcome import print_json
from gracezo.methods import catalog

_EXAMPLES = """\
examples:
  gracezo methods          one line a method
  gracezo methods grace    its options and their defaults
"""


def add(subparsers: Any, name: str) -> None:
    """Describe the words of the command."""
    parser = subparsers.add_parser(
        name,
        help="list the methods, or the options of one",
        description="List the methods, each with one sentence; or the options of one method.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("method", nargs="?", help="show the options of this method and their defaults")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of words")
    parser.set_defaults(run=run)


def run(words: argparse.Namespace) -> int:
    """Print the list."""
    known = gracezo.methods()
    if words.method is None:
        if words.json:
            print_json(known)
        else:
            _columns(known)
        return 0
    try:
        options = catalog.option_defaults(catalog.factory(words.method))
    except ValueError as error:
        raise UsageError(str(error)) from error
    if words.json:
        print_json(
            {
                "method": words.method,
                "about": known[words.method],
                "options": {
                    name: default if isinstance(default, (int, float, str, type(None))) else str(default)
                    for name, default in options.items()
                },
            }
        )
        return 0
    print(known[words.method])
    if options:
        print("\noptions")
        _columns({f"  {name}": f"{default}" for name, default in options.items()})
    return 0


def _columns(rows: dict[str, str]) -> None:
    width = max(map(len, rows))
    for name, text in rows.items():
        print(f"{name:<{width}}  {text}")
