"""Every example runs, in small, finds what is to be found, and writes its picture."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
SMALL: dict[str, dict[str, Any]] = {
    "attack": {"trained_on": 300},
    "calibrate": {"species": 40},
    "cluster": {"dimension": 900},
    "defects": {"n": 16},
    "matter": {"customers": 500},
    "noisy": {"settings": 100, "max_queries": 500},
    "quickstart": {"d": 500},
    "units": {"each": 60},
    "water": {"name": "Net3", "gauges": 4},
}


def test_all_are_here_and_short() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(SMALL)
    for path in EXAMPLES.glob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) < 80, path


@pytest.mark.parametrize("name", SMALL)
def test_example(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if name == "water":
        pytest.importorskip("wntr", reason="EPANET comes with the extra `simulators`")
    result = import_module(f"examples.{name}").main(out=tmp_path, **SMALL[name])
    assert str(result) in capsys.readouterr().out
    if name == "quickstart":
        assert "Where the queries went" in (tmp_path / "quickstart.html").read_text(encoding="utf-8")
    assert (tmp_path / f"{name}.png").stat().st_size > 10_000
    if name == "matter":
        assert sorted(result.indices) == sorted(import_module("examples.matter").Grid(500).large)
        assert result.important.all()
    elif name in ("calibrate", "water"):
        assert result.success
        assert ("moved all parameters" in result.message) == (name == "water")
    else:
        assert result.fun < 0.5 * result.trace.values[0]
