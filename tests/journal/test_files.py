"""Whatever is wrong with the file, its folder or its disk ends in one clear line; what was written stays."""

from __future__ import annotations

import os
import pickle
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.journal.edits import edit, reseal

import gracezo
from gracezo.core.types import FloatArray
from gracezo.journal.lock import WriterLock
from gracezo.journal.reading import read
from gracezo.testing import Case, Valley, assert_same

ERRORS = (gracezo.JournalError, gracezo.JournalWriteError)


def run(journal: Path | gracezo.Journal, **others: object) -> gracezo.Result:
    valley = Valley()
    return gracezo.minimize(valley, valley.x0, **Case("grace").arguments(journal=journal) | others)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("journal") / "whole.db"
    run(path, max_queries=40)
    return path


def test_nothing_else_is_left_behind(tmp_path: Path) -> None:
    run(tmp_path / "run.db")
    assert [file.name for file in tmp_path.iterdir()] == ["run.db"]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_files(tmp_path: Path, whole: Path, data: st.DataObject) -> None:
    """Bytes changed or cut off anywhere: an error in one line, or a run; never anything else."""
    blob = bytearray(whole.read_bytes())
    if data.draw(st.booleans(), label="truncate"):
        del blob[data.draw(st.integers(1, len(blob) - 1)) :]
    else:
        # Most of a small database is empty space: aim at what is not.
        used = [place for place, byte in enumerate(blob) if byte]
        for place in data.draw(st.lists(st.sampled_from(used), min_size=1, max_size=20)):
            blob[place] = data.draw(st.integers(0, 255))
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(blob)
    journal = gracezo.Journal(damaged, fingerprint="gracezo.testing:Valley")
    assert "\n" not in complaint(lambda: read(damaged))
    assert "\n" not in complaint(lambda: gracezo.resume(journal, Valley()))


def complaint(attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except ERRORS as error:
        return str(error)
    return ""


@given(blob=st.binary(min_size=1, max_size=300))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_foreign_files_are_left_alone(tmp_path: Path, blob: bytes) -> None:
    foreign = tmp_path / "foreign.db"
    foreign.write_bytes(blob)
    for attempt in (lambda: run(foreign), lambda: gracezo.resume(foreign, Valley()), lambda: read(foreign)):
        with pytest.raises(gracezo.JournalError, match="is not a journal of gracezo"):
            attempt()
    assert foreign.read_bytes() == blob


class Bomb:
    def __reduce__(self) -> tuple[object, ...]:
        return os._exit, (7,)


def test_hostile_files_run_nothing(tmp_path: Path, whole: Path) -> None:
    bomb = tmp_path / "bomb.db"
    bomb.write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(gracezo.JournalError, match="not a journal"):
        run(bomb)
    for damage in (
        "CREATE TRIGGER t AFTER INSERT ON answers BEGIN DELETE FROM asks; END",
        "CREATE TABLE more (x)",
        "DROP VIEW queries",
        "CREATE INDEX i ON asks (digest)",
    ):
        shutil.copy(whole, bomb)
        with closing(sqlite3.connect(bomb)) as db:
            db.executescript(damage)
        with pytest.raises(gracezo.JournalError, match="its tables are not those of a journal"):
            gracezo.resume(bomb, Valley())
    for name, value in {
        "x0": pickle.dumps(Bomb()),
        "shape": b"[60, 1e9]",
        "arguments": '{"method": "os:_exit", "seed": 1}',
        "limits": "[]",
        "finish": '{"status": {}}',
        "fingerprint": "[" * 100_000,
    }.items():
        shutil.copy(whole, bomb)
        with closing(sqlite3.connect(bomb)) as db:
            db.execute("UPDATE header SET value = ? WHERE name = ?", (value, name))
            db.commit()
        with pytest.raises(gracezo.JournalError, match="of header, is not as it was written"):
            gracezo.resume(bomb, Valley())
        reseal(bomb)
        with pytest.raises(gracezo.JournalError):
            gracezo.resume(bomb, Valley(), max_queries=60)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE answers SET value = 'text' WHERE ask = 2",
        "UPDATE answers SET value = 9e999 WHERE ask = 2",
        "UPDATE answers SET row = 99 WHERE ask = 2 AND row = 1",
        "DELETE FROM answers WHERE ask = 2 AND row = 1",
        "UPDATE asks SET rows = 'many' WHERE id = 2",
        "UPDATE asks SET rows = -1 WHERE id = 2",
    ],
)
def test_nonsense_in_the_tables(tmp_path: Path, whole: Path, damage: str) -> None:
    shutil.copy(whole, tmp_path / "run.db")
    edit(tmp_path / "run.db", damage)
    with pytest.raises(gracezo.JournalError, match=r"is damaged: entry \d+"):
        gracezo.resume(tmp_path / "run.db", Valley())


def test_other_databases_are_left_alone(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "other.db")) as db:
        db.execute("CREATE TABLE precious (x)")
    before = (tmp_path / "other.db").read_bytes()
    with pytest.raises(gracezo.JournalError, match="is a database, but not a journal of gracezo"):
        run(tmp_path / "other.db")
    assert (tmp_path / "other.db").read_bytes() == before


@pytest.mark.parametrize(
    ("version", "says"), [(9, "written by a later gracezo"), (2, "from before the first release")]
)
def test_other_formats_are_not_called_damaged(tmp_path: Path, whole: Path, version: int, says: str) -> None:
    shutil.copy(whole, tmp_path / "run.db")
    with closing(sqlite3.connect(tmp_path / "run.db")) as db:
        db.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(
        gracezo.JournalError, match=f"has journal format {version}, .*reads format 4: .*{says}"
    ):
        read(tmp_path / "run.db")


def test_each_answer_has_its_time(tmp_path: Path) -> None:
    before = time.time()
    run(tmp_path / "run.db")
    times = [query.at for query in read(tmp_path / "run.db").queries]
    assert before <= times[0]
    assert times == sorted(times)
    assert times[-1] <= time.time()


def test_places_where_no_journal_can_be(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty.db").touch()
    for path, said in {
        "folder": "Is a directory",
        "none/run.db": "No such file",
        "empty.db": "is empty",
    }.items():
        for attempt in (lambda path: gracezo.resume(path, Valley()), read):
            with pytest.raises(ERRORS, match=f"{said}|there is no journal"):
                attempt(tmp_path / path)
    with pytest.raises(gracezo.JournalWriteError, match="No such file or directory"):
        run(tmp_path / "none" / "run.db")


READ_ONLY = """
import os, sys
import gracezo
import gracezo.journal.session  # now: another user may not be able to read the files of Python
from gracezo.journal.reading import read
from gracezo.testing import Case, Valley
gracezo.minimize
if os.geteuid() == 0:  # root may write anywhere
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
valley = Valley()
try:
    gracezo.minimize(valley, valley.x0, **Case("grace").arguments(journal=sys.argv[1]))
except gracezo.JournalWriteError as error:
    print(error, len(valley.points), len(read(sys.argv[1]).queries), sep="\\n")
"""


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs the permissions of POSIX")
def test_a_read_only_folder(whole: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folders are closed to other users
        journal = Path(folder, "run.db")
        shutil.copy(whole, journal)
        journal.chmod(0o444)
        Path(folder).chmod(0o555)
        try:
            out = subprocess.run(
                [sys.executable, "-c", READ_ONLY, journal], capture_output=True, text=True, check=False
            )
        finally:
            Path(folder).chmod(0o700)
    assert out.returncode == 0, out.stderr
    said, called, kept = out.stdout.splitlines()
    assert said == f"cannot write the journal {journal}: Permission denied"
    assert called == "0"
    assert int(kept) == len(read(whole).queries) > 0


def test_one_writer_and_readers_meanwhile(tmp_path: Path) -> None:
    journal = tmp_path / "run.db"
    seen = []
    valley = Valley()

    def looks(x: FloatArray) -> float:
        if len(valley.points) in (0, 1, 17):
            with pytest.raises(gracezo.JournalError, match="is being written by another run of this process"):
                run(journal)
            resume = f"import gracezo; gracezo.resume({str(journal)!r}, print)"
            if len(valley.points) == 17:
                other = subprocess.run(
                    [sys.executable, "-c", resume], capture_output=True, text=True, check=False
                )
                assert "JournalError" in other.stderr
                assert "is being written by another process" in other.stderr
            seen.append(len(read(journal).queries))
        return valley(x)

    result = gracezo.minimize(looks, valley.x0, **Case("grace").arguments(journal=journal))
    assert seen == [0, 1, 17]
    valley = Valley()
    assert_same(result, gracezo.minimize(valley, valley.x0, **Case("grace").arguments()), "watched")


def test_threads_are_kept_apart(tmp_path: Path) -> None:
    """Of threads that start at the same moment one writes; the others are told so."""
    holders, refused, worst = [0], [0], [0]
    count = 8
    together = threading.Barrier(count)

    def start(_: int) -> None:
        for number in range(25):
            path = tmp_path / f"{number}.db"
            together.wait()
            try:
                lock = WriterLock(path)
            except gracezo.JournalError:
                refused[0] += 1
                together.wait()
                continue
            holders[0] += 1
            worst[0] = max(worst[0], holders[0])
            together.wait()  # all have tried
            holders[0] -= 1
            lock.release()

    with ThreadPoolExecutor(count) as pool:
        list(pool.map(start, range(count)))
    assert (worst[0], refused[0]) == (1, 25 * (count - 1))


def test_reading(tmp_path: Path) -> None:
    valley = Valley()
    result = gracezo.minimize(valley, valley.x0, **Case("grace").arguments(journal=tmp_path / "run.db"))
    record = read(tmp_path / "run.db")
    assert [query.query for query in record.queries] == list(range(1, result.nfev + 1))
    assert [query.value for query in record.queries] == [
        valley.value(np.frombuffer(point)) for point in valley.points[: result.nfev]
    ]
    assert [step.value for step in record.steps] == result.trace.values.tolist()
    assert [step.queries for step in record.steps] == result.trace.queries.tolist()
    assert [step.value for step in record.steps] == [
        valley.value(step.x) for step in record.steps if step.x is not None
    ]
    assert record.finish is not None
    assert record.finish.message == result.message
    assert record.identity.arguments["seed"] == result.seed
    assert (record.in_flight, record.reasked, record.aside) == (0, 0, 0)


FULL = """
import resource, sys
import gracezo
from gracezo.testing import Valley
resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))
valley = Valley()
try:
    gracezo.minimize(valley, valley.x0, method="grace", sparsity=3, max_queries=5000, journal=sys.argv[1])
except gracezo.JournalWriteError as error:
    print(error, error.result.nfev, len(valley.points), sep="\\n")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs setrlimit")
def test_a_full_disk(tmp_path: Path) -> None:
    out = subprocess.run(
        [sys.executable, "-c", FULL, tmp_path / "run.db"], capture_output=True, text=True, check=False
    )
    assert out.returncode == 0, out.stderr
    said, nfev, called = out.stdout.splitlines()
    assert said.startswith(f"cannot write the journal {tmp_path / 'run.db'}: ")
    kept = len(read(tmp_path / "run.db").queries)
    assert int(nfev) == int(called)  # the one that could not be written was paid for
    assert kept > 0
    assert int(called) - kept in (0, 1)
    valley = Valley()
    result = gracezo.resume(tmp_path / "run.db", valley)
    assert len(valley.points) == result.nfev - kept


@pytest.mark.parametrize("method", ["grace", "fdsa"])
def test_size_of_the_file(tmp_path: Path, method: str) -> None:
    """At most 100 bytes a query, and the iterates in sparse form."""
    result = run(tmp_path / "run.db", method=method, max_queries=5000, options={"step_size": 0.01})
    record = read(tmp_path / "run.db")
    changes = sum(
        np.count_nonzero(after.x != before.x)
        for before, after in zip(record.steps, record.steps[1:], strict=False)
    )
    pages = 6 * 4096  # the fewest that six tables and indices can have
    assert (tmp_path / "run.db").stat().st_size <= 100 * result.nfev + 12 * changes + 8 * 60 + pages
