"""Run attempts: python -m faults [KIND ...] [--seed N] [--scale S]."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
import traceback
from functools import partial
from pathlib import Path

from benchmarks.page_table import PageTable
from benchmarks.page_table import seeds as named

from faults import evaluations, journals
from faults.common import Attempt
from faults.crews import CLUSTERS

KINDS: dict[str, tuple[Attempt, int]] = {  # and how many attempts there are at scale 1
    "damage": (journals.damage, 2000),
    "snapshots": (journals.snapshots, 200),
    "sqlite_calls": (journals.sqlite_calls, 24),
    "clocks": (journals.clocks, 30),
    "full_disk": (journals.full_disk, 30),
    "kills": (journals.kills, 60),
    "dying": (evaluations.dying, 200),
    "nonsense": (evaluations.nonsense, 300),
    "boxes": (evaluations.boxes, 300),
    "programs": (evaluations.programs, 60),
    "parents": (evaluations.parents, 100),
    "hanging": (evaluations.hanging, 24),
    "dying_on_clusters": (partial(evaluations.dying, kinds=CLUSTERS), 20),
    "hanging_on_clusters": (partial(evaluations.hanging, kinds=CLUSTERS), 8),
}


def main() -> int:
    """Try every kind, print what came of it, and return 1 if a promise was broken."""
    parser = argparse.ArgumentParser(prog="python -m faults", description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"{', '.join(KINDS)} (default: all)")
    parser.add_argument("--seed", type=int, help="one attempt only: the one of this seed")
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
        seeds = range(words.first, words.first + max(1, round(count * words.scale)))
        began = time.monotonic()
        failed = [
            seed for seed in (seeds if words.seed is None else [words.seed]) if not held(attempt, kind, seed)
        ]
        told = named(words.first, len(seeds)) if words.seed is None else str(words.seed)
        tried = len(seeds) if words.seed is None else 1
        table.add(
            f"`{kind}`", f"{tried:,}", str(len(failed)), f"{time.monotonic() - began:.0f} s", seeds=told
        )
        broken += len(failed)
    return int(broken > 0)


def held(attempt: Attempt, kind: str, seed: int) -> bool:
    """Make one attempt; say how to repeat it if a promise was broken."""
    with tempfile.TemporaryDirectory(prefix="gracezo-faults-", ignore_cleanup_errors=True) as folder:
        try:
            attempt(random.Random(f"{kind} {seed}"), Path(folder))
        except Exception:  # whatever it is, a promise was broken
            traceback.print_exc()
            print(f"FAILED; repeat with: python -m faults {kind} --seed {seed}", flush=True)
            return False
    return True


if __name__ == "__main__":
    sys.exit(main())
