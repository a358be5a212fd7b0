"""The effects that were measured, point by point, and what they say together.

An effect is what f would change by over the whole width of a coordinate, if it went on as it does at the
point: the elementary effect of Morris (*Factorial sampling plans for preliminary computational experiments*,
Technometrics 33, 1991) with a small step. Over r points, as SALib has them:

    mu = mean of the effects,   mu_star = mean of their magnitudes (Campolongo, Cariboni & Saltelli 2007),
    sigma = their standard deviation (r − 1),   mu_star_conf = half of the 95 % interval of mu_star.

SALib resamples for the last; with few points that is too narrow, so it is Student's here, and holds the
errors of the effects as well.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import chdtrc, stdtrit

from gracezo.core.types import BoolArray, FloatArray, IntArray

RATE = 0.05
"""The chance that any coordinate of a screening is called important, and is no more than background."""
_PLAINLY = 3.0  # times its error: an effect that is not zero
_CHANGED = 0.1  # of the whole: what shares may change by when a point is added, if the picture stays
_NEW = _CHANGED**2  # and the share of coordinates that it shows first: a tenth of the effect of all


@dataclass
class Effects:
    """What was seen at one point.

    Attributes
    ----------
    values, errors
        By coordinate: the effect on each output, and its standard error.
    outside
        Sum of the squared effects of all other coordinates, estimated, by output.
    background
        Root mean square of one of them.
    """

    values: dict[int, FloatArray]
    errors: dict[int, FloatArray]
    outside: FloatArray
    background: FloatArray

    def plain(self, known: IntArray, leave: float = 0.0) -> Effects:
        """Return the same without what cannot be told from zero, but for the coordinates known.

        Nor with those that have no more than the share `leave` of the squares, all of them together.
        """
        kept = set(known.tolist()) | {
            j for j, values in self.values.items() if (np.abs(values) > _PLAINLY * self.errors[j]).any()
        }
        whole = sum((values**2 for values in self.values.values()), np.zeros(len(self.outside)))
        unit = np.where(whole > 0.0, whole, 1.0)
        share = {j: float(np.max(self.values[j] ** 2 / unit)) for j in kept - set(known.tolist())}
        so_far = 0.0
        for j in sorted(share, key=share.__getitem__):
            so_far += share[j]
            if so_far > leave:
                break
            kept.remove(j)
        left = (values**2 for j, values in self.values.items() if j not in kept)
        return Effects(
            {j: values for j, values in self.values.items() if j in kept},
            {j: errors for j, errors in self.errors.items() if j in kept},
            sum(left, self.outside),
            self.background,
        )

    def take(self, late: Effects) -> None:
        """Add effects that were measured later; what was outside holds them no more."""
        self.values.update(late.values)
        self.errors.update(late.errors)
        squares = sum((values**2 for values in late.values.values()), np.zeros(len(self.outside)))
        self.outside = np.maximum(self.outside - squares, 0.0)


@dataclass
class Table:
    """The effects of the coordinates found, at all points.

    Attributes
    ----------
    free
        How many coordinates can move.
    """

    free: int
    rows: list[Effects] = field(default_factory=list)
    _quiet: int = 0  # points in a row that have changed nothing
    _shares: dict[int, float] = field(default_factory=dict)

    @property
    def known(self) -> IntArray:
        """The coordinates found at any point, in the order in which they were."""
        return np.array(list(dict.fromkeys(j for row in self.rows for j in row.values)), np.int64)

    def missing(self, row: int) -> IntArray:
        """Return the coordinates that were found at other points, and not measured at this one."""
        return np.array([j for j in self.known.tolist() if j not in self.rows[row].values], np.int64)

    def add(self, row: Effects) -> None:
        """Take what was seen at a further point."""
        new = row.values.keys() - set(self.known.tolist())
        self.rows.append(row)
        shares = self._share()
        moved = 0.5 * sum(abs(shares[j] - self._shares.get(j, 0.0)) for j in shares)
        same = moved < _CHANGED and sum(shares[j] for j in new) < _NEW
        self._quiet = self._quiet + 1 if same else 0
        self._shares = shares

    @property
    def settled(self) -> bool:
        """Whether two points in a row have shown nothing new, beside something that was found."""
        return self._quiet >= 2 and len(self.known) > 0

    def find_late(self, late: Effects) -> None:
        """Take what was found at the last point by another look: the picture is a new one."""
        self.rows[-1].take(late)
        self._quiet = 0

    def _share(self) -> dict[int, float]:
        """Return the share of each coordinate in the squared effects so far, all outputs alike."""
        table = summary(self.fields())
        share = np.atleast_2d(table["share"]).mean(axis=0)
        return dict(zip(table["indices"].tolist(), share.tolist(), strict=True))

    def fields(self) -> dict[str, Any]:
        """Return all that was seen as arrays: points × outputs × coordinates, NaN where nothing was."""
        known = self.known.tolist()
        m = len(self.rows[0].outside) if self.rows else 1
        shape = (len(self.rows), m, len(known))
        effects, errors = np.full(shape, np.nan), np.full(shape, np.nan)
        for number, row in enumerate(self.rows):
            for place, j in enumerate(known):
                if j in row.values:
                    effects[number, :, place], errors[number, :, place] = row.values[j], row.errors[j]
        return {
            "indices": np.array(known, np.int64),
            "effects": effects,
            "effect_errors": errors,
            "outside": np.array([row.outside for row in self.rows]).reshape(-1, m),
            "backgrounds": np.array([row.background for row in self.rows]).reshape(-1, m),
            "free": self.free,
        }


def summary(fields: dict[str, Any]) -> dict[str, Any]:
    """Return what effects say together, the most important coordinate first; a row for each output.

    Examples
    --------
    >>> import numpy as np
    >>> one = Effects({3: np.array([2.0])}, {3: np.array([0.0])}, np.zeros(1), np.zeros(1))
    >>> two = Effects({3: np.array([-4.0])}, {3: np.array([0.0])}, np.zeros(1), np.zeros(1))
    >>> said = summary(Table(10, [one, two]).fields())
    >>> said["mu"].tolist(), said["mu_star"].tolist(), said["sigma"].round(3).tolist()
    ([[-1.0]], [[3.0]], [[4.243]])
    """
    effects, errors = fields["effects"], np.nan_to_num(fields["effect_errors"])
    count = np.maximum(np.isfinite(effects).sum(axis=0), 1)
    mu = np.nansum(effects, axis=0) / count
    mu_star = np.nansum(np.abs(effects), axis=0) / count
    squares = np.nansum((effects - mu) ** 2, axis=0)
    several = count > 1
    freedom = np.maximum(count - 1, 1)
    sigma = np.where(several, np.sqrt(squares / freedom), np.nan)
    spread = np.nansum((np.abs(effects) - mu_star) ** 2, axis=0) / freedom
    quantile = np.where(several, stdtrit(freedom, 0.975), stdtrit(np.inf, 0.975))
    blurred = np.where(np.isfinite(effects), errors, 0.0)
    own = (blurred**2).sum(axis=0) / count  # of one effect
    conf = quantile * np.sqrt(np.where(several, np.maximum(spread, own), own) / count)
    outside = _mean(fields["outside"])
    inside = (mu_star**2).sum(axis=1)
    whole = inside + np.nan_to_num(outside)
    per = np.where(whole > 0.0, whole, 1.0)
    relative = mu_star / np.sqrt(per)[:, None]
    overall = np.sqrt(np.mean(relative**2, axis=0))
    order = np.argsort(-overall, kind="stable")
    residual = outside / per
    return {
        "indices": fields["indices"][order],
        "mu": mu[:, order],
        "mu_star": mu_star[:, order],
        "sigma": sigma[:, order],
        "mu_star_conf": conf[:, order],
        "share": (relative**2)[:, order],
        "important": _important(effects, errors, fields["backgrounds"], fields["free"])[:, order],
        "overall": overall[order],
        "residual": float(residual.mean()),
        "background": np.sqrt(_mean(fields["backgrounds"] ** 2)),
    }


def _mean(rows: FloatArray) -> FloatArray:
    """Return the mean of each column, of what is known of it; NaN where nothing is."""
    known = np.isfinite(rows)
    total = np.where(known, rows, 0.0).sum(axis=0)
    return np.asarray(np.where(known.any(axis=0), total / np.maximum(known.sum(axis=0), 1), np.nan))


def _important(effects: FloatArray, errors: FloatArray, background: FloatArray, free: int) -> BoolArray:
    """Return which coordinates are more than background and errors, of all that could have seemed so.

    Under "no more than background", the sum of (effect / deviation)² over k points is χ² distributed. One
    coordinate out of all that can move exceeds its quantile by chance in `RATE` of all screenings at most.

    Noise may have outliers, each of which would be an effect at one point. So the largest of several is left
    out (what is left is no more than χ² with k − 1), and counts alone only if it were more than chance under
    Student's distribution with two degrees of freedom, P(|t| > u) < 1/u².
    """
    deviation = np.hypot(np.nan_to_num(background)[:, :, None], errors)
    deviation = np.maximum(deviation, np.finfo(np.float64).tiny)
    measured = np.isfinite(effects)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        squares = np.where(measured, effects / deviation, 0.0) ** 2
        largest = squares.max(axis=0, initial=0.0)
        count = measured.sum(axis=0)
        others = np.sort(squares, axis=0)[:-1].sum(axis=0)
        alone = count / largest
    several = np.minimum(chdtrc(np.maximum(count - 1, 1), others), alone)
    chance = np.where(count > 1, several, chdtrc(1, largest))
    return np.asarray(chance * free * effects.shape[1] <= RATE)
