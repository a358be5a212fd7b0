"""One process's work with a journal: it replays what is recorded and records what is new.

A session stands between a run and its evaluator and is itself an evaluator:

- An ask that is recorded is answered from the record, after its digest has
  been compared; the first that differs ends the replay with an error.
- Any other ask is written before it is sent, and each value before the run
  can see it.
- A recorded failure is replayed too, if the run had gone on after it (it was
  asked again, or skipped); one that had ended the run is asked again.
- While it replays, no callback is fired and the clock stands still.
- A run that has ended is not replayed: its result is in the record.

Two things may make a run ask otherwise than recorded without anything being
wrong. A budget that has grown: what the old budget had cut short is completed,
what it had led to is set aside. And rows that were in flight when the process
died: they are sent again, and counted in `reasked`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from operator import itemgetter
from types import TracebackType
from typing import Any

import numpy as np

from gracezo.core.asks import Ask, Point
from gracezo.core.drive import Evaluator, rows_at_once
from gracezo.core.errors import EvaluationFailure
from gracezo.core.interrupts import DelayedSignals
from gracezo.core.limits import DefaultBudget, Limits
from gracezo.core.names import Names
from gracezo.core.places import dense
from gracezo.core.result import Result, Status
from gracezo.core.run import Answer, Run
from gracezo.core.types import FloatArray
from gracezo.journal.digest import Digest
from gracezo.journal.errors import JournalError, JournalWriteError, plain
from gracezo.journal.identity import Identity
from gracezo.journal.lock import WriterLock
from gracezo.journal.settings import Journal
from gracezo.journal.store import Finished, Store, StoredAsk

OnMove = Callable[[Run, Point], None]


class Session:
    """A journal opened for one run; a context manager.

    Parameters
    ----------
    journal
        Which one. A file that does not exist is made by `begin`.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        try:
            self._lock = WriterLock(journal.path)
        except OSError as error:
            raise JournalWriteError(f"cannot write the journal {journal.path}: {error.strerror}") from error
        try:
            self._store = Store.writing(journal.path, journal.durable)
        except BaseException:
            self._lock.release()
            raise
        self._digest = Digest()
        self._asks: list[StoredAsk] = []
        self._place = 0  # which ask of the run comes next
        self._steps: dict[int, bool] = {}  # iterates recorded, and whether with their coordinates
        self._seen = 0  # iterates reached
        self._finish: Finished | None = None  # how the recorded run ended
        self._spent_at: int | None = None  # iterates at which it had used up its time
        self._as_recorded = False  # whether the limits are those of the record
        self._sent: tuple[int, int] | None = None  # the last ask sent, and how many of it at once
        self._waiting = False  # whether something is in flight that has been waited for
        self._live_since: float | None = None  # when the replay had come to its end
        self._run: Run | None = None
        self.result: Result | None = None  # of the recorded run, if it has ended and is not to go on

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._lock.inherited:  # by a child that the function forked: the journal is its parent's
            return
        with DelayedSignals():
            try:
                if self._run is not None and not isinstance(error, (JournalError, JournalWriteError)):
                    self._close(self._run)
            except (JournalError, JournalWriteError) as broken:
                error = broken
                raise
            finally:
                if self._run is not None and isinstance(error, (JournalError, JournalWriteError)):
                    error.result = self._run.result()
                self._journal.pausing = False
                self._store.file.close()
                self._lock.release()

    # ------------------------------------------------------------ which run

    @property
    def identity(self) -> Identity | None:
        """Which run is recorded, or None in a new file."""
        return None if self._store.file.empty else self._store.identity()

    @property
    def limits(self) -> dict[str, Any]:
        """The stopping rules of the recorded run, as they were given."""
        given = self._store.header().get("limits")
        if not isinstance(given, dict):
            raise JournalError(f"{self._journal.path} is damaged: it does not say when to stop")
        known = asdict(Limits())
        newer = [name for name, value in given.items() if name not in known and value is not None]
        if newer:
            raise JournalError(
                f"{self._journal.path} is of a later gracezo, and has a limit that this one does not know: "
                f"{plain(', '.join(newer))}"
            )
        return {name: given.get(name) for name in known}  # an older one may not have them all

    @property
    def names(self) -> list[str] | None:
        """What the coordinates of the recorded run are called, if somebody has said so."""
        names: list[str] | None = self._store.header().get("names")
        return names

    def call(self, names: Names) -> None:
        """Note what the coordinates are called; no path depends on it, so the last names given count."""
        if names.given is not None and list(names.given) != self.names:
            self._store.put(names=names.given)
        if self.result is not None:
            self.result.names = names

    def begin(self, identity: Identity, drawn: int, limits: Limits, *, more_time: bool = False) -> int:
        """Record a new run, or get ready to go on with the recorded one if it is the same.

        Parameters
        ----------
        identity
            Which run it is to be. Its seed may be None.
        drawn
            The seed of a new run without one.
        limits
            When to stop.
        more_time
            Whether a run that has used up its time is to have as much again.

        Returns
        -------
        int
            The seed of the run.
        """
        recorded = self.identity
        if recorded is None:
            header = {"limits": _as_given(limits), "library": _version(), "created": int(time.time())}
            self._store.create(identity.with_seed(drawn), header)
            self._as_recorded = True
            self._go_live()
            return drawn
        other, differences = recorded.other_function(identity), recorded.differences(identity)
        if other and not self._journal.same:
            hint = f"journal=Journal({str(self._journal.path)!r}, same=True), or --same on the command line"
            differences = [*other[:-1], f"{other[-1]} (if it is the same nevertheless: {hint})", *differences]
        if differences:
            raise JournalError(f"{self._journal.path} holds another run: {'; '.join(differences)}")
        self._recall(recorded.x0.ravel(), limits, more_time)
        if other and self.result is None:
            told = self._store.header().get("overridden") or []
            self._store.put(
                overridden=[*told, *other], fingerprint=identity.fingerprint, parts=identity.parts
            )
        return recorded.seed

    def _recall(self, x0: FloatArray, limits: Limits, more_time: bool) -> None:
        """Get ready to replay under these limits."""
        answered = self._store.answered()
        if limits.max_queries is not None and limits.max_queries < answered:
            raise ValueError(
                f"max_queries must be at least {answered:,}, the queries that {self._journal.path} holds; "
                f"given: {limits.max_queries:,}"
            )
        self._as_recorded = _as_given(limits) == self.limits
        self._asks = self._store.asks()
        self._steps = self._store.recall_moves(x0, limits.max_queries)
        self._finish = self._store.finish()
        if self._finish is not None and self._as_recorded and not more_time:
            if self._finish.status not in (Status.STOPPED, Status.FAILED):
                self.result = self._store.result()
                if self.result is not None:
                    self.result.names = Names(self.result.x.shape, self.names)
                    told = f"this run had ended before: the result is from {self._journal.path}"
                    self.result.message += f"; {told}, and nothing was asked"
            if self._finish.late:
                self._spent_at = self._finish.iterates
        if not self._asks:
            self._go_live()

    # ------------------------------------------------------------ what the run meets

    def evaluator(self, run: Run, evaluate: Evaluator) -> Evaluator:
        """Return an evaluator that answers a run from the record, and from `evaluate` after that."""
        self._run = run
        run.reasked = sum(ask.reasked for ask in self._asks)

        def answer(ask: Ask) -> Generator[Sequence[Answer], None, None]:
            digest = self._digest(ask)
            record = self._recorded(run, ask, digest)
            known = [] if record is None else self._known(run, record)
            self._place += 1
            if self._place >= len(self._asks):
                self._go_live()
            elif len(known) < len(ask):
                raise JournalError(
                    f"{self._journal.path} is damaged: values are missing before query {run.nfev:,}"
                )
            if known:
                yield known
            missing = sorted(set(range(len(ask))) - {row for row, _ in known})
            if missing:
                yield from self._live(run, ask, digest, record, missing, evaluate)

        return answer

    def elapsed(self) -> float:
        """Return the seconds that count: those since the replay has ended."""
        if self._live_since is None:
            return 0.0
        if self._spent_at is not None and self._seen >= self._spent_at:
            return math.inf
        return time.monotonic() - self._live_since

    def on_move(self, then: OnMove | None) -> OnMove:
        """Return what notes an iterate and calls `then`, once for each iterate that is new."""

        def note(run: Run, to: Point) -> None:
            step, self._seen = self._seen, self._seen + 1
            if step not in self._steps:
                self._store.write_move(step, run.nfev, to.value, _curtailed(run), dense(to.x))
                if then is not None:
                    then(run, to)
            elif self._steps[step]:
                self._store.kept(dense(to.x))

        return note

    # ------------------------------------------------------------ replay and record

    def _go_live(self) -> None:
        if self._live_since is None:
            self._live_since = time.monotonic()

    def _recorded(self, run: Run, ask: Ask, digest: int) -> StoredAsk | None:
        """Return the record of what is asked now, or None when it is not recorded."""
        if self._place >= len(self._asks):
            return None
        record = self._asks[self._place]
        if (record.rows, record.digest) == (len(ask), digest):
            return record
        if record.curtailed not in (None, run.limits.max_queries):
            if record.rows < len(ask) and self._digest(ask.head(record.rows)) == record.digest:
                self._store.grow(record.id, len(ask), digest)
                return replace(record, rows=len(ask), digest=digest, at_once=0)
            self._store.set_aside(record.id)
            del self._asks[self._place :]
            return None
        raise self._diverges(run, f"what the method asks at query {run.nfev + 1:,} is not what is recorded")

    def _known(self, run: Run, record: StoredAsk) -> list[Answer]:
        """Return the recorded answers to an ask; a failure that had ended the run is to be asked again."""
        answers = self._store.answers(record)
        failed = {row: why for row, why in answers.items() if isinstance(why, EvaluationFailure)}
        borne = set(run.bearable(failed))
        return sorted(
            ((row, outcome) for row, outcome in answers.items() if row not in failed or row in borne),
            key=itemgetter(0),
        )

    def _diverges(self, run: Run, how: str) -> ValueError:
        """Return the error that says why the run does not go the way of the record."""
        path = self._journal.path
        if run.curtailed and self._asks[self._place].curtailed is None:
            return ValueError(
                f"max_queries={run.limits.max_queries} is too small for {path}: "
                f"with that budget the run would have gone another way after query {run.nfev:,}"
            )
        library = plain(str(self._store.header().get("library")))
        return JournalError(
            f"the replay of {path} diverges: {how}; it was written by gracezo {library}, this is "
            f"{_version()}, and NumPy or the machine may have changed; to begin anew with what was paid for: "
            f"known=gracezo.journal.reading.read({str(path)!r}).known()"
        )

    def _live(
        self,
        run: Run,
        ask: Ask,
        digest: int,
        record: StoredAsk | None,
        missing: list[int],
        evaluate: Evaluator,
    ) -> Generator[Sequence[Answer], None, None]:
        """Send the rows whose values are missing, and record what comes back."""
        if self._journal.pausing:
            raise KeyboardInterrupt
        if self._finish is not None or not self._as_recorded:
            self._adopt(run, None)
        at_once = rows_at_once(evaluate, len(missing))
        if record is None:
            place = self._store.write_ask(ask.role.value, len(ask), digest, at_once, _curtailed(run))
        else:
            place = record.id
            again = min(len(missing), record.at_once)
            self._store.ask_again(place, again, at_once)
            run.reasked += again
        self._sent = place, at_once
        if len(missing) < len(ask):
            ask = ask.take(np.array(missing))
        with closing(evaluate(ask)) as arriving:
            for answers in arriving:
                self._waiting = not answers
                if not answers:
                    yield answers
                    continue
                known = [(missing[row], outcome) for row, outcome in answers]
                try:
                    self._store.write_answers(place, known)
                except BaseException:
                    run.unfinished(len(known))  # they were paid for
                    raise
                yield known

    def in_flight(self, count: int) -> None:
        """Note how many rows of the last ask are in flight, where they are handed out by hand."""
        assert self._sent is not None
        self._store.in_flight(self._sent[0], count)

    def _close(self, run: Run) -> None:
        """Note how the run ended, if it did."""
        finish = run.finish
        if finish is None:
            return
        if self._place < len(self._asks):  # the record goes further
            of_itself = finish.status not in (Status.STOPPED, Status.FAILED)
            if of_itself and (self._as_recorded or run.curtailed):
                raise self._diverges(run, f"it ends after {run.nfev:,} queries, and the record goes on")
            return
        between = self._sent is not None and self._sent[1] == 1 and not self._waiting  # two calls of f
        if run.late and self._sent is not None and between:
            self._store.in_flight(self._sent[0], 0)
        self._adopt(run, Finished(int(finish.status), finish.message, run.late, self._seen))

    def _adopt(self, run: Run, finish: Finished | None) -> None:
        """Let the record be one of a run with these limits that has ended so, or not yet."""
        if not self._as_recorded:
            self._store.put(limits=_as_given(run.limits), library=_version())
            self._as_recorded = True
        if finish != self._finish:
            self._store.put_finish(finish, None if finish is None else run.result())
            self._finish = finish


def _curtailed(run: Run) -> int | None:
    """Return the budget, if it has refused or cut short something by now."""
    return run.limits.max_queries if run.curtailed else None


def _as_given(limits: Limits) -> dict[str, Any]:
    """Return the limits as the user gave them: a default budget is none."""
    given = asdict(limits)
    if isinstance(limits.max_queries, DefaultBudget):
        given["max_queries"] = None
    return given


def _version() -> str:
    from gracezo import __version__  # noqa: PLC0415  # it is known only when the package is complete

    return __version__
