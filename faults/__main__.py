"""Run attempts: python -m faults [KIND ...] [--seed N [--at-most NAME=N ...]] [--scale S]."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from benchmarks.page_table import PageTable
from benchmarks.page_table import seeds as named

from faults import evaluations, interrupts, journals, ledgers
from faults.common import Attempt, Dice
from faults.pools import CLUSTERS

KINDS: dict[str, tuple[Attempt, int]] = {  # and how many attempts there are at scale 1
    "damage": (journals.damage, 2000),
    "snapshots": (journals.snapshots, 200),
    "sqlite_calls": (journals.sqlite_calls, 24),
    "clocks": (journals.clocks, 30),
    "full_disk": (journals.full_disk, 30),
    "kills": (journals.kills, 60),
    "interrupts": (interrupts.interrupts, 200),
    "dying": (evaluations.dying, 200),
    "dying_often": (partial(evaluations.dying, deadly=0.5), 20),
    "nonsense": (evaluations.nonsense, 300),
    "boxes": (evaluations.boxes, 300),
    "ledgers": (ledgers.ledgers, 300),
    "programs": (evaluations.programs, 60),
    "parents": (evaluations.parents, 100),
    "hanging": (evaluations.hanging, 24),
    "dying_on_clusters": (partial(evaluations.dying, kinds=CLUSTERS), 20),
    "hanging_on_clusters": (partial(evaluations.hanging, kinds=CLUSTERS), 8),
}
REDUCING = 60.0  # seconds to look for a smaller attempt that fails too


def main() -> int:
    """Try every kind, print what came of it, and return 1 if a promise was broken."""
    parser = argparse.ArgumentParser(prog="python -m faults", description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"{', '.join(KINDS)} (default: all)")
    parser.add_argument("--seed", type=int, help="one attempt only: the one of this seed")
    parser.add_argument(
        "--at-most",
        nargs="+",
        type=_size,
        default=[],
        metavar="NAME=N",
        help="a smaller attempt: queries, mutations, kills",
    )
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--scale", type=float, default=1.0, help="so many times as many attempts")
    parser.add_argument("--page", action="store_true", help="write docs/how-it-works/trust.md")
    words = parser.parse_args()
    head = ["kind", "attempts", "promises broken", "time"]
    packages = ("distributed", "ray", "loky")
    trust = "how-it-works/trust.md"
    table = PageTable("faults", trust, head, times=True, packages=packages, write=words.page)
    table.begin()
    broken = 0
    for kind in words.kinds or KINDS:
        attempt, count = KINDS[kind]
        seeds = list(range(words.first, words.first + max(1, round(count * words.scale))))
        if words.seed is not None:
            seeds = [words.seed]
        began = time.monotonic()
        failed = [seed for seed in seeds if not held(attempt, kind, seed, dict(words.at_most))]
        took = time.monotonic() - began
        told = named(seeds[0], len(seeds))
        table.add(f"`{kind}`", f"{len(seeds):,}", str(len(failed)), f"{took:.0f} s", seeds=told)
        broken += len(failed)
    return int(broken > 0)


def held(attempt: Attempt, kind: str, seed: int, at_most: Mapping[str, int] | None = None) -> bool:
    """Make one attempt; say how to repeat it, as small as it can be found, if a promise was broken."""
    sizes, trace = tried(attempt, kind, seed, at_most or {})
    if trace is None:
        return True
    print(trace, file=sys.stderr, flush=True)
    smaller = reduced(attempt, kind, seed, sizes)
    words = " ".join(f"{name}={size}" for name, size in smaller.items())
    print(
        f"FAILED; repeat with: python -m faults {kind} --seed {seed}{f' --at-most {words}' if words else ''}",
        flush=True,
    )
    return False


def tried(
    attempt: Attempt, kind: str, seed: int, at_most: Mapping[str, int]
) -> tuple[dict[str, int], str | None]:
    """Make one attempt; return the sizes that it had, and the traceback if a promise was broken."""
    dice = Dice(f"{kind} {seed}", at_most)
    with tempfile.TemporaryDirectory(prefix="gracezo-faults-", ignore_cleanup_errors=True) as folder:
        try:
            attempt(dice, Path(folder))
        except Exception:  # whatever it is, a promise was broken
            return dice.sizes, traceback.format_exc()
    return dice.sizes, None


def reduced(attempt: Attempt, kind: str, seed: int, sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the smallest sizes with which the attempt still fails, found by halving, one after the other."""
    until = time.monotonic() + REDUCING
    smallest: dict[str, int] = {}
    for name, size in sizes.items():
        low, high = 0, size  # it fails with `high`, and is not known to with `low`
        while high - low > 1 and time.monotonic() < until:
            middle = (low + high) // 2
            if tried(attempt, kind, seed, smallest | {name: middle})[1] is None:
                low = middle
            else:
                high = middle
        if high < size:
            smallest[name] = high
    return smallest


def _size(text: str) -> tuple[str, int]:
    name, _, size = text.partition("=")
    return name, int(size)


if __name__ == "__main__":
    sys.exit(main())
