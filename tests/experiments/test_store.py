from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from tests.experiments.builders import record

from gracezo.experiments.runs import Job
from gracezo.experiments.store import FolderError, Store

JOB = Job("distance", "rs", 3, {"step_size": 0.1}, max_steps=2)


def test_what_is_kept_is_found_again(tmp_path: Path) -> None:
    run = record(JOB, [3.0, 1.0 / 3.0, 2.0])
    store = Store(tmp_path / "deep" / "down")
    assert store.get(JOB) is None
    store.put(run)
    for reader in (store, Store(tmp_path / "deep" / "down")):
        found = reader.get(JOB)
        assert found is not None
        assert np.array_equal(found.values, run.values)
        assert np.array_equal(found.queries, run.queries)
        assert (found.nfev, found.nit, found.message) == (run.nfev, run.nit, run.message)
    assert [about["job"]["instance"] for about in store.about()] == [3]


def test_a_folder_of_another_version_is_refused(tmp_path: Path) -> None:
    Store(tmp_path)
    mark = tmp_path / "gracezo-results.json"
    mark.write_text(json.dumps({"gracezo": "0.0.1"}), encoding="utf-8")
    with pytest.raises(FolderError, match=r"made by gracezo 0\.0\.1, this is gracezo .*--out"):
        Store(tmp_path)
    mark.write_text("nonsense", encoding="utf-8")
    with pytest.raises(FolderError, match="unknown version"):
        Store(tmp_path)


def test_runs_without_a_mark_are_of_an_unknown_version(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    with pytest.raises(FolderError, match="unknown version"):
        Store(tmp_path)
    assert not (tmp_path / "gracezo-results.json").exists()


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(FolderError, match="cannot be written"):
        Store(tmp_path / "file" / "below")
    with pytest.raises(FolderError, match="cannot be written"):
        Store(tmp_path / "file")


def test_a_write_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        store.put(record(JOB, [1.0, 0.5]))
    assert store.get(JOB) is None
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["gracezo-results.json"]


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put(record(JOB, [1.0, 0.5]))
    path = tmp_path / "runs" / f"{JOB.name}.npz"
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(FolderError, match="delete it"):
        Store(tmp_path).get(JOB)
