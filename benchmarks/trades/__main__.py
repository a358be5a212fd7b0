"""Lets `python -m benchmarks.trades` print all tables: each file of the folder is one trade."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import pkgutil
import sys

import benchmarks.trades

TRADES = [
    found.name for found in pkgutil.iter_modules(benchmarks.trades.__path__) if found.name != "__main__"
]


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.trades", description=benchmarks.trades.__doc__
    )
    parser.add_argument(
        "trades", nargs="*", choices=[*TRADES, []], help=f"{', '.join(TRADES)}; all by default"
    )
    for name in parser.parse_args().trades or TRADES:
        if name == "bayesian" and importlib.util.find_spec("botorch") is None:
            print("bayesian: left out, BoTorch is not installed")
            continue
        sys.argv = [name]
        importlib.import_module(f"benchmarks.trades.{name}").main()


if __name__ == "__main__":
    main()
