"""Morris' trajectories, asked only where they tell something: for f with noise, steps, plateaus, few digits.

A trajectory (Morris, *Factorial sampling plans for preliminary computational experiments*, Technometrics 33,
1991) leads from a point of the box to another, one coordinate after the other by δ of its width. With y_k = f
after k of the n steps, the elementary effects are ±(y_k − y_{k−1})/δ. δ is drawn between 0.35 and 0.5, so
that two effects that are alike do not cancel.

Where few coordinates matter, y is the same at nearly all of the n + 1 points. So its ends are asked; then the
middle of a piece whose ends differ; and so on, down to single steps (sequential bifurcation: Bettonvil &
Kleijnen, European Journal of Operational Research 96, 1997, without their assumption that no two effects
cancel: what cancels in a piece of one trajectory is in different pieces of the next). That is never more than
the n + 1 queries of Morris. The coordinates known from before are the first steps, each asked. With groups, a
piece is cut between groups as long as it has more than one.

A piece of n steps is cut if it says more than noise σ and a background of small effects, b per step:

    |y_l − y_k| > z·√(2σ² + n·b²),   z the quantile at which none of all steps is taken for more by chance,

and is worth it: its square is more than the share `leave` of all squares. b is told by the pieces that say
least, once a first one was followed down to a single step. If that were most of f, all that says more than
noise is cut, and in the end every step is asked. Where f has few digits, multiples of a q that is small
beside its changes, that is noise of q/√12.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from gracezo.core.asks import Ask, OutOfQueries, Point, Role, SparseRows, Steps
from gracezo.core.box import Box
from gracezo.core.keys import Key
from gracezo.core.types import FloatArray, IntArray
from gracezo.sensitivity.table import RATE, Effects
from gracezo.vectors.estimate import outputs_of

_SHORTEST, _LONGEST = 0.35, 0.5  # δ: from anywhere in the box there is room for it on one side
_DELTA2 = (_LONGEST**3 - _SHORTEST**3) / (3.0 * (_LONGEST - _SHORTEST))  # the mean of δ²
_LEAST = 0.25, 0.1015  # the lower quartile, and where it is for the square of a normal variable
_NORMAL = 0.6745  # the median of the magnitude of a normal variable
_FREEDOM = 3.5  # times what five degrees of freedom have shown of it: noise is more once in 200 times
_SEVERAL = 8  # changes, from which their median says how large noise is
_KEPT = 100  # outputs that are looked at for that
_DIGITS = 8  # different values, all of them multiples of one, that are taken for rounded
_COARSE = 0.3  # of the changes of f: what is as large as that is no rounding error
_FEW = 3  # pairs of steps, from which their median counts
_TINY = np.finfo(np.float64).tiny
_UNIT = 4.0 * 2.0**-52  # rounding error of f, of |f|: a few last digits
_CUTS = (0.5, 0.25, 0.75)  # of a piece: where it is cut, and where else if the evaluation there has failed


@dataclass(eq=False)
class _Piece:
    """Steps from `start` to `stop`, and by how much they change the outputs."""

    start: int
    stop: int
    change: FloatArray
    part: bool = True  # of another piece
    cuts: int = 0  # that have failed

    def __len__(self) -> int:
        return self.stop - self.start


class _Path:
    """One trajectory, and the outputs at those of its points that were asked."""

    def __init__(
        self, at: Point, order: IntArray, steps: FloatArray, deltas: FloatArray, ends: IntArray
    ) -> None:
        self._at, self._order, self._steps = at, order, steps
        self.deltas = deltas  # the steps, of the widths, with their signs
        self._ends = ends  # the places where one group ends and another begins
        self.outputs: dict[int, FloatArray] = {0: outputs_of(at)}
        self.beside: list[FloatArray] = []  # of two steps that were cut apart: the lesser square

    def ask(self, places: Iterable[int]) -> Steps[None]:
        """Ask f after so many steps each; NaN where an evaluation has failed and was skipped."""
        places = list(places)
        rows = [SparseRows.single(self._order[:place], self._steps[:place]) for place in places]
        answers = yield Ask(self._at.x, SparseRows.stack(rows), Role.PROBE)
        self.outputs |= dict(zip(places, np.asarray(answers).reshape(len(places), -1), strict=True))

    def piece(self, start: int, stop: int, *, part: bool = True) -> _Piece:
        """Return the steps between two points that were asked."""
        return _Piece(start, stop, self.outputs[stop] - self.outputs[start], part)

    def cut(self, piece: _Piece) -> int:
        """Return where to cut a piece: about the middle, between groups if it holds several."""
        about = piece.start + round(len(piece) * _CUTS[piece.cuts])
        about = min(max(about, piece.start + 1), piece.stop - 1)
        between = self._ends[(self._ends > piece.start) & (self._ends < piece.stop)]
        return int(between[np.argmin(np.abs(between - about))]) if len(between) else about

    @property
    def size(self) -> FloatArray:
        """The largest magnitude of each output."""
        return np.asarray(np.nanmax(np.abs(list(self.outputs.values())), axis=0))

    def effect(self, step: int) -> FloatArray:
        """Return the effect of one step, per width."""
        return np.asarray((self.outputs[step + 1] - self.outputs[step]) / self.deltas[step])


class Trajectories:
    """Looks at a function along trajectories, for one output or many.

    Parameters
    ----------
    box
        The bounds, all of them finite.
    free
        The coordinates that can move; they are named by their places in it.
    groups
        The group of each of them, or None.
    leave
        Share of the squared effects that is not worth a query.
    batch
        Queries that may go out together.
    noise
        Standard deviation of the outputs; zero where they are exact.
    told
        Whether that is known, and not an estimate of few degrees of freedom.
    """

    def __init__(
        self,
        box: Box,
        free: IntArray,
        groups: IntArray | None,
        leave: float,
        batch: int,
        noise: float | FloatArray,
        told: bool,
    ) -> None:
        self._box, self._free, self._groups = box, free, groups
        self._leave, self._batch = leave, batch
        self._noise = np.atleast_1d(np.asarray(noise, np.float64))
        self._told = told
        self._quiet: list[FloatArray] = []  # changes of pieces that said nothing
        self._coarse = np.zeros_like(self._noise)  # q of each output
        self._values: list[FloatArray] = []  # some outputs of earlier trajectories

    @property
    def deviation(self) -> FloatArray:
        """The standard deviation of the outputs, by noise and for want of digits, as far as it is known."""
        return np.asarray(np.sqrt(self._sigma() ** 2 + self._coarse**2 / 12.0))

    def look(self, at: Point, key: Key, known: IntArray) -> Steps[Effects]:
        """Return the effects of the coordinates known, and of all others that show some."""
        others = np.setdiff1d(np.arange(len(self._free)), known)
        path, order = self._path(at, known, others, key)
        s = len(known)
        try:
            yield from path.ask([*range(1, s + 1), *([len(order)] if len(others) else [])])
        except OutOfQueries:
            return self._effects(path, order, [], [])
        here = sum((path.effect(k) ** 2 for k in range(s)), np.zeros(len(outputs_of(at))))
        pieces, found = yield from self._bifurcated(path, s, len(order), np.nan_to_num(here) * _DELTA2)
        return self._effects(path, order, pieces, [*range(s), *found])

    def check(self, at: Point, key: Key, known: IntArray, seen: Effects) -> Steps[Effects]:
        """Return the effects of coordinates that are not known, beside what was seen of those that are.

        One query tells that there is nothing: that all of them at once change no more than background.
        """
        others = np.setdiff1d(np.arange(len(self._free)), known)
        path, order = self._path(at, known[:0], others, key)
        here = sum((values**2 for values in seen.values.values()), np.zeros(len(outputs_of(at))))
        yield from path.ask([len(order)])
        already = _DELTA2 * np.nan_to_num(seen.background) ** 2
        pieces, found = yield from self._bifurcated(path, 0, len(order), here * _DELTA2, already)
        return self._effects(path, order, pieces, found)

    def measure(self, at: Point, coordinates: IntArray, key: Key) -> Steps[Effects]:
        """Return the effects of some coordinates, each moved alone."""
        steps, deltas = strides(self._box, at.x, self._free[coordinates], key.generator())
        rows = SparseRows.coordinates(self._free[coordinates], steps)
        answers = np.asarray((yield Ask(at.x, rows, Role.PROBE))).reshape(len(coordinates), -1)
        values = (answers - outputs_of(at)) / deltas[:, None]
        errors = self._error(np.abs(outputs_of(at))) / np.abs(deltas)[:, None]
        there = np.isfinite(values).all(axis=1)
        names = coordinates[there].tolist()
        nothing = np.zeros(values.shape[1])
        return Effects(
            dict(zip(names, values[there], strict=True)),
            dict(zip(names, errors[there], strict=True)),
            nothing,
            nothing,
        )

    # ------------------------------------------------------------ one trajectory

    def _path(self, at: Point, known: IntArray, others: IntArray, key: Key) -> tuple[_Path, IntArray]:
        rng = key.generator()
        others = rng.permutation(others)
        ends = np.zeros(0, np.int64)
        if self._groups is not None and len(others):
            labels = rng.permutation(int(self._groups.max()) + 1)[self._groups[others]]
            sorting = np.argsort(labels, kind="stable")
            others = others[sorting]
            ends = len(known) + 1 + np.flatnonzero(np.diff(labels[sorting]))
        order = np.concatenate([known, others])
        coordinates = self._free[order]
        return _Path(at, coordinates, *strides(self._box, at.x, coordinates, rng), ends), order

    def _bifurcated(
        self, path: _Path, start: int, stop: int, here: FloatArray, already: FloatArray | float = 0.0
    ) -> Steps[tuple[list[_Piece], list[int]]]:
        """Cut pieces until none says more than noise and background; return these, and single steps.

        `here` are the squared changes of what is known beside them, and `already` a b² known before.
        """
        found: list[int] = []
        pieces: list[_Piece] = []
        if start < stop and np.isfinite(path.outputs[stop]).all():
            pieces = [path.piece(start, stop, part=False)]
        try:
            while significant := self._significant(pieces, path, bool(found), here, already):
                singles = [piece for piece in significant if len(piece) == 1]
                found += [piece.start for piece in singles]
                here = here + sum((piece.change**2 for piece in singles), np.zeros_like(here))
                longer = [piece for piece in significant if len(piece) > 1][: self._batch]
                fresh = yield from self._cut(path, longer)
                gone = {id(piece) for piece in singles} | fresh.keys()
                pieces = [piece for piece in pieces if id(piece) not in gone]
                pieces += [piece for halves in fresh.values() for piece in halves]
        except OutOfQueries:
            pass
        self._quiet += [piece.change for piece in pieces if piece.part]
        return pieces, found

    @staticmethod
    def _cut(path: _Path, pieces: list[_Piece]) -> Steps[dict[int, tuple[_Piece, _Piece]]]:
        """Cut pieces; return what has become of each, unless the evaluation has failed."""
        if not pieces:
            return {}
        places = [path.cut(piece) for piece in pieces]
        yield from path.ask(places)
        fresh = {}
        for piece, place in zip(pieces, places, strict=True):
            if np.isfinite(path.outputs[place]).all():
                both = path.piece(piece.start, place), path.piece(place, piece.stop)
                fresh[id(piece)] = both
                if len(piece) == 2:
                    path.beside.append(np.minimum(both[0].change ** 2, both[1].change ** 2))
            else:
                piece.cuts += 1
        return fresh

    def _significant(
        self,
        pieces: list[_Piece],
        path: _Path,
        reached_one: bool,
        here: FloatArray,
        already: FloatArray | float,
    ) -> list[_Piece]:
        """Return the pieces that say more than noise and background, the one that says most first."""
        if not pieces:
            return []
        changes = np.array([piece.change for piece in pieces])
        sizes = np.array([len(piece) for piece in pieces], np.float64)[:, None]
        whole = here + (changes**2).sum(axis=0)
        values = [*self._values, *path.outputs.values()]
        self._coarse = np.maximum(self._coarse, grain(values, _COARSE * np.sqrt(whole)))
        parts = [piece.change for piece in pieces if piece.part]
        noise = self._error(path.size, parts) ** 2
        least = np.zeros_like(whole)
        if reached_one:
            least = _background(changes, sizes, noise, path.beside)
        dense = least * sizes.sum() > here  # most of f would be background
        background = np.maximum(np.where(dense, 0.0, least), already)
        z = -ndtri(0.5 * RATE / len(self._free))
        deviation = np.sqrt(noise + sizes * background) + _TINY
        counts = (np.abs(changes) > z * deviation) & (dense | (changes**2 > self._leave * whole))
        score = np.where(counts, np.abs(changes) / np.sqrt(whole + _TINY), 0.0).max(axis=1)
        order = np.argsort(-score, kind="stable")
        return [pieces[k] for k in order if score[k] > 0.0 and pieces[k].cuts < len(_CUTS)]

    def _sigma(self, changes: Sequence[FloatArray] = ()) -> FloatArray:
        """Return σ: as told, or as changes by parts of pieces have it, most of which hold nothing.

        These are believed within what five degrees of freedom leave open.
        """
        if self._told or not self._noise.any():
            return self._noise
        seen = np.array([*self._quiet, *changes])
        if len(seen) < _SEVERAL:
            return self._noise
        typical = np.median(np.abs(seen), axis=0) / (_NORMAL * math.sqrt(2.0))
        return np.asarray(np.clip(typical, self._noise, _FREEDOM * self._noise))

    def _error(self, size: FloatArray, changes: Sequence[FloatArray] = ()) -> FloatArray:
        """Return the standard error of a change of outputs of such magnitudes."""
        squares = self._sigma(changes) ** 2 + (_UNIT * size) ** 2 + self._coarse**2 / 12.0
        return np.asarray(np.sqrt(2.0 * squares))

    def _effects(self, path: _Path, order: IntArray, pieces: list[_Piece], steps: Sequence[int]) -> Effects:
        """Return what was seen along a trajectory."""
        error = self._error(path.size)
        self._values = [*self._values, *path.outputs.values()][-_KEPT:]
        effects = {int(order[step]): path.effect(step) for step in steps}
        known = {j: effect for j, effect in effects.items() if np.isfinite(effect).all()}
        errors = {int(order[step]): error / abs(path.deltas[step]) for step in steps}
        left = sum(len(piece) for piece in pieces)
        squares = np.array([piece.change**2 for piece in pieces]).reshape(-1, len(error))
        outside = np.maximum(squares - error**2, 0.0).sum(axis=0) / _DELTA2
        if len(path.beside) >= _FEW:
            typical = np.median(path.beside, axis=0) - error**2
            outside = np.maximum(outside, left * typical / _DELTA2)
        end = path.outputs.get(len(order))
        if end is None or not np.isfinite(end).all():
            outside = np.full_like(outside, np.nan)  # it was not reached: nothing is known of the others
        return Effects(known, {j: errors[j] for j in known}, outside, np.sqrt(outside / max(left, 1)))


def _background(
    changes: FloatArray, sizes: FloatArray, noise: FloatArray, beside: list[FloatArray]
) -> FloatArray:
    """Return b², as the pieces have it that say least.

    Where pieces were cut because of the background, those are left in which it cancels. Steps that happen to
    be beside others in the end were not chosen: if most of these say something, so do all.
    """
    quartile, where = _LEAST
    least = np.quantile(np.maximum(changes**2 - noise, 0.0) / sizes, quartile, axis=0) / where
    return np.maximum(least, np.median(beside, axis=0) - noise) if len(beside) >= _FEW else least


def strides(
    box: Box, x: FloatArray, coordinates: IntArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return how far coordinates move, to the side on which there is room; the same, of their widths."""
    down, up = box.room(x, coordinates)
    deltas = rng.uniform(_SHORTEST, _LONGEST, len(coordinates))
    deltas = np.where(up >= down, deltas, -deltas)
    return deltas * (down + up), deltas


def grain(outputs: Collection[FloatArray], largest: FloatArray) -> FloatArray:
    """Return by output the q of which all values are multiples, if there is one below `largest`; else zero.

    Examples
    --------
    >>> import numpy as np
    >>> values = [np.array([k * 0.1, 0.1 * k**2.5]) for k in (0, 3, 4, 9, 11, 17, 20, 31, 56)]
    >>> grain(values, np.ones(2)).round(9).tolist()
    [0.1, 0.0]
    """
    found = np.zeros(len(largest))
    for place, column in enumerate(np.array(list(outputs)).T):
        values = np.unique(column[np.isfinite(column)])
        if len(values) < _DIGITS:
            continue
        gap = float(np.diff(values).min())
        times = (values - values[0]) / gap
        if gap <= largest[place] and np.abs(times - np.rint(times)).max() < 1e-6 * times[-1]:
            found[place] = gap
    return found
