"""The report: its numbers are the journal's, and what it is given stays text."""

from __future__ import annotations

import io
import math
import os
import tempfile
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.report.pages import SHAPE, Reader, bowl, rows, run

import gracezo
from gracezo.cli import main
from gracezo.core.types import FloatArray
from gracezo.journal.reading import read
from gracezo.report.page import report
from gracezo.report.picture import png
from gracezo.report.replay import Replay, _Difference, _look


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "run.db"
    run(path)
    return path


def page(journal: Path, tmp_path: Path) -> Reader:
    return Reader(report(journal, tmp_path / "run.html").read_text(encoding="utf-8"))


def test_every_number_is_the_journals(journal: Path, tmp_path: Path) -> None:
    shown, record = page(journal, tmp_path), read(journal)
    result = record.result
    assert result is not None
    values = shown.values
    assert values["id=f-start"] == [record.steps[0].value]
    assert values["id=f-best"] == [result.fun]
    assert values["id=queries"] == [len(record.queries), 500]
    assert values["id=steps"] == [len(record.steps) - 1]
    assert values["id=changed"] == [len(result.support), 120]
    failed = sum(query.failure is not None for query in record.queries)
    assert values["id=failed"] == [failed] == [len(record.queries) // 40 + (len(record.queries) % 40 == 39)]
    assert values["id=seconds"] == [record.queries[-1].at - record.queries[0].at]
    roles = Counter(query.role for query in record.queries)
    assert {role: values[f"data-role={role}"][0] for role in roles} == roles
    table = dict(rows(shown))
    assert list(table)[: len(result.support)] == result.support.tolist()
    for index, amount in zip(*result.change, strict=True):
        before, now, change, slope, *_ = table[int(index)]
        assert (before, now, change) == (0.0, result.x.ravel()[index], amount)
        assert slope != 0.0


def test_slopes_come_from_a_replay() -> None:
    """Over one step they are those of chords; over two, derivatives with an error that holds."""

    def cubic(x: FloatArray) -> float:
        return float(np.exp(x[3]) + 2.0 * x[5] ** 2 + x[5])

    def looked(path: Path, **others: Any) -> Replay:
        gracezo.minimize(cubic, np.zeros(8), journal=path, **others)
        replay = Replay(read(path))
        replay.follow(read(path), 60.0)
        assert replay.trouble is None
        return replay

    with tempfile.TemporaryDirectory() as folder:
        chords = looked(Path(folder) / "a.db", method="fdsa", max_steps=1, options={"eps": 1e-3}).looks()
        assert chords.keys() == set(range(8))
        assert chords[3].slope == pytest.approx((math.exp(1e-3) - 1) / 1e-3, rel=1e-9)
        assert math.isnan(chords[3].error)
        assert (chords[3].query, chords[3].step) == (5, 1e-3)
        replay = looked(Path(folder) / "b.db", max_queries=40, seed=0)
        for look in replay.looks().values():
            assert look.step != 0.0
            assert 1 <= look.query <= 40


def test_two_steps_from_a_point_give_a_derivative(tmp_path: Path) -> None:
    def chord(query: int, step: float) -> _Difference:
        return _Difference(query, 0, step, (math.exp(step) - 1.0) / step, 1.0)

    for steps in ((0.1, -0.1), (0.1, 0.05), (-0.2, 0.1)):
        look = _look([chord(1, steps[0]), chord(2, steps[1])], 0.0)
        assert abs(look.slope - 1.0) < look.error
        assert look.error < 0.2


def test_hostile_content_stays_text(journal: Path, tmp_path: Path) -> None:
    shown = page(journal, tmp_path)
    assert shown.tags.count("script") == 1  # ours
    assert shown.text.count("<script>window.hacked = 1</script>") >= 3  # the name, the message, the function
    assert "\x1b" not in shown.text
    assert "onerror" in shown.text
    evil = tmp_path / "<img src=x onerror=alert(1)>.db"
    evil.write_bytes(journal.read_bytes())
    assert Reader(report(evil, tmp_path / "evil.html").read_text(encoding="utf-8")).tags.count("img") == 2


def test_it_needs_nothing_else(journal: Path, tmp_path: Path) -> None:
    html = report(journal, tmp_path / "run.html").read_text(encoding="utf-8")
    assert len(html) < 1_000_000
    for word in ("http://", "https://", 'src="/', "url("):
        assert word not in html.replace("http://www.w3.org/2000/svg", "")
    assert "default-src 'none'" in html


def test_a_run_that_goes_on_and_one_without_a_journal(tmp_path: Path) -> None:
    def stops(x: FloatArray) -> float:
        stops.calls += 1  # type: ignore[attr-defined]
        if stops.calls == 300:  # type: ignore[attr-defined]
            raise SystemExit
        return bowl(x)

    stops.calls = 0  # type: ignore[attr-defined]
    with pytest.raises(SystemExit):
        gracezo.minimize(
            stops, np.zeros(SHAPE), method="fdsa", journal=tmp_path / "cut.db", options={"step_size": 0.01}
        )
    shown = page(tmp_path / "cut.db", tmp_path)
    assert "Running" in shown.text
    assert shown.values["id=queries"] == [299]
    lowest = min(step.value for step in read(tmp_path / "cut.db").steps)
    assert shown.values["id=f-best"] == [lowest]
    result = gracezo.minimize(bowl, np.zeros(SHAPE), target=1e-6, seed=0)
    alone = Reader(result.report(tmp_path / "alone.html").read_text(encoding="utf-8"))
    assert alone.values["id=f-best"] == [result.fun]
    assert alone.values["id=queries"] == [result.nfev]
    assert 'result.report(path, journal="run.db")' in alone.text
    assert alone.text.count("Not known without a journal.") == 3  # roles, noise, failures: not "none"
    with pytest.raises(ValueError, match=r"its name must end in \.html; given: page\.txt"):
        result.report("page.txt")


def test_a_function_that_takes_a_seed_is_replayed(tmp_path: Path) -> None:
    def noisy(x: FloatArray, *, seed: int) -> float:
        return bowl(x) + 1e-2 * float(np.random.default_rng(seed).normal())

    gracezo.minimize(noisy, np.zeros(SHAPE), max_queries=200, journal=tmp_path / "run.db", seed=0)
    record = read(tmp_path / "run.db")
    replay = Replay(record)
    replay.follow(record, 60.0)
    assert replay.trouble is None
    assert replay.replayed == len(record.queries)


def test_what_cannot_be_replayed_is_said(tmp_path: Path) -> None:
    gracezo.minimize(
        bowl,
        np.zeros(SHAPE),
        method="fdsa",
        max_queries=200,
        journal=tmp_path / "run.db",
        options={"step_size": 0.01, "eps": lambda step: 1e-6},
    )
    shown = page(tmp_path / "run.db", tmp_path)
    assert "This run cannot be replayed here: option eps is a function" in shown.text


def test_on_the_command_line(
    journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["report", str(journal)]) == 0
    assert capsys.readouterr().out == "wrote run.html\n"
    assert (tmp_path / "run.html").stat().st_size < 1_000_000
    for words, code, said in (
        (["none.db"], 1, "there is no journal at none.db"),
        ([str(journal), "--out", "page.txt"], 2, "must end in .html"),
        ([str(journal), "--out", "no/page.html"], 1, "No such file or directory"),
    ):
        assert main(["report", *words]) == code
        assert said in capsys.readouterr().err


@pytest.mark.parametrize("shape", [(2, 3), (300, 7), (1000, 1000)])
def test_pictures(shape: tuple[int, int]) -> None:
    image = pytest.importorskip("matplotlib.image")
    matrix = np.zeros(shape)
    matrix[0, 0], matrix[-1, -1] = -2.0, 1.0
    pixels = image.imread(io.BytesIO(png(matrix)))
    assert pixels.shape[:2] == (min(shape[0], 256), min(shape[1], 256))
    assert pixels[0, 0, 2] > pixels[0, 0, 0]  # blue
    assert pixels[-1, -1, 0] > pixels[-1, -1, 2]  # red
    middle = pixels[pixels.shape[0] // 2, pixels.shape[1] // 2]
    assert middle[:3] == pytest.approx(247 / 255, abs=0.01)


def dies(x: FloatArray, once: Path) -> float:
    """End the process at the first look along the last coordinate."""
    if x[-1] != 0.0 and not once.exists():
        once.touch()
        os._exit(1)
    return float(((x - 1.0) ** 2).sum())


def test_a_replay_goes_on_after_a_worker_has_died(tmp_path: Path) -> None:
    run = partial(gracezo.minimize, method="fdsa", max_steps=3, seed=0, options={"step_size": 0.1})
    run(dies, np.zeros(6), (tmp_path / "once",), workers=2, journal=tmp_path / "run.db")
    record = read(tmp_path / "run.db")
    lost = [query for query in record.queries if query.lost]
    assert {query.failure for query in lost} == {"the process ended with exit code 1"}
    replay = Replay(record)
    replay.follow(record, 60.0)
    assert (replay.replayed, replay.note) == (len(record.queries), None)
    assert {look.query > lost[-1].query for look in replay.looks().values()} == {True}


@pytest.mark.parametrize("d", [2**17, 2**17 + 5])
def test_a_report_of_very_many_coordinates(d: int, tmp_path: Path) -> None:
    goal = np.zeros(d)
    goal[[5, 777]] = 1.0, -2.0
    journal = gracezo.Journal(tmp_path / "run.db", fingerprint="bowl")
    gracezo.minimize(
        lambda x: float(((x - goal) ** 2).sum()), np.zeros(d), max_queries=60, seed=0, journal=journal
    )
    record = read(journal.path)
    replay = Replay(record)
    replay.follow(record, 60.0)
    assert (replay.replayed, replay.note) == (len(record.queries), None)
    assert {5, 777} <= replay.looks().keys()


def test_a_replay_that_asks_other_points_is_not_believed(tmp_path: Path) -> None:
    """Though they have the same roles: the slopes would be those of other points."""
    journal = tmp_path / "run.db"
    gracezo.minimize(bowl, np.zeros(SHAPE), method="fdsa", max_steps=2, seed=0, journal=journal)
    record = read(journal)
    changed = record.identity.arguments | {"options": {"eps": 1e-3}}
    other = replace(record, identity=replace(record.identity, arguments=changed))
    replay = Replay(other)
    replay.follow(other, 60.0)
    assert replay.note is not None
    assert "leaves the record at query 2" in replay.note
    assert replay.looks() == {}
