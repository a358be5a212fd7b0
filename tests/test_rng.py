"""`rng=` as SPEC 7 has it, and `seed=`, which means the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gracezo


def bowl(x: np.ndarray) -> float:
    return float(((x - 0.3) ** 2).sum())


def run(**how: Any) -> gracezo.Result:
    return gracezo.minimize(bowl, np.zeros(20), method="rs", max_queries=31, **how)


SOURCES: dict[str, Callable[[], Any]] = {
    "int": lambda: 7,
    "numpy": lambda: np.int64(7),
    "sequence": lambda: np.random.SeedSequence(7),
    "bits": lambda: np.random.PCG64(7),
    "generator": lambda: np.random.default_rng(7),
}


@pytest.mark.parametrize("source", SOURCES)
def test_the_same_source_gives_the_same_run_by_either_name(source: str) -> None:
    first, again, other = run(rng=SOURCES[source]()), run(rng=SOURCES[source]()), run(seed=SOURCES[source]())
    recorded = run(seed=first.seed)
    for result in (again, other, recorded):
        assert (result.seed, result.nfev) == (first.seed, 31)
        assert result.x.tobytes() == first.x.tobytes()
    assert (first.seed == 7) is (source in ("int", "numpy"))
    assert type(first.seed) is int


def test_a_generator_moves_on_and_a_sequence_does_not() -> None:
    generator, sequence = np.random.default_rng(7), np.random.SeedSequence(7)
    assert run(rng=generator).seed != run(rng=generator).seed
    assert run(rng=sequence).seed == run(rng=sequence).seed


def test_every_entry_point_takes_it(tmp_path: Path) -> None:
    generators = map(np.random.default_rng, (3, 3))
    told = [gracezo.estimate_gradient(bowl, np.zeros(20), method="rs", rng=rng) for rng in generators]
    assert told[0].values.tobytes() == told[1].values.tobytes()
    noise = [gracezo.estimate_noise(bowl, np.zeros(20), rng=np.random.default_rng(s)) for s in (3, 3)]
    assert noise[0] == noise[1]
    generators = map(np.random.default_rng, (3, 3))
    slopes = [gracezo.estimate_jacobian(lambda x: x[:3], np.zeros(20), rng=rng) for rng in generators]
    assert slopes[0].values.tobytes() == slopes[1].values.tobytes()
    optimizer = gracezo.Optimizer(np.zeros(20), method="rs", max_queries=31, rng=np.random.default_rng(3))
    assert optimizer.result.seed == run(rng=np.random.default_rng(3)).seed
    first = run(rng=np.random.default_rng(3), journal=tmp_path / "run.db")
    again = gracezo.resume(tmp_path / "run.db", bowl)  # asks nothing: all is recorded, the seed too
    assert (again.seed, again.nfev, again.reasked) == (first.seed, 31, 0)


@pytest.mark.parametrize(
    ("how", "error", "says"),
    [
        ({"seed": 1, "rng": 1}, TypeError, "two names of one argument"),
        ({"rng": -1}, ValueError, "rng must be a whole number of at least 0, or a SeedSequence"),
        ({"rng": 1.0}, ValueError, "given: 1.0"),
        ({"rng": True}, ValueError, "given: True"),
        ({"seed": np.random.RandomState(0)}, ValueError, "seed must be a whole number"),
    ],
)
def test_what_is_refused(how: dict[str, Any], error: type[Exception], says: str) -> None:
    def never(x: np.ndarray) -> float:
        raise AssertionError("a query was spent")

    with pytest.raises(error, match=says):
        gracezo.minimize(never, np.zeros(3), **how)
