"""The tables of a journal.

One rule holds for all of them: **nothing is ever changed or removed.** Each row has a number of its own,
`entry`, counted through all tables in the order of writing, and a running checksum, `sum`, over itself and
everything before it (see `chain`). A later row with the same key stands in for the earlier one: the key of
`header` is the name, of `asks` the id, of `answers` ask and row, of `moves` the step. `head` alone is
overwritten: it says how many entries there are, and the last sum.
"""

from __future__ import annotations

APPLICATION = 0x67726365  # "grce"
SCHEMA_VERSION = 4
EARLIER = (  # formats 1 to 3; what comes after a release is read for ever
    "it is of a development version from before the first release, without the checksums by which a result "
    "can be trusted; what was paid for is in its tables asks, answers and moves, for any SQLite"
)

TABLES = {
    # value: text (JSON), or bytes for what is large.
    "header": ("name TEXT", "value"),
    # at_once: how many rows may be in flight; reasked: how many were sent again after a crash; curtailed: the
    # budget that had refused something before; aside: paid for, but not on the path of a run with the larger
    # budget that came later.
    "asks": (
        "id INTEGER",
        "role TEXT",
        "rows INTEGER",
        "digest INTEGER",
        "at_once INTEGER",
        "reasked INTEGER",
        "curtailed INTEGER",
        "aside INTEGER",
    ),
    # value: see values.py; NULL with the failure that came instead. lost: the evaluation was lost with its
    # worker. at: when it was known, in seconds since 1970.
    "answers": ("ask INTEGER", "row INTEGER", "value", "failure TEXT", "lost INTEGER", "at REAL"),
    # indices: those that changed since the last iterate that has coordinates, NULL: all; coordinates: their
    # numbers, NULL: this iterate's are not kept.
    "moves": (
        "step INTEGER",
        "queries INTEGER",
        "value REAL",
        "curtailed INTEGER",
        "indices BLOB",
        "coordinates BLOB",
    ),
}
COLUMNS = {table: tuple(column.split()[0] for column in columns) for table, columns in TABLES.items()}

SCHEMA = {
    name: f"CREATE TABLE {name} (entry INTEGER PRIMARY KEY, {', '.join(columns)}, sum INTEGER)"
    for name, columns in TABLES.items()
} | {
    "head": "CREATE TABLE head (one INTEGER PRIMARY KEY, entries INTEGER, sum INTEGER)",
    # In one pass over asks and answers together: a join would compare each with each, for want of an index.
    "queries": "CREATE VIEW queries AS SELECT upto - own + row + 1 AS query, role, value, failure, at FROM "
    "(SELECT row, value, failure, at, sum(rows) OVER (ORDER BY ask) AS upto, max(rows) OVER same AS own, "
    "max(role) OVER same AS role, max(aside) OVER same AS gone FROM "
    "(SELECT id AS ask, -1 AS row, NULL AS value, NULL AS failure, NULL AS at, role, "
    "CASE aside WHEN 0 THEN rows ELSE 0 END AS rows, aside FROM "
    "(SELECT id, role, rows, aside, max(entry) FROM asks GROUP BY id) UNION ALL "
    "SELECT ask, row, value, failure, at, NULL, 0, NULL FROM "
    "(SELECT ask, row, value, failure, at, max(entry) FROM answers GROUP BY ask, row)) "
    "WINDOW same AS (PARTITION BY ask)) WHERE row >= 0 AND gone = 0 ORDER BY query",
}
