"""The query on one coordinate alone that makes sure of it.

On its way down it is long enough to give the curvature as well. Where values are noisy it goes to both
sides, and where a wall holds the coordinate it goes a little inward.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gracezo.core.asks import Role
from gracezo.methods.auto.constants import Constants
from gracezo.methods.auto.density import Density
from gracezo.methods.auto.difference import Differences
from gracezo.methods.auto.pairs import Pairs
from gracezo.methods.auto.request import BOTH, CHECKED, Change, Request
from gracezo.methods.auto.tree import Node, Tree
from gracezo.methods.auto.walls import Walls

_SAME = 0.3  # relative difference of slopes that pass for one
_PRECISE = 0.01  # relative error of a slope that needs no pair to confirm it
_PLAIN = 100.0  # times the noise: what a coordinate promises, if one query is to show its curvature
_LONGER = 3  # times that a confirming look is made three times longer, to see the curvature
_NEAR = 0.2  # share of the last length below which a kink passes for being right here
_SEEN = 0.3  # share of the wanted length that shows the curvature well enough


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
class Confirmation:
    """The confirming queries about candidates of one tree.

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
    thorough
        Whether what falls by little behind a kink is wanted, too.
    """

    constants: Constants
    differences: Differences
    density: Density
    tree: Tree
    keeper: Keeper
    walls: Walls
    thorough: bool = False

    def confirmation(self, node: Node, position: int) -> Request:
        """Return the query on a candidate alone that makes sure of it."""
        pairs, request = self.differences.pairs, None
        slope = node.u / float(self.tree.weights[position])
        if pairs is not None and (
            pairs.unsure
            or node.error > _PRECISE * abs(node.u)
            or self.differences.promise(slope) < _PLAIN * pairs.noise
        ):
            request = self._confirm_both(node, position, pairs)
        elif pairs is None and node.doubtful:
            request = self._check(node, position)
        return request or self._confirm(node, position) or self._touch(node, position)

    def _check(self, node: Node, position: int) -> Request | None:
        """Ask a doubtful candidate alone and near, where f must fall by its slope; None before a wall.

        Far away f may fall along any coordinate, and the wrong one would be taken for confirmed.
        """
        coordinate = int(self.tree.order[position])
        slope = node.u / self.tree.weights[position]
        length = 0.1 * self.constants.confirm * abs(slope) / self.differences.newton(slope)
        if length > self.walls.room(coordinate, slope):
            return None

        def absorb(change: Change) -> None:
            node.doubtful = False
            if change.ahead > -0.5 * length * abs(slope):
                node.candidate, node.several = None, True
                self.density.saw_labels(node.spread, False)
            self.keeper.open(node)

        step = -math.copysign(length, slope)
        return Request(np.array([coordinate]), np.array([step]), Role.CONFIRM, absorb)

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

        def absorb(answer: Change) -> None:
            change = answer.ahead
            linear = length * abs(slope)
            curvature, steepness = 2.0 * (change + linear) / length**2, abs(slope)
            down = change <= -rules.descend * linear
            if node.first is not None:
                steepness, curvature = _side(node.first, (length, change))
                down = min(change, node.first[1]) < 0.0
            if down:
                bent = node.first is None and 0.5 * curvature * length > 0.1 * abs(slope)
                if side and bent and differences.odd(curvature):
                    # Probed uphill, confirmed downhill: a kink may lie between, with another slope behind it.
                    node.first, node.length = (length, change), 0.5 * length
                    self.keeper.open(node)
                    return
                self.keeper.tried(side, True)
                self.density.saw_labels(node.spread, True)
                error = node.error / abs(float(tree.weights[position]))
                if node.moment is not None:
                    place, bound = node.position
                    differences.see(abs(place - position), bound)
                tree.remove(node, position, slope)
                node.first, node.failed, node.length = None, None, 0.0
                if length < _SEEN * wanted:
                    curvature = math.nan  # a wall was too near to see it
                else:
                    differences.meet(curvature)
                    if 0.0 < 0.5 * curvature * length <= rules.trust * error:
                        # Perhaps nothing but the error of the slope: it promises no more than all of f.
                        curvature = max(curvature, differences.floor(slope))
                self.keeper.found(coordinate, math.copysign(steepness, slope), curvature, error)
            elif node.first is not None or not self._nearer(node, position, length, change):
                node.first, node.failed, node.length = None, None, 0.0
                self.keeper.tried(side, False)
                if node.size == 1 or change >= rules.descend * linear:
                    # Uphill on this side too: a kink. It is no use, but it is accounted for.
                    tree.remove(node, position, slope)
                    self.keeper.kink(coordinate)
                else:
                    node.candidate, node.several = None, True
                    self.density.saw_labels(node.spread, False)
            if node.size > 1 or node.length:
                self.keeper.open(node)

        step = -math.copysign(length, slope)
        return Request(np.array([coordinate]), np.array([step]), Role.CONFIRM, absorb)

    def _nearer(self, node: Node, position: int, length: float, change: float) -> bool:
        """Note how far to ask after a step that was no descent; return whether at all."""
        slope = node.u / float(self.tree.weights[position])
        shorter = self._shorter(node, abs(slope), length, change)
        if shorter > 0.0:
            node.failed, node.length = (length, change), shorter
            return True
        if not self.thorough or node.failed is None or node.u < 0.0 or node.size > 1:
            return False
        # Uphill by what was seen on the other side of a kink. On this one f may fall, if only by little.
        steepness, curvature = _side(node.failed, (length, change))
        least = self.constants.trust * self.differences.rounding
        if steepness <= 0.0 or not 0.5 * steepness**2 > least * curvature > 0.0:
            return False
        # That is all that it promises.
        node.u = steepness * abs(float(self.tree.weights[position]))
        node.first, node.length = (length, change), steepness / curvature
        return True

    def _shorter(self, node: Node, slope: float, length: float, change: float) -> float:
        """Return how far to ask after a step that was no descent; zero when f leads uphill at once.

        First as a parabola says. If f goes on rising, the line through what was met says where f would have
        turned: where it meets the tangent of the way down. At a kink right here that is next to nowhere.
        """
        if node.failed is None:
            return 0.25 * length * length * slope / (change + length * slope)
        if node.size > 1 and change < self.constants.descend * length * slope:
            return 0.0  # next to flat: more likely the wrong coordinate
        far, there = node.failed
        rise = (there - change) / (far - length)
        turn = (rise * length - change) / (rise + slope)
        # What was probed alone, and downhill, leads down for certain, however near it turns.
        nearest = 0.0 if node.u < 0.0 and node.size == 1 else _NEAR * length
        seen = turn * slope > self.constants.trust * self.differences.rounding
        return turn if seen and turn > nearest else 0.0

    def _confirm_both(self, node: Node, position: int, pairs: Pairs) -> Request | None:
        """Ask the candidate alone, to both sides: its slope and its curvature, each with its error.

        It counts as found when its slope differs from zero by `trust` standard errors. None before a wall.
        """
        tree, rules, differences = self.tree, self.constants, self.differences
        coordinate = int(tree.order[position])
        slope = node.u / tree.weights[position]
        # The less a coordinate promises beside the noise, the nearer to its Newton step it has to be asked.
        share = min(max(2.0 * math.sqrt(pairs.noise / differences.promise(slope)), rules.confirm), 1.0)
        room = min(self.walls.room(coordinate, slope), self.walls.room(coordinate, -slope))
        if room * abs(slope) <= rules.trust * pairs.noise:
            return None
        length = node.length or max(
            share * abs(slope) / differences.newton(slope), pairs.telling(slope, differences.length(1.0))
        )
        length = min(length, room)
        often = pairs.often(pairs.error(length), slope)
        error, noise = pairs.error(length, often), pairs.noise / math.sqrt(often)
        side = int(node.u > 0)

        def absorb(change: Change) -> None:
            # Asked downhill: the change is negative where the slope has the expected sign.
            measured = -math.copysign(1.0, slope) * change.odd / length
            curvature = 2.0 * change.even / length**2
            hidden = abs(change.even) <= math.sqrt(6.0) * noise
            often_enough = _LONGER if hidden else 1
            steep = rules.descend * length * abs(measured)
            if abs(measured) <= max(rules.trust * error, rules.descend * abs(slope)):
                node.length, node.longer = 0.0, 0
                self.keeper.tried(side, False)
                if node.size == 1:
                    pairs.mistrust()
                node.candidate, node.several = None, True
                self.density.saw_labels(node.spread, False)
            elif (hidden or differences.odd(curvature)) and node.longer < often_enough and length < room:
                # Noise hides the curvature, and how far to go, or has made it up: farther it will show.
                node.length, node.longer = 3.0 * length, node.longer + 1
            elif not node.length and min(change.ahead, change.behind) > 2.0 * noise - steep:
                # Too long a step, or a kink: a shorter one tells.
                node.length = 0.5 * abs(measured) / curvature
            else:
                node.length, node.longer = 0.0, 0
                self.keeper.tried(side, True)
                self.density.saw_labels(node.spread, True)
                # Where it is much the same, all that the set showed was this one.
                same = abs(measured - slope) <= _SAME * abs(slope)
                tree.remove(node, position, *((slope, 0.0) if same else (measured, error)))
                if not math.isnan(change.near):
                    pairs.meet(length, change)
                if not hidden:
                    differences.meet(curvature)
                self.keeper.found(coordinate, measured, math.nan if hidden else curvature, error)
            if node.size > 1 or node.length:
                self.keeper.open(node)

        step = -math.copysign(length, slope)
        shares = CHECKED if pairs.unsure else BOTH
        return Request(np.array([coordinate]), np.array([step]), Role.CONFIRM, absorb, shares, often)

    def _touch(self, node: Node, position: int) -> Request:
        """Ask a candidate that a wall holds by a small step inward: whether it is the one, and no more."""
        tree, rules, differences = self.tree, self.constants, self.differences
        weight = float(tree.weights[position])
        slope = node.u / weight
        look = differences.along(
            differences.newton(slope) * weight**2, node.u, tree.room(position, position + 1)
        )
        side = int(node.u > 0)

        def absorb(change: Change) -> None:
            value, error = differences.read(look, change)
            self.keeper.tried(side, False)
            right = abs(value - node.u) <= rules.descend * abs(node.u) + rules.trust * error
            self.density.saw_labels(node.spread, right)
            if right:
                tree.remove(node, position, slope)
                self.keeper.found(int(tree.order[position]), slope, math.nan, error / abs(weight))
            else:
                node.candidate, node.several = None, True
            self.keeper.open(node)

        return look.request(tree.order[position : position + 1], np.array([weight]), Role.CONFIRM, absorb)


def _side(one: tuple[float, float], two: tuple[float, float]) -> tuple[float, float]:
    """Return how steep f falls on one side, and its curvature there, given its changes at two lengths.

    >>> _side((2.0, -2.0), (1.0, -2.0))
    (3.0, 2.0)
    """
    (far, there), (near, here) = one, two
    curvature = 2.0 * (there / far - here / near) / (far - near)
    return 0.5 * near * curvature - here / near, curvature
