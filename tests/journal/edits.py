"""Journals as they were at an earlier moment, or edited by somebody who makes the sums fit again."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from gracezo.journal.chain import Chain
from gracezo.journal.file import JournalFile
from gracezo.journal.schema import TABLES


def cut(journal: Path, to: Path, entries: int) -> None:
    """Copy a journal as it was when it had so many entries."""
    shutil.copy(journal, to)
    with closing(sqlite3.connect(to)) as db:
        for table in TABLES:
            db.execute(f"DELETE FROM {table} WHERE entry > ?", (entries,))
        db.commit()
    reseal(to)


def prefix(journal: Path, to: Path, answers: int, sent: bool) -> None:
    """Copy a journal as it was when so many answers were recorded, the next ask `sent` or not."""
    with closing(sqlite3.connect(journal)) as db:
        if answers:
            ((last,),) = db.execute(
                "SELECT entry FROM answers ORDER BY entry LIMIT 1 OFFSET ?", (answers - 1,)
            )
        else:
            last = db.execute("SELECT min(entry) FROM asks").fetchone()[0] - 1
        asks = db.execute("SELECT entry FROM asks WHERE entry > ? ORDER BY entry", (last,)).fetchall()
        following = db.execute("SELECT entry FROM answers WHERE entry > ? ORDER BY entry", (last,)).fetchall()
    if asks and following and sent and asks[0] < following[0]:
        last = asks[0][0]
    cut(journal, to, last)


def edit(journal: Path, statement: str, *values: object) -> None:
    """Run a statement on a journal."""
    with closing(sqlite3.connect(journal)) as db:
        db.execute(statement, values)
        db.commit()


def reseal(journal: Path) -> None:
    """Make all numbers and sums anew, so that the file is whole as far as they can tell."""
    file = JournalFile.reading(journal)
    rows = list(file._in_order())
    file.close()
    chain = Chain()
    with closing(sqlite3.connect(journal)) as db:
        for table, row in rows:
            whole = chain.add(table, row[1:-1])
            db.execute(
                f"UPDATE {table} SET entry = ?, sum = ? WHERE entry = ?", (whole[0], whole[-1], row[0])
            )
        db.execute("UPDATE head SET entries = ?, sum = ?", (chain.entries, chain.sum))
        db.commit()
