"""What to ask of a set, and what the answer says.

- labels (K), when the chance that they decode times log₂|S| exceeds one;
- a cut, otherwise: in halves, or where the labels say;
- labels within a window, when K/U is precise enough to exclude most of the set but not all;
- a confirming query on one coordinate alone, when K/U says which. It is long enough to
  give the curvature there as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gracezo.core.asks import Role
from gracezo.methods.auto.constants import Constants
from gracezo.methods.auto.decode import SHARP, read
from gracezo.methods.auto.density import Density
from gracezo.methods.auto.difference import Differences
from gracezo.methods.auto.request import Request
from gracezo.methods.auto.tree import Node, Tree, learn_moment, split
from gracezo.methods.auto.walls import Walls

_SEEN = 0.3  # share of the wanted length that shows the curvature well enough
_PARTS = 7  # in a batch: how many queries may cut one set, when it is not known how much it holds


class Keeper(Protocol):
    """Who is told what came of a set."""

    def open(self, node: Node) -> None:
        """Queue a set that is worth another question."""

    def found(self, coordinate: int, slope: float, curvature: float, error: float) -> None:
        """Take a confirmed coordinate."""

    def kink(self, coordinate: int) -> None:
        """Take a coordinate that leads uphill on both sides."""

    def tried(self, side: int, success: bool) -> None:
        """Note whether a set of one sign of U led to a descent."""


@dataclass(frozen=True)
class Questions:
    """The questions about the sets of one tree.

    Attributes
    ----------
    constants, differences, density
        What the run has assumed and learned.
    tree
        The order and the weights of the coordinates.
    keeper
        Who is told what came of a set.
    walls
        The bounds around the present point.
    """

    constants: Constants
    differences: Differences
    density: Density
    tree: Tree
    keeper: Keeper
    walls: Walls

    def about(self, node: Node, limit: int) -> list[Request]:
        """Return up to `limit` queries that bring a set nearest to a single confirmed coordinate."""
        if node.size == 1:
            node.candidate = node.start
        if node.candidate is None and node.moment is not None and not node.several:
            read(node, self.tree.weights, self.constants.trust)
            if node.several:
                self.density.saw_labels(node.spread, False)
        if node.candidate is not None:
            return [self._confirm(node, node.candidate) or self._touch(node, node.candidate)]
        if node.window is not None and not node.several:
            return [self._labels(node, *node.window)]
        if node.moment is None and not node.several:
            gain = self.density.alone(node.spread) * math.log2(node.size)
            if gain > 1.0:
                return [self._labels(node, node.start, node.stop)]
        # Many parts pay when several of them are likely to matter; two levels at once otherwise.
        parts = max(_PARTS, round(self.density.number(node.spread)))
        return self._cut(node, min(limit, parts, node.size - 1))

    def _labels(self, node: Node, start: int, stop: int) -> Request:
        """Ask K: the weights of a slice times labels that rise from 0 to 1."""
        tree = self.tree
        span = stop - start
        weights = tree.weights[start:stop] * (np.arange(1, span + 1) / span)
        curvature = self.differences.anonymous(tree.squares(start, stop) / 3.0)
        eps = min(self.differences.size(curvature, node.u), tree.most(start, stop))
        whole = start == node.start and stop == node.stop

        def absorb(change: float) -> None:
            value = change / eps - 0.5 * eps * self.differences.density * float(weights @ weights)
            error = self.differences.error(eps, curvature, value)
            moment, blur = span * value + (start - 1) * node.u, span * error
            if whole:
                learn_moment(node, moment, blur)
            else:
                node.moment, node.blur, node.window = moment, blur, (start, stop)
            self.keeper.open(node)

        return Request(tree.order[start:stop], eps * weights, Role.PROBE, absorb)

    def _cut(self, node: Node, count: int) -> list[Request]:
        """Ask for U of the first `count` of `count` + 1 parts; the last follows by subtraction."""
        bounds = np.linspace(node.start, node.stop, count + 2).astype(np.int64).tolist()[1:-1]
        informed = False
        if count == 1 and node.several and node.moment is not None and node.window is None:
            place = math.ceil(node.position[0])
            if node.start < place < node.stop:
                bounds, informed = [place], True
        rest = node
        parts: list[Node] = []

        def part(stop: int, last: bool) -> Request:
            start = bounds[bounds.index(stop) - 1] if stop != bounds[0] else node.start
            weights = self.tree.weights[start:stop]
            curvature = self.differences.anonymous(self.tree.squares(start, stop))
            eps = min(self.differences.size(curvature, node.u), self.tree.most(start, stop))

            def absorb(change: float) -> None:
                nonlocal rest
                value = change / eps - 0.5 * eps * self.differences.density * float(weights @ weights)
                error = self.differences.error(eps, curvature, value)
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

            return Request(self.tree.order[start:stop], eps * weights, Role.PROBE, absorb)

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
        # Labels too blurred for the whole are better asked anew on a part.
        if empty and whole.moment is not None and whole.window is None and whole.position[1] <= SHARP:
            large.moment, large.blur, large.several = whole.moment, whole.blur, whole.several
            large.family = large.sibling = small.family = small.sibling = None

    def _confirm(self, node: Node, position: int) -> Request | None:
        """Ask the candidate alone, on its way down, far enough to see its curvature; None before a wall."""
        tree, rules, differences = self.tree, self.constants, self.differences
        coordinate = int(tree.order[position])
        slope = node.u / tree.weights[position]
        wanted = node.length or rules.confirm * abs(slope) / differences.newton(slope)
        length = min(wanted, self.walls.room(coordinate, slope))
        if length * abs(slope) <= rules.trust * differences.rounding < wanted * abs(slope):
            return None
        side = int(node.u > 0)

        def absorb(change: float) -> None:
            linear = length * abs(slope)
            curvature, steepness = 2.0 * (change + linear) / length**2, abs(slope)
            if node.first is not None:
                # Two lengths on this side give its slope and its curvature.
                far, there = node.first
                curvature = 2.0 * (there / far - change / length) / (far - length)
                steepness = 0.5 * length * curvature - change / length
            if node.first is not None or change <= -rules.descend * linear:
                bent = node.first is None and 0.5 * curvature * length > 0.1 * abs(slope)
                if side and bent and differences.odd(curvature):
                    # Probed uphill, confirmed downhill: a kink may lie between, with another slope behind it.
                    node.first, node.length = (length, change), 0.5 * length
                    self.keeper.open(node)
                    return
                self.keeper.tried(side, True)
                self.density.saw_labels(node.spread, True)
                error = node.error / abs(float(tree.weights[position]))
                tree.remove(node, position, slope)
                node.first, node.length = None, 0.0
                if length < _SEEN * wanted:
                    curvature = math.nan  # a wall was too near to see it
                else:
                    differences.meet(curvature)
                self.keeper.found(coordinate, math.copysign(steepness, slope), curvature, error)
            elif node.length == 0.0:
                # Too long a step, a kink, or the wrong coordinate: a shorter one tells.
                node.length = 0.5 * abs(slope) / curvature
            else:
                node.length = 0.0
                self.keeper.tried(side, False)
                if node.size == 1 or change >= rules.descend * linear:
                    # Uphill on this side too: a kink. It is no use, but it is accounted for.
                    tree.remove(node, position, slope)
                    self.keeper.kink(coordinate)
                else:
                    node.candidate, node.several, node.moment = None, True, None
                    self.density.saw_labels(node.spread, False)
            if node.size > 1 or node.length:
                self.keeper.open(node)

        step = -math.copysign(length, slope)
        return Request(np.array([coordinate]), np.array([step]), Role.CONFIRM, absorb)

    def _touch(self, node: Node, position: int) -> Request:
        """Ask a candidate that a wall holds by a small step inward: whether it is the one, and no more."""
        tree, rules, differences = self.tree, self.constants, self.differences
        slope = node.u / float(tree.weights[position])
        curvature = differences.newton(slope)
        side = int(node.u > 0)
        eps = min(differences.size(curvature, slope), tree.most(position, position + 1))
        weight = float(tree.weights[position])

        def absorb(change: float) -> None:
            error = differences.error(eps * abs(weight), curvature, slope)
            measured = change / (eps * weight)
            self.keeper.tried(side, False)
            right = abs(measured - slope) <= rules.descend * abs(slope) + rules.trust * error
            self.density.saw_labels(node.spread, right)
            if right:
                tree.remove(node, position, slope)
                self.keeper.found(int(tree.order[position]), slope, math.nan, error)
            else:
                node.candidate, node.several, node.moment = None, True, None
            self.keeper.open(node)

        return Request(tree.order[position : position + 1], np.array([eps * weight]), Role.CONFIRM, absorb)
