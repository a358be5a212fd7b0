"""What to ask of a group, and what the answer says.

- K, when the chance of a single spike times the bits that K tells exceeds what a cut tells: one. In a batch
  of k, which can cut a group into k + 1 parts at once, times the rounds of such cuts.
- V, labels on the candidates alone, when one spike explains what is known and several positions do so.
- A look at one coordinate alone, when only one does (`confirm.py`).
- A cut, otherwise: in halves, at K/U, or beside the candidates.

An inquiry is a generator: it yields requests, receives the changes of f, and returns an `Outcome`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from gracezo.core.asks import Role
from gracezo.core.types import record
from gracezo.core.walls import Walls
from gracezo.methods.auto import constants
from gracezo.methods.auto.belief import Belief, Evidences
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.instrument.look import Change, Look, Request, Stencil
from gracezo.methods.auto.search.alone import Candidate, Found, Kink, Wrong
from gracezo.methods.auto.search.confirm import Confirmation
from gracezo.methods.auto.search.groups import (
    Explanation,
    Group,
    Row,
    Several,
    explain,
    moment,
    place,
)
from gracezo.methods.auto.search.order import Labels, Order, labelled


@dataclass(frozen=True)
class Taken:
    """What was taken out of all sums: a position, its share of U, and the error of that."""

    position: int
    share: float
    error: float


@record
class Outcome:
    """What came of an inquiry: the groups that are open now, and a coordinate found or standing on a kink."""

    groups: tuple[Group, ...]
    found: Found | None = None
    kink: Kink | None = None
    taken: Taken | None = None


Inquiry: TypeAlias = Generator[list[Request], list[Change], Outcome]


@dataclass(frozen=True)
class Confirm:
    """Look at one position alone, whose share of U and the error of that follow from τ."""

    position: int
    share: float
    error: float
    tau: float = 0.0
    doubtful: bool = False


@dataclass(frozen=True)
class Label:
    """Ask labels from one position up to, not including, another; for the sake of one spike that says τ."""

    start: int
    stop: int
    tau: float


@dataclass(frozen=True)
class Cut:
    """Cut at a position; where none is named, in equal parts."""

    at: int | None = None


Plan: TypeAlias = Confirm | Label | Cut


@record
class Inquiries:
    """The questions about groups of one order.

    Attributes
    ----------
    differences, belief
        What the run has learned.
    order
        The coordinates, with weights.
    walls
        The bounds around the present point.
    complete
        Whether the search goes on until nothing is left.
    thorough
        Whether what falls by little behind a kink is wanted, too.
    batch
        How many queries go out at once.
    """

    differences: Differences
    belief: Belief
    order: Order
    walls: Walls
    complete: bool = False
    thorough: bool = False
    batch: int = 1

    # ------------------------------------------------------------ what to ask

    def plan(self, group: Group) -> Plan:
        """Return what brings a group nearest to a confirmed coordinate."""
        if group.size == 1:
            return Confirm(group.start, group.u, group.error)
        about = moment(group, self.order, self.belief)
        if about is None and not group.rows:
            pays = group.several is Several.NO and self._labels_pay(group)
            return Label(group.start, group.stop, self.belief.tau) if pays else Cut()
        chance, tau = self._alone(group, about)
        best = explain(group, self.order, self.belief, tau, self.differences.met, constants.LIKELY)
        narrowest = min((len(row.labels) for row in group.rows), default=group.size)
        if best is None or group.several is not Several.NO or chance < constants.RULED_OUT:
            return self._refuted(group, about)
        bits = math.log2(narrowest / best.number)
        if group.rows and (best.misfit > constants.TRUST**2 or (bits < 0.5 and best.number > 1)):
            return self._refuted(group, about)
        return self._among(group, best, chance, tau, bits)

    def _among(self, group: Group, best: Explanation, chance: float, tau: float, bits: float) -> Plan:
        """Return what to ask of a group that one spike explains, after labels that have told so many bits."""
        # Two cuts tell two bits as well, and leave a group that blurs less.
        uninformative = best.number > 1 and self._tells(group, best, tau) < min(2.0, math.log2(best.number))
        uninformative |= group.direct and best.number == group.size  # that was asked: it is K
        if uninformative or (not group.rows and chance < 0.5):
            group.refute(group.several)
            return self._beside(group, best) if bits > 0.5 else Cut()
        if best.number == 1:
            doubtful = best.misfit > 1.0 / constants.CLEARLY or chance < 1.0 - constants.RULED_OUT
            return Confirm(best.best, best.share, max(best.error, group.error), tau, doubtful)
        return Label(best.first, best.last + 1, tau)

    def _alone(self, group: Group, about: tuple[float, float] | None) -> tuple[float, float]:
        """Return the chance that one spike is all that a group holds, and the τ that goes with it."""
        if group.rows or about is None:
            return 1.0, max(self.belief.tau, *(row.tau for row in group.rows))
        where, blur = place(group, about)
        nearest = round(min(max(where, group.start), group.stop - 1))
        second = self.order.second_moment(group.start, group.stop, where)
        return self.belief.alone(group, abs(where - nearest), second, self.differences.met * blur)

    def _refuted(self, group: Group, about: tuple[float, float] | None) -> Plan:
        """Rule one spike out, and cut where K says; unless K itself is in doubt."""
        family = group.family
        others = [] if family is None or group.direct else [o for o in family.members if o is not group]
        if others and (
            group.rows or self.belief.chances(Evidences.of(others), unknown=0.0).max() > constants.RULED_OUT
        ):
            group.doubt()
            return self.plan(group)
        if group.several is Several.NO:
            self.belief.density.saw_labels(group.spread, False)
        group.refute(Several.UNSURE if group.rows else Several.SURE)
        if about is None:
            return Cut()
        at = math.ceil(place(group, about)[0])
        return Cut(at if group.start < at < group.stop else None)

    def _tells(self, group: Group, best: Explanation, tau: float) -> float:
        """Return the bits that labels on the candidates tell."""
        squares = self.order.left(best.first, best.last + 1) / 3.0
        look = self.differences.across(squares, group.u)
        # Their labels are in proportion to the spike, and of that U tells no more than its own blur allows.
        # On the way down that is left out: where background is much, the dense way is to see it soon.
        blurred = squares + group.squares if self.complete else squares
        error = self.belief.deviation(blurred, self.differences.met * look.error(group.u), tau)
        told = abs(group.u) / (constants.LIKELY * error)
        return min(math.log2(best.number), math.log2(max(told, 1.0)))

    def _beside(self, group: Group, best: Explanation) -> Cut:
        """Cut beside the candidates, unless that leaves next to nothing.

        A search to the end cuts through them where they are many: that tells one bit, and as little blurs.
        """
        if self.complete and best.number > max(constants.CLEARLY * group.size, 1.0):
            return Cut((best.first + best.last + 1) // 2)
        middle = (group.start + group.stop) // 2
        at = min(best.first, best.last + 1, key=lambda k: abs(k - middle))
        return Cut(at if min(at - group.start, group.stop - at) * constants.PARTS >= group.size else None)

    def _labels_pay(self, group: Group) -> bool:
        """Whether K is worth more than a cut.

        It is not lost if it does not decode: it serves the parts, and says where to cut. A search that goes
        to the end asks K of all coordinates, which will show that nothing is left.
        """
        first = self.complete and self.belief.unseen == 1.0
        if first and not self.differences.noise and group.size == len(self.order):
            return True
        squares = self.order.squares(group.start, group.stop) / 3.0
        look = self.differences.across(squares, group.u)
        both = look.stencil is not Stencil.FORWARD
        share = math.sqrt(1.0 / 3.0) if both else 1.0  # labels in the root mean square
        error = self.differences.met * math.hypot(look.error(group.u), share * group.error)
        # Background is twice as large in K about a spike, in the mean over its places, as about the centre.
        error = self.belief.deviation(2.0 * squares, error) / (1.0 + both)
        told = abs(group.u) / (constants.LIKELY * error)
        bits = min(math.log2(group.size), math.log2(max(told, 1.0)))
        return self.belief.density.alone(group.spread) * self._cuts(bits) > 1.0

    def _cuts(self, bits: float) -> float:
        """Return the rounds in which cuts would tell so many bits.

        A search to the end opens all groups anyway, many in a round: for one of them, a cut is a halving.
        """
        if self.complete or self.batch == 1:
            return bits
        return math.ceil(bits / math.log2(1.0 + self.batch))

    # ------------------------------------------------------------ asking

    def begin(self, group: Group, plan: Confirm | Label) -> Inquiry:
        """Return the inquiry that carries out a plan, a cut apart."""
        if isinstance(plan, Confirm):
            return self._confirm(group, plan)
        return self._labels(group, plan)

    def faded(self, group: Group) -> bool:
        """Whether errors, added up by subtraction, have come near U, and a look of its own would tell."""
        if group.rows:
            return False
        trust = constants.TRUST
        if self.differences.pairs is not None:
            return group.size > 1 and abs(group.u) < constants.HALF_AGAIN * trust * group.error
        if abs(group.u) >= trust**2 * group.error:
            return False
        return self._look(group, group.start, group.stop).error(group.u) < 0.5 * group.error

    def again(self, group: Group) -> Inquiry:
        """Ask for U of a group once more."""
        look = self._look(group, group.start, group.stop)
        (change,) = yield [look.request(self.order.move(group.start, group.stop), Role.PROBE)]
        value, error = self.differences.read(look, change)
        self.differences.see(abs(value - group.u), math.hypot(error, group.error))
        share = group.error**2 / (group.error**2 + error**2)
        group.again(group.u + share * (value - group.u), math.sqrt(share) * error, look.eps)
        return Outcome((group,))

    def _look(self, group: Group, start: int, stop: int) -> Look:
        """Return how to look along a slice of a group as it is weighted."""
        return self.differences.across(
            self.order.squares(start, stop),
            group.u,
            measured=self.order.left(start, stop),
            room=self.order.room(start, stop),
        )

    def _labels(self, group: Group, plan: Label) -> Inquiry:
        """Ask labels of a whole group (K), or of its candidates (V)."""
        order, start, stop = self.order, plan.start, plan.stop
        span, whole = stop - start, stop - start == group.size
        room = order.room(start, stop)

        def asked(scheme: Labels) -> Look:
            return self.differences.across(order.labelled(start, stop, scheme), group.u, room=room)

        scheme = labelled(whole, self.differences.pairs is not None or (not whole and self._smooth))
        look = asked(scheme)
        if look.stencil is Stencil.FORWARD and scheme.both and order.bounded:  # a wall is near
            scheme = labelled(whole, both=False)
            look = asked(scheme)
        (change,) = yield [look.request(order.move(start, stop, scheme), Role.PROBE)]
        value, error = self.differences.read(look, change)
        if whole:
            # Labels are linear in the position: their sum is K about the centre, beside U if they begin at 0.
            about = value if scheme.both else 2.0 * value - group.u
            blur = error if scheme.both else math.hypot(2.0 * error, group.error)
            half = 0.5 * span
            group.label(half * about + group.centre * group.u, half * blur)
            return Outcome((group,))
        group.hear(Row(start, scheme.labels(span), value, error, plan.tau))
        return Outcome((group,))

    @property
    def _smooth(self) -> bool:
        """Whether labels may be of both signs: no bound or kink is behind any weight, as far as is known."""
        return not self.order.bounded and min(self.belief.rate(0), self.belief.rate(1)) > 0.5

    def _quiet(self, group: Group) -> bool:
        """Whether neither noise nor background blurs a sum over a group."""
        return not self.differences.noise and self.belief.tau**2 * group.squares <= group.error**2

    def cut(self, group: Group, at: int | None, count: int = 1) -> Inquiry:
        """Ask for U of all parts but the last, which follows by subtraction."""
        if count > 1:
            stops = np.linspace(group.start, group.stop, count + 2).astype(np.int64).tolist()[1:-1]
        else:
            stops = [(group.start + group.stop) // 2 if at is None else at]
        slices = list(zip([group.start, *stops], stops, strict=False))
        looks = [self._look(group, start, stop) for start, stop in slices]
        changes = yield [
            look.request(self.order.move(start, stop), Role.PROBE)
            for look, (start, stop) in zip(looks, slices, strict=True)
        ]
        read = [self.differences.read(look, change) for look, change in zip(looks, changes, strict=True)]
        cuts = [
            (stop, value, error, look.eps)
            for stop, look, (value, error) in zip(stops, looks, read, strict=True)
        ]
        return self._parts(group, cuts, informed=at is not None and count == 1)

    def _parts(self, group: Group, cuts: list[tuple[int, float, float, float]], informed: bool) -> Outcome:
        """Cut a group, and learn from how its sum falls apart."""
        edges = [group.start, *(stop for stop, *_ in cuts), group.stop]
        squares = [self.order.left(start, stop) for start, stop in itertools.pairwise(edges)]
        several, parts = group.several, group.parts(cuts, squares)
        *others, large = sorted(parts, key=lambda part: abs(part.u))
        belief = self.belief

        def holds_at_most(part: Group, share: float) -> bool:
            deviation = belief.deviation(part.squares, self.differences.met * part.error)
            return abs(part.u) <= max(constants.LIKELY * deviation, share * abs(large.u))

        one_sided = all(holds_at_most(part, constants.LITTLE) for part in others)
        empty = all(holds_at_most(part, 0.0) for part in others)
        if not one_sided and abs(group.u) < constants.UNSEEN * belief.sizes.typical:
            pass  # what is far smaller than the spikes met tells nothing of how many there are
        elif not informed:
            little = 0.0 if self.complete else constants.LITTLE
            belief.density.saw_split(group.spread, one_sided, len(parts), little)
        elif several is Several.NO:
            belief.density.saw_labels(group.spread, one_sided)
        if one_sided:
            # Several would lie on both sides of K/U. What is little beside the rest may be what blurred K.
            gained = round(math.log2(len(parts))) if not informed else 3 if several is Several.NO else 0
            large.inherit(group.streak + gained, several if empty else Several.NO)
        return Outcome(tuple(parts))

    # ------------------------------------------------------------ one coordinate

    def _confirm(self, group: Group, plan: Confirm) -> Inquiry:
        """Look at a candidate alone, and take it out of its group if it is the one."""
        position = plan.position
        weight = self.order.weight(position)
        confirmation = Confirmation(self.differences, self.belief, self.walls, self.complete, self.thorough)
        answer = yield from confirmation.of(
            Candidate(
                self.order.coordinate(position),
                weight,
                plan.share / weight,
                plan.error / abs(weight),
                self.order.room(position, position + 1),
                single=group.size == 1,
                doubtful=plan.doubtful,
                again=position in self.order.refuted,
            )
        )
        if isinstance(answer, Wrong):
            if group.size == 1:
                return Outcome(())
            if group.several is Several.NO:
                self.belief.density.saw_labels(group.spread, False)
            group.refute(Several.UNSURE)
            self.order.refuted.add(position)
            return Outcome((group,))
        if isinstance(answer, Found):
            self.belief.density.saw_labels(group.spread, True)
            about = moment(group, self.order, self.belief)
            if about is not None and not group.rows and self._quiet(group):
                where, bound = place(group, about)
                self.differences.see(abs(where - position), bound)
        others = math.sqrt(max(group.squares - weight**2, 0.0)) / abs(weight)
        if plan.tau > 0.0:
            others = min(others, plan.error / abs(weight) / plan.tau)
        self.order.remove(position)
        taken = Taken(position, weight * answer.taken, max(abs(weight) * answer.blur, group.error))
        group.take(position, taken.share, abs(weight) * answer.blur, weight**2)
        rest = (group,) if group.size > 1 else ()
        if isinstance(answer, Kink):
            return Outcome(rest, kink=answer, taken=taken)
        if answer.blur == 0.0:  # read from the sum of its group
            # Sums have taken the curvature of all alike; now that of this one is known.
            bend = 0.0 if math.isnan(answer.curvature) else abs(weight * answer.curvature)
            answer = replace(answer, error=math.hypot(answer.error, 0.5 * group.eps * bend), others=others)
        return Outcome(rest, found=answer, taken=taken)
