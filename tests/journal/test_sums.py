"""A journal cannot give a wrong result: what is not as it was written is noticed."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.journal.edits import cut, edit, reseal

import gracezo
from gracezo.cli import main
from gracezo.core.result import Result
from gracezo.journal import results
from gracezo.journal.chain import Broken, Chain, verify
from gracezo.journal.reading import read
from gracezo.journal.schema import TABLES
from gracezo.testing import Case, Valley, assert_same

ARGUMENTS = Case("grace", max_queries=60).arguments()


def run(path: Path, **others: Any) -> Result:
    valley = Valley()
    return gracezo.minimize(valley, valley.x0, **ARGUMENTS | others, journal=path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("journal") / "whole.db"
    run(path)
    return path


@pytest.fixture
def copy(whole: Path, tmp_path: Path) -> Path:
    shutil.copy(whole, tmp_path / "run.db")
    return tmp_path / "run.db"


cells = st.none() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text() | st.binary(max_size=20)


@given(rows=st.lists(st.lists(cells, min_size=1, max_size=4), min_size=2, max_size=6), data=st.data())
def test_any_change_of_a_chain_is_noticed(rows: list[list[Any]], data: st.DataObject) -> None:
    chain = Chain()
    entries = [("answers", chain.add("answers", row)) for row in rows]
    assert verify(entries, chain.entries, chain.sum).sum == chain.sum
    place = data.draw(st.integers(0, len(rows) - 1))
    kind = data.draw(st.sampled_from(["drop", "swap", "table", "cell"]))
    damaged = list(entries)
    if kind == "drop":
        del damaged[place]
    elif kind == "swap":
        damaged[place], damaged[place - 1] = damaged[place - 1], damaged[place]
    elif kind == "table":
        damaged[place] = ("asks", damaged[place][1])
    else:
        column = data.draw(st.integers(1, len(rows[place])))
        row = list(damaged[place][1])
        other = data.draw(cells.filter(lambda cell: repr(cell) != repr(row[column])))
        row[column] = other
        damaged[place] = ("answers", tuple(row))
    with pytest.raises(Broken):
        verify(damaged, chain.entries, chain.sum)


EDITS = [
    "UPDATE answers SET value = value + 1 WHERE entry = (SELECT max(entry) FROM answers)",
    "UPDATE answers SET value = -1e9 WHERE entry = (SELECT min(entry) FROM answers)",
    "DELETE FROM answers WHERE entry = (SELECT max(entry) FROM answers)",
    "DELETE FROM header WHERE entry = (SELECT max(entry) FROM header)",
    "UPDATE asks SET digest = 0 WHERE id = 3",
    "UPDATE asks SET reasked = 9 WHERE id = 3",
    "UPDATE moves SET value = 0 WHERE step = 1",
    "UPDATE moves SET coordinates = NULL WHERE step = 1",
    """UPDATE header SET value = replace(value, '60', '90') WHERE name = 'limits'""",
    """UPDATE header SET value = '"another"' WHERE name = 'fingerprint'""",
    "UPDATE header SET value = zeroblob(8) WHERE name = 'x0'",
    "UPDATE header SET value = zeroblob(9) WHERE name = 'arrays'",
    "UPDATE head SET entries = entries - 1",
    "DELETE FROM head",
    "INSERT INTO answers SELECT max(entry) + 100, 2, 0, 1.0, NULL, 0, 0.0, 7 FROM answers",
]


@pytest.mark.parametrize("damage", EDITS)
def test_an_edit_by_hand(copy: Path, damage: str, capsys: pytest.CaptureFixture[str]) -> None:
    edit(copy, damage)
    valley = Valley()
    for attempt in (lambda: gracezo.resume(copy, valley), lambda: run(copy), lambda: read(copy)):
        with pytest.raises(gracezo.JournalError, match="is damaged: "):
            attempt()
    assert valley.points == []
    assert main(["journal", "check", str(copy)]) == 1
    assert "is damaged" in capsys.readouterr().err


def test_check_says_what_is_there(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["journal", "check", str(copy)]) == 0
    record = read(copy)
    assert f"is whole: {len(record.queries)} queries, {len(record.steps)} iterates" in capsys.readouterr().out


def test_a_journal_whose_last_entries_never_came_to_the_disk(whole: Path, tmp_path: Path) -> None:
    """As after the loss of a log: the file is an earlier state of itself, and the run goes on from there."""
    expected = gracezo.minimize(Valley(), Valley().x0, **ARGUMENTS)
    part = tmp_path / "part.db"
    for entries in (20, 50, 90):
        cut(whole, part, entries)
        kept = len(read(part).queries)
        valley = Valley()
        assert_same(gracezo.resume(part, valley), expected, f"from {entries} entries")
        assert len(valley.points) == expected.nfev - kept


def test_random_damage(whole: Path, tmp_path: Path) -> None:
    """A small part of what `make faults` does: bytes changed, pieces moved, cut or filled."""
    expected = gracezo.minimize(Valley(), Valley().x0, **ARGUMENTS)
    dice = random.Random(17)
    outcomes = [damaged_result(whole, tmp_path / "run.db", dice) for _ in range(60)]
    assert sum(outcome is not None for outcome in outcomes) > 0
    for result in outcomes:
        if result is not None:
            assert_same(result, expected, "damaged")


def damaged_result(whole: Path, to: Path, dice: random.Random) -> Result | None:
    """Return the result from a file that was damaged at random, or None for a clear error."""
    blob = bytearray(whole.read_bytes())
    place, size = dice.randrange(len(blob)), dice.choice([1, 1, 1, 8, 100, 4096])
    match dice.randrange(4):
        case 0:
            for _ in range(dice.choice([1, 2, 20])):
                blob[dice.randrange(len(blob))] ^= 1 << dice.randrange(8)
        case 1:
            blob[place : place + size] = bytes(dice.randrange(256) for _ in blob[place : place + size])
        case 2:
            other = dice.randrange(len(blob))
            blob[place : place + size] = blob[other : other + size]
        case 3:
            del blob[place:]
    to.write_bytes(blob)
    try:
        return gracezo.resume(to, Valley())
    except (gracezo.JournalError, gracezo.JournalWriteError):
        return None


# ---------------------------------------------------------------- what was finished


def test_a_finished_run_returns_its_result_whatever_the_library_does_now(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = gracezo.minimize(Valley(), Valley().x0, **ARGUMENTS)
    monkeypatch.setattr("gracezo.setup.whole_run", None)  # nothing can be replayed
    result = gracezo.resume(copy, Valley())
    assert_same(result, expected, "stored")
    assert "this run had ended before" in result.message
    assert "nothing was asked" in result.message
    assert set(result) == set(expected)


@given(st.data())
@settings(max_examples=20)
def test_results_survive_the_file(data: st.DataObject) -> None:
    random_state = np.random.default_rng(data.draw(st.integers(0, 99)))
    x0 = random_state.random((3, 4))
    x = x0.copy()
    x.ravel()[: data.draw(st.integers(0, 12))] += 1.0
    given_fields: dict[str, Any] = {
        "x": x,
        "jac": random_state.random((2, 2)),
        "fun": np.float64(0.5),
        "nfev": np.int64(7),
    }
    given_fields |= {"nested": {"a": (1, [None, "b"])}, "success": np.True_, "worst": float("inf")}
    packed = results.packed(Result(given_fields), x0)
    assert packed is not None
    text, block = packed
    back = results.unpacked(json.loads(json.dumps(text)), block, x0)
    assert np.array_equal(back.x, x)
    assert np.array_equal(back.jac, given_fields["jac"])
    assert (back.fun, back.nfev, back.nested, back.success) == (0.5, 7, {"a": (1, [None, "b"])}, True)
    assert back.worst == float("inf")


def test_limits_and_options_that_are_not_known_yet_or_any_more(copy: Path) -> None:
    with closing(sqlite3.connect(copy)) as db:
        header = dict(db.execute("SELECT name, value FROM header ORDER BY entry").fetchall())
    limits, arguments = json.loads(header["limits"]), json.loads(header["arguments"])
    del limits["target"], arguments["options"]["eps"]  # written before they were invented
    edit(copy, "UPDATE header SET value = ? WHERE name = 'limits'", json.dumps(limits))
    edit(copy, "UPDATE header SET value = ? WHERE name = 'arguments'", json.dumps(arguments))
    reseal(copy)
    expected = gracezo.minimize(Valley(), Valley().x0, **ARGUMENTS | {"max_queries": 80})
    assert_same(run(copy, max_queries=80), expected, "an older journal")
    with pytest.raises(gracezo.JournalError, match="option eps"):
        run(copy, max_queries=90, options={"eps": 1e-5})
    limits["max_joules"] = 7
    edit(copy, "UPDATE header SET value = ? WHERE name = 'limits'", json.dumps(limits))
    reseal(copy)
    with pytest.raises(gracezo.JournalError, match=r"of a later gracezo.*max_joules"):
        gracezo.resume(copy, Valley())


def test_what_was_paid_for_is_taken_along(copy: Path, tmp_path: Path) -> None:
    assert main(["journal", "export", str(copy), "--table", "known", "--out", str(tmp_path / "k.npz")]) == 0
    with np.load(tmp_path / "k.npz") as known:
        points, values = known["X"], known["F"]
    valley = Valley()
    assert values.tolist() == [valley.value(x) for x in points]
    old = gracezo.resume(copy, Valley())
    assert values.min() == old.fun
    new = gracezo.minimize(valley, valley.x0, max_queries=20, known=read(copy).known(), seed=0)
    assert new.fun <= old.fun
    assert len(valley.points) == new.nfev


# ---------------------------------------------------------------- where it is


@pytest.mark.parametrize(
    "name", [":memory:", "file:x.db?mode=memory", "a?b#c%20d.db", b"caf\xe9.db", "ü.db", " "]
)
def test_a_path_is_what_it_says(name: str | bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path(os.fsdecode(name))
    expected = run(path)
    assert os.listdir(os.fsencode(tmp_path)) == [os.fsencode(path)]
    assert len(read(path).queries) == expected.nfev
    assert_same(gracezo.resume(path, Valley()), expected, "again")


def test_links(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    link, target = tmp_path / "link.db", tmp_path / "far" / "run.db"
    link.symlink_to(target)
    seen: list[int] = []
    valley = Valley()

    def looks(x: np.ndarray) -> float:
        if len(valley.points) == 17:
            seen.extend([len(read(link).queries), len(read(target).queries)])
            for path in (link, target):
                with pytest.raises(gracezo.JournalError, match="by another run of this process"):
                    run(path)
        return valley(x)

    looks.fingerprint = valley.fingerprint  # type: ignore[attr-defined]
    result = gracezo.minimize(looks, valley.x0, **ARGUMENTS, journal=link)
    assert seen == [17, 17]
    assert sorted(file.name for file in tmp_path.rglob("*")) == ["far", "link.db", "run.db"]
    assert_same(gracezo.resume(target, Valley()), result, "by its other name")
    (tmp_path / "circle.db").symlink_to(tmp_path / "circle.db")
    for attempt in (run, read, lambda path: gracezo.resume(path, Valley())):
        with pytest.raises(gracezo.JournalError, match=r"lead in a circle|Too many levels"):
            attempt(tmp_path / "circle.db")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs POSIX")
def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.db")
    run(tmp_path / "run.db")
    os.link(tmp_path / "run.db", tmp_path / "other.db")
    attempts: list[Callable[[Path], object]] = [run, read, lambda path: gracezo.resume(path, Valley())]
    for attempt in attempts:
        with pytest.raises(gracezo.JournalError, match="it is not a file"):
            attempt(tmp_path / "fifo.db")
        with pytest.raises(gracezo.JournalError, match=r"2 names \(hard links\)"):
            attempt(tmp_path / "run.db")


# ---------------------------------------------------------------- what is in it


def test_iterates_of_a_method_that_changes_everything_take_little_room(tmp_path: Path) -> None:
    d, queries = 2000, 3000
    result = gracezo.minimize(
        lambda x: float(x @ x),
        np.ones(d),
        method="rs",
        options={"step_size": 1e-6},
        max_queries=queries,
        seed=0,
        journal=tmp_path / "run.db",
    )
    record = read(tmp_path / "run.db")
    assert (tmp_path / "run.db").stat().st_size < 4 * 8 * d + 200 * queries
    kept = [step for step in record.steps if step.x is not None]
    assert 5 < len(kept) < len(record.steps) == result.nit + 1
    assert all(step.value == float(step.x @ step.x) for step in kept if step.x is not None)
    assert record.result is not None
    assert np.array_equal(record.result.x, result.x)


def test_nothing_in_a_file_reaches_the_terminal(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit(
        copy, "UPDATE header SET value = ? WHERE name = 'fingerprint'", json.dumps("\x1b]0;owned\x07\x9b31m")
    )
    edit(copy, "UPDATE header SET value = ? WHERE name = 'library'", json.dumps("\x1b[31m"))
    reseal(copy)
    assert main(["journal", "show", str(copy)]) == 0
    with pytest.raises(gracezo.JournalError) as refused:
        gracezo.resume(copy, Valley())
    for said in (capsys.readouterr().out, str(refused.value)):
        assert not any((ord(sign) < 32 and sign != "\n") or 127 <= ord(sign) < 160 for sign in said)
        assert r"\x1b]0;owned\x07\x9b31m" in said


def test_tables_have_one_shape() -> None:
    assert set(TABLES) == {"header", "asks", "answers", "moves"}


def test_what_later_versions_may_add_does_not_make_a_journal_damaged(copy: Path) -> None:
    """Entries, limits, arguments and fields that this version does not know, as long as they say nothing."""
    with closing(sqlite3.connect(copy)) as db:
        header = dict(db.execute("SELECT name, value FROM header ORDER BY entry").fetchall())
    finish, result = header.get("finish"), header.get("result")
    changed = {
        "limits": json.loads(header["limits"]) | {"max_joules": None},
        "arguments": json.loads(header["arguments"]) | {"prior": None},
        "parts": json.loads(header["parts"]),
    }
    if finish is not None and result is not None:
        changed["finish"] = json.loads(finish) | {"joules": 7}
        changed["result"] = json.loads(result) | {"joules": 7}
    for name, value in changed.items():
        edit(copy, "UPDATE header SET value = ? WHERE name = ?", json.dumps(value), name)
    edit(copy, "UPDATE header SET name = 'colour' WHERE name = 'created'")
    reseal(copy)
    assert read(copy).identity.arguments["prior"] is None
    expected = gracezo.minimize(Valley(), Valley().x0, **ARGUMENTS)
    assert_same(run(copy), expected, "a later journal")
    expected = gracezo.minimize(Valley(), Valley().x0, **ARGUMENTS | {"max_queries": 80})
    assert_same(gracezo.resume(copy, Valley(), max_queries=80), expected, "a later journal, resumed")


def test_an_argument_that_says_something_new_is_another_run(copy: Path) -> None:
    with closing(sqlite3.connect(copy)) as db:
        ((told,),) = db.execute("SELECT value FROM header WHERE name = 'arguments'")
    later = json.dumps(json.loads(told) | {"prior": 0.5})
    edit(copy, "UPDATE header SET value = ? WHERE name = 'arguments'", later)
    reseal(copy)
    with pytest.raises(gracezo.JournalError, match=r"holds another run: prior is 0\.5 there and None here"):
        run(copy, max_queries=80)
    with pytest.raises(gracezo.JournalError, match=r"cannot be resumed: .*prior"):
        gracezo.resume(copy, Valley(), max_queries=80)
