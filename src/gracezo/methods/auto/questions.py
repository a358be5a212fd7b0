"""What to ask of a set, and what the answer says.

- labels (K), when the chance that they decode times log₂|S| exceeds one; in a batch of k, which can
  cut a set into k + 1 parts at once, times the rounds of such cuts (k no more than eight);
- a cut, otherwise: in halves, or where the labels say;
- labels within a window, when K/U is precise enough to exclude most of the set but not all;
- a confirming query on one coordinate alone, when K/U says which (`confirm.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gracezo.core.asks import Role
from gracezo.core.types import FloatArray
from gracezo.methods.auto.confirm import Confirmation
from gracezo.methods.auto.decode import SHARP, read
from gracezo.methods.auto.labels import Labels, labelled
from gracezo.methods.auto.look import Look
from gracezo.methods.auto.request import AHEAD, Change, Request
from gracezo.methods.auto.tree import Node, learn_moment, split

_FADED = 1.5  # times `trust` standard errors: a set whose parts would soon be lost in noise
_NARROW = 0.02  # of a set: a window in which another coordinate is unlikely
_SINGLE = 8  # queries of a batch, more than which a single set rarely gets
_SIXTH = 1.0 / 6.0  # of a set: labels that leave a larger window are of no use


@dataclass(frozen=True)
class Questions(Confirmation):
    """The questions about the sets of one tree.

    Attributes
    ----------
    complete
        Whether the search goes on until nothing is left.
    batch
        How many queries go out at once.
    """

    complete: bool = False
    batch: int = 1

    def about(self, node: Node) -> Request | None:
        """Return the query that brings a set nearest to one confirmed coordinate; None: it is to be cut."""
        if node.size == 1:
            node.candidate = node.start
        if self._fades(node):
            return self._again(node)
        unread = node.window is None or node.inner is not None
        if node.candidate is None and node.moment is not None and unread and not node.several:
            read(node, self.tree.weights, self.constants.trust, self.differences.met)
            if node.several:
                self.density.saw_labels(node.spread, False)
        if node.candidate is not None:
            return self.confirmation(node, node.candidate)
        if node.window is not None and not node.several:
            return self._labels(node, *node.window)
        if node.moment is None and not node.several and self._labels_pay(node):
            return self._labels(node, node.start, node.stop)
        return None

    def _fades(self, node: Node) -> bool:
        """Whether noise, added up by subtraction, would hide the parts of a set."""
        noisy = self.differences.pairs is not None and node.candidate is None and not node.remeasured
        return noisy and abs(node.u) < _FADED * self.constants.trust * node.error

    def _again(self, node: Node) -> Request:
        """Ask for U of a set once more."""
        weights = self.tree.weights[node.start : node.stop]
        look = self.differences.across(
            self.tree.squares(node.start, node.stop),
            node.u,
            measured=float(weights @ weights),
            room=self.tree.room(node.start, node.stop),
        )

        def absorb(change: Change) -> None:
            value, error = self.differences.read(look, change)
            share = node.error**2 / (node.error**2 + error**2)
            node.u += share * (value - node.u)
            node.error, node.remeasured = math.sqrt(share) * error, True
            self.keeper.open(node)

        return look.request(self.tree.order[node.start : node.stop], weights, Role.PROBE, absorb)

    def _labels_pay(self, node: Node) -> bool:
        """Whether K is worth more than a cut.

        It is not lost if it does not decode: it serves the parts, and says where to cut. If it is blurred, it
        leaves a window, and the labels asked there are a cut as well. So it has to be precise enough to leave
        a small part, and likely to save a cut: by the chance of a single coordinate times the cuts that
        would take; with noise, where labels are asked in several windows, times the bits that each brings.
        A search that goes to the end asks K of all coordinates, which will show that nothing is left.
        """
        look = self.differences.across(self.tree.squares(node.start, node.stop) / 3.0, node.u)
        both = look.shares is not AHEAD
        share = math.sqrt(1.0 / 3.0) if both else 1.0  # labels in the root mean square
        error = self.differences.met * math.hypot(look.error(node.u), share * node.error)
        window = 2.0 * self.constants.trust * labelled(False, True, both).spacing(1) * error / abs(node.u)
        if window > _SIXTH:
            return False
        bits = -math.log2(max(window, 1.0 / node.size)) if self.differences.noise else math.log2(node.size)
        every = self.complete and not self.differences.noise and node.size == len(self.tree.order)
        return every or self.density.alone(node.spread) * self._cuts(bits) > 1.0

    def _cuts(self, bits: float) -> float:
        """Return the rounds in which cuts would tell so many bits.

        A search to the end opens all sets anyway, many in a round: for one of them, a cut is a halving.
        """
        if self.complete or self.batch == 1:
            return bits
        return math.ceil(bits / math.log2(1.0 + min(self.batch, _SINGLE)))

    def _labels(self, node: Node, start: int, stop: int) -> Request:
        """Ask K: the weights of a slice times labels by their position.

        What lies before a narrow window is asked along with the lowest label: if nothing is in the window,
        the answer is U of that part, and the query was a cut. Noise would blur it too much.
        """
        tree, span = self.tree, stop - start
        whole = start == node.start and stop == node.stop
        narrow = not self.differences.noise and node.start < start and span <= _NARROW * node.size
        begin = node.start if narrow else start
        room = tree.room(begin, stop)

        def asked(scheme: Labels) -> tuple[FloatArray, Look]:
            weights = tree.weights[begin:stop] * scheme.labels(start - begin, span)
            return weights, self.differences.across(float(weights @ weights), node.u, room=room)

        scheme = labelled(narrow, whole, self.differences.pairs is not None)
        weights, look = asked(scheme)
        if look.shares is AHEAD and scheme.both:  # a wall is near
            scheme = labelled(narrow, whole, both=False)
            weights, look = asked(scheme)

        def absorb(change: Change) -> None:
            value, error = self.differences.read(look, change)
            label = value / node.u
            # Errors by noise are independent; those by rounding are bounds, and taken in full.
            uncertain = math.hypot(error, (label if scheme.both else 1.0) * node.error)
            moment = (start + scheme.place(label, span)) * node.u
            blur = scheme.spacing(span) * uncertain
            outside = scheme.outside(label) * abs(node.u) > self.constants.trust * uncertain
            if whole:
                learn_moment(node, moment, blur)
                if span == len(tree.order) and not scheme.both:
                    tree.moment, tree.blur = moment, blur
            elif outside and narrow:
                self._part(node, start, stop, value / scheme.least, error / scheme.least)
                return
            elif outside:
                node.window, node.several = None, True
                self.density.saw_labels(node.spread, False)
            else:
                node.inner = moment, blur
            self.keeper.open(node)

        return look.request(tree.order[begin:stop], weights, Role.PROBE, absorb)

    def _part(self, node: Node, start: int, stop: int, before: float, error: float) -> None:
        """Cut a set at a window with nothing in it, given U of what lies before."""
        node.several = True
        self.density.saw_labels(node.spread, False)
        # The window goes to the lesser part, so that K/U does not lead back into it.
        at = start if abs(before) > abs(node.u - before) else min(stop, node.stop - 1)
        one, two = split(node, at, before, error)
        self._inherit(node, one, two)
        for each in (one, two):
            self.keeper.open(each)

    def cut(self, node: Node, count: int) -> list[Request]:
        """Ask for U of the first `count` of `count` + 1 parts; the last follows by subtraction."""
        bounds = np.linspace(node.start, node.stop, count + 2).astype(np.int64).tolist()[1:-1]
        informed = False
        if count == 1 and node.several and node.moment is not None:
            place = math.ceil(node.position[0])
            if node.start < place < node.stop:
                bounds, informed = [place], True
        rest = node
        parts: list[Node] = []

        def part(stop: int, last: bool) -> Request:
            start = bounds[bounds.index(stop) - 1] if stop != bounds[0] else node.start
            weights = self.tree.weights[start:stop]
            look = self.differences.across(
                self.tree.squares(start, stop),
                node.u,
                measured=float(weights @ weights),
                room=self.tree.room(start, stop),
            )

            def absorb(change: Change) -> None:
                nonlocal rest
                value, error = self.differences.read(look, change)
                one, two = split(rest, stop, value, error)
                self._inherit(rest, one, two)
                parts.append(one)
                rest = two
                if last:
                    parts.append(two)
                    if not informed:
                        self._learn_from(node, parts)
                    for each in parts:
                        self.keeper.open(each)

            return look.request(self.tree.order[start:stop], weights, Role.PROBE, absorb)

        return [part(stop, stop == bounds[-1]) for stop in bounds]

    def _learn_from(self, whole: Node, parts: list[Node]) -> None:
        """Take a cut as evidence of how many coordinates matter."""
        *others, large = sorted(parts, key=lambda part: abs(part.u))
        one_sided = all(abs(part.u) <= self.constants.concentrated * abs(large.u) for part in others)
        self.density.saw_split(whole.spread, one_sided, len(parts))
        if one_sided:
            large.streak = whole.streak + round(math.log2(len(parts)))

    def _inherit(self, whole: Node, one: Node, two: Node) -> None:
        """Let a part that holds everything inherit what was known of the whole."""
        small, large = sorted((one, two), key=lambda node: abs(node.u))
        empty = abs(small.u) <= self.constants.trust * small.error
        if not empty or whole.moment is None:
            return
        if whole.several or self.differences.met * whole.position[1] <= SHARP:
            if self.differences.noise and whole.streak >= 1:
                return  # noise may have misled the labels: ask them anew
            # What the empty part seems to hold is an error of U: it must not move K/U.
            large.moment, large.several = whole.moment * large.u / whole.u, whole.several
            large.blur = math.hypot(whole.blur, whole.size * whole.error)
            large.family = large.sibling = small.family = small.sibling = None
