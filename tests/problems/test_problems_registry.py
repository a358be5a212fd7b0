from __future__ import annotations

from importlib.metadata import EntryPoint

import numpy as np
import pytest

from gracezo.problems import Attack, Benchmark, Distance, Magnitude, make, names, register, registry


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    """Undo what a test registers."""
    monkeypatch.setattr(registry, "_factories", dict(registry._factories))


def tenth(instance: int) -> Benchmark:
    return Distance(instance, d=10, s=1)


def test_the_papers_functions() -> None:
    assert names()[:3] == ["distance", "magnitude", "attack"]
    assert [type(make(name, 2)) for name in names()[:3]] == [Distance, Magnitude, Attack]
    for name in names()[:3]:
        assert make(name, 0).name == name


def test_the_instance_is_the_seed_but_for_attack() -> None:
    np.testing.assert_array_equal(make("distance", 7).optimum, Distance(7).optimum)
    np.testing.assert_array_equal(make("magnitude", 7).x0, Magnitude(7).x0)
    x = np.random.default_rng(0).random(13_225)
    assert len({make("attack", instance)(x) for instance in range(3)}) == 1


def test_registration() -> None:
    register("tenth", tenth)
    assert "tenth" in names()
    assert make("tenth", 1).d == 10
    with pytest.raises(ValueError, match="there is a function 'tenth' already"):
        register("tenth", tenth)
    with pytest.raises(TypeError, match="factory is 3; it must be callable"):
        register("three", 3)  # type: ignore[arg-type]


def test_entry_points(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def found(*, group: str) -> list[EntryPoint]:
        asked.append(group)
        return [
            EntryPoint("plugged", "gracezo.problems.distance:Distance", group),
            EntryPoint("attack", "nowhere:Nothing", group),  # the name is taken: never loaded
            EntryPoint("broken", "builtins:float", group),
        ]

    monkeypatch.setattr(registry, "entry_points", found)
    assert names().count("attack") == 1
    assert isinstance(make("plugged", 0), Distance)
    assert isinstance(make("attack", 0), Attack)
    with pytest.raises(TypeError, match="factory of 'broken' returned a float"):
        make("broken", 0)
    assert set(asked) == {"gracezo.problems"}


def test_unknown_names_and_instances() -> None:
    with pytest.raises(ValueError, match="there is no function 'distanse'; did you mean 'distance'"):
        make("distanse", 0)
    with pytest.raises(ValueError, match="'distance' or 'magnitude' or 'attack'"):
        make("zzz", 0)
    for instance in (-1, 1.0, True, None):
        with pytest.raises(ValueError, match="instance is"):
            make("distance", instance)  # type: ignore[arg-type]
