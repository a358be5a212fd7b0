"""The look at one coordinate alone: what it asks, and what it takes for confirmed."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from operator import mul

import numpy as np
import pytest
from tests.methods.auto.rooms import written

from gracezo.core.box import Box
from gracezo.core.walls import Walls
from gracezo.methods.auto import constants
from gracezo.methods.auto.belief import Belief
from gracezo.methods.auto.instrument.central import Pairs
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.instrument.look import EVERYWHERE, Change, Request
from gracezo.methods.auto.search.alone import Candidate, Found, Kink, Wrong
from gracezo.methods.auto.search.confirm import Answer, Confirmation

Line = Callable[[float], float]
"""How f changes along the coordinate, downhill."""


def believing() -> Belief:
    return Belief(100)


def asked(confirmation: Confirmation, candidate: Candidate, line: Line) -> tuple[Answer, list[Request]]:
    """Confirm a candidate; its changes are those along a line that begins downhill."""
    steps = confirmation.of(candidate)
    requests: list[Request] = []
    wanted = next(steps)
    down = -math.copysign(1.0, candidate.slope)
    while True:
        (request,) = wanted
        requests.append(request)
        length = down * float(written(request).values[0])
        try:
            wanted = steps.send(
                [Change(*np.array([line(share * length) for share in request.stencil.shares]).tolist())]
            )
        except StopIteration as stop:
            return stop.value, requests


def lengths(requests: list[Request]) -> list[float]:
    return [abs(float(written(request).values[0])) for request in requests]


def candidate(u: float, error: float = 1e-12, *, single: bool = True, doubtful: bool = False) -> Candidate:
    """Return a coordinate of weight one; where U is negative, its weight led downhill."""
    return Candidate(0, 1.0, u, error, EVERYWHERE, single=single, doubtful=doubtful)


class TestDown:
    """On the way down, where f may turn; here |f| is ten."""

    def differences(self, first: float) -> Differences:
        """Return differences with which a slope of one is asked at that length first."""
        differences = Differences()
        differences.centre(np.zeros(1), 10.0)
        differences.curvatures.assume(constants.CONFIRM / first)
        return differences

    def asked(self, line: Line, u: float, first: float, error: float = 1e-12) -> tuple[list[float], Answer]:
        confirmation = Confirmation(self.differences(first), believing(), Walls())
        answer, requests = asked(confirmation, candidate(u, error), line)
        return lengths(requests), answer

    @pytest.mark.parametrize("u", [-1.0, 1.0])
    def test_one_query_tells_the_curvature(self, u: float) -> None:
        belief = believing()
        confirmation = Confirmation(self.differences(1.0), belief, Walls())
        answer, requests = asked(confirmation, candidate(u), lambda x: 0.2 * x * x - x)
        assert isinstance(answer, Found)
        assert lengths(requests) == pytest.approx([1.0])
        assert (answer.coordinate, answer.slope, answer.taken) == (0, u, u)
        assert answer.curvature == pytest.approx(0.4)
        assert belief.rate(int(u > 0)) == 1.0

    @pytest.mark.parametrize("u", [-1.0, 1.0])
    def test_a_turn_on_the_way_down_is_where_two_lines_meet(self, u: float) -> None:
        spent, answer = self.asked(lambda x: abs(x - 0.5) - 0.5, u, first=6.0)
        assert spent[0] == pytest.approx(6.0)
        assert spent[2:] == pytest.approx([0.5])
        assert isinstance(answer, Found)

    def test_a_turn_far_nearer_is_found_if_the_way_down_was_probed(self) -> None:
        spent, answer = self.asked(lambda x: abs(x - 1e-3) - 1e-3, -1.0, first=6.0)
        assert spent[2:] == pytest.approx([1e-3])
        assert isinstance(answer, Found)

    def test_uphill_at_once_is_known_after_two(self) -> None:
        spent, answer = self.asked(lambda x: x, 1.0, first=6.0)
        assert len(spent) == 2
        assert answer == Kink(0, 1.0)

    @pytest.mark.parametrize("u", [-1.0, 1.0])
    @pytest.mark.parametrize(
        "line",
        [
            lambda x: 500.0 * x * x - x if x < 2e-3 else 1e60,
            lambda x: min(500.0 * x * x - x, 8.0),
            lambda x: math.expm1(min(500.0 * x * x - x, 200.0)),
        ],
        ids=["wall", "plateau", "explosion"],
    )
    def test_behind_what_no_parabola_tells_it_is_sought_by_orders_of_magnitude(
        self, line: Line, u: float
    ) -> None:
        """The bowl is a thousandth of the first length; it was taken for a kink, or for next to nothing."""
        spent, answer = self.asked(line, u, first=6.0)
        assert isinstance(answer, Found)
        assert answer.curvature == pytest.approx(1e3, rel=0.01)
        assert len(spent) <= 4
        assert spent == sorted(spent, reverse=True)

    @pytest.mark.parametrize("single", [True, False])
    def test_an_edge_on_the_way_down_is_no_curvature(self, single: bool) -> None:
        """Behind it f is flat: there others hold it up. What it is before the edge says where to go."""
        confirmation = Confirmation(self.differences(3.0), believing(), Walls())
        edge = candidate(-1.0, single=single)
        answer, requests = asked(confirmation, edge, lambda x: max(0.05 * x * x - x, -0.4))
        assert lengths(requests) == pytest.approx([3.0, 0.4])
        assert isinstance(answer, Found)
        assert answer.curvature == pytest.approx(0.1)

    def test_an_edge_that_looks_like_an_odd_curvature_is_none(self) -> None:
        """f has fallen by half of what the slope says; others that were met bend a tenth as much."""
        differences = self.differences(0.1)
        for _ in range(constants.FEW):
            differences.curvatures.meet(0.1)
        confirmation = Confirmation(differences, believing(), Walls())
        answer, requests = asked(confirmation, candidate(-1.0), lambda x: max(0.05 * x * x - x, -1.0))
        assert lengths(requests) == pytest.approx([3.0, 1.0])
        assert isinstance(answer, Found)
        assert answer.curvature == pytest.approx(0.1)

    def test_a_curvature_that_is_odd_and_one_all_the_same_is_taken(self) -> None:
        differences = self.differences(0.1)
        for _ in range(constants.FEW):
            differences.curvatures.meet(0.1)
        confirmation = Confirmation(differences, believing(), Walls())
        answer, requests = asked(confirmation, candidate(-1.0), lambda x: 0.22 * x * x - x)
        assert len(requests) == 2
        assert isinstance(answer, Found)
        assert answer.curvature == pytest.approx(0.44)

    def test_what_falls_by_little_in_proportion_is_another_coordinate(self) -> None:
        confirmation = Confirmation(self.differences(3.0), believing(), Walls())
        answer, requests = asked(confirmation, candidate(-1.0, single=False), lambda x: -0.05 * x)
        assert isinstance(answer, Wrong)
        assert len(requests) == 2

    def test_a_curvature_below_the_rounding_of_f_is_unknown(self) -> None:
        """Here f is ten, and rounded at 4e-15."""
        spent, answer = self.asked(lambda x: 5e-14 * x * x - x, -1.0, first=0.1)
        assert len(spent) == 1
        assert isinstance(answer, Found)
        assert math.isnan(answer.curvature)

    @pytest.mark.parametrize(("first", "found"), [(0.1, 0.05), (1.0, 1.0 / 30.0), (5.0, 1.0 / 150.0)])
    def test_a_slope_promises_no_more_than_f_beyond_a_stride(self, first: float, found: float) -> None:
        """Here f is 10, and slope²/2H as much with H = 0.05; a stride of the look is thirty times as long."""
        spent, answer = self.asked(lambda x: 5e-4 * x * x - x, -1.0, first=first)
        assert spent == pytest.approx([first])
        assert isinstance(answer, Found)
        assert answer.curvature == pytest.approx(found)

    def test_a_newton_step_leads_no_farther_than_where_f_was_seen_not_to_fall(self) -> None:
        """f is straight where the second look falls, and has risen where the first one was."""
        spent, answer = self.asked(lambda x: abs(x - 1.0) - 1.0 + 1e-6 * x * x, -1.0, first=3.0)
        assert spent == pytest.approx([3.0, 0.25 * 3.0**2 / 4.0], rel=1e-5)  # half of where a parabola turns
        assert isinstance(answer, Found)
        assert answer.curvature == pytest.approx(1.0 / 3.0)

    def test_a_look_goes_no_farther_than_a_stride_before_a_curvature_is_known(self) -> None:
        spent, answer = self.asked(lambda x: 0.001 * x * x - x, -1.0, first=1e4)
        assert spent == pytest.approx([6.0])  # nothing promises more than f, which is ten
        confirmation = Confirmation(self.differences(1e9), believing(), Walls())
        answer, requests = asked(confirmation, candidate(-1e-6), lambda x: 1e-10 * x * x - 1e-6 * x)
        assert lengths(requests) == [constants.STRIDE]
        assert isinstance(answer, Found)

    @pytest.mark.parametrize("error", [1e-12, 0.5])
    def test_where_curvatures_differ_by_orders_it_goes_on_until_one_shows(self, error: float) -> None:
        """Those met would have led to a millionth of the way, and what the slope is off is no curvature."""

        def line(x: float) -> float:
            return 0.05 * x * x - (1.0 - error) * x

        for flat in (1e-3, 1.0):
            differences = self.differences(1.0)
            for curvature in (1e6 * flat, 1e6, 1e6):
                differences.curvatures.meet(curvature)
            confirmation = Confirmation(differences, believing(), Walls())
            answer, requests = asked(confirmation, candidate(-1.0, error), line)
            assert isinstance(answer, Found)
            far = [constants.CONFIRM * 1e-6 * constants.STRIDE**power for power in range(len(requests))]
            assert lengths(requests) == pytest.approx(far)
            if flat < 1.0:
                assert answer.curvature == pytest.approx(0.1, rel=1e-3)
                assert abs(answer.slope) == pytest.approx(1.0 - error, rel=1e-6)
            else:  # those met are alike: so is this one, as far as is known
                assert len(requests) == 1

    def test_nothing_where_the_coordinate_is_not_the_one(self) -> None:
        belief = believing()
        confirmation = Confirmation(self.differences(1.0), belief, Walls())
        answer, requests = asked(confirmation, candidate(1.0, single=False), lambda x: 0.0)
        assert answer == Wrong()
        assert len(requests) == 2  # as a parabola through what was seen would turn nearer
        assert belief.rate(1) < 1.0
        assert belief.rate(0) == 1.0

    @pytest.mark.parametrize("right", [True, False])
    def test_a_doubtful_candidate_that_surprises_is_asked_near(self, right: bool) -> None:
        """f falls far away, but otherwise than predicted: near by it must fall by the slope."""
        confirmation = Confirmation(self.differences(1.0), believing(), Walls())

        def line(x: float) -> float:
            return -0.6 * x if x > 0.5 else (-x if right else 0.0)

        answer, requests = asked(confirmation, candidate(-1.0, single=False, doubtful=True), line)
        assert lengths(requests) == pytest.approx([1.0, 0.1])
        assert isinstance(answer, Found if right else Wrong)
        sure, once = asked(confirmation, candidate(-1.0, single=False), line)
        assert isinstance(sure, Found)
        assert len(once) == 1


class TestBlurred:
    """A slope that background has blurred."""

    def confirmation(self, *, complete: bool) -> Confirmation:
        differences = Differences()
        differences.centre(np.zeros(1), 2.0)  # a slope of one promises no more than that
        differences.curvatures.assume(0.3)
        for _ in range(5):
            differences.curvatures.meet(0.3)
        return Confirmation(differences, believing(), Walls(), complete)

    def test_what_was_missed_is_shared_out_by_how_uncertain_slope_and_curvature_are(self) -> None:
        confirmation = self.confirmation(complete=False)
        for error, steepness in ((1e-9, 1.0), (10.0, 1.05)):
            answer, requests = asked(
                confirmation, candidate(-1.0, error, single=False), lambda x: 0.15 * x * x - 1.05 * x
            )
            assert len(requests) == 1
            assert isinstance(answer, Found)
            assert abs(answer.slope) == pytest.approx(steepness, abs=5e-3)

    @pytest.mark.parametrize(("true", "found"), [(1.05, True), (0.3, False)])
    def test_where_slopes_are_wanted_they_are_measured_near(self, true: float, found: bool) -> None:
        confirmation = self.confirmation(complete=True)
        answer, (request,) = asked(
            confirmation, candidate(-1.0, 0.02, single=False), lambda x: 0.15 * x * x - true * x
        )
        assert abs(float(written(request).values[0])) < 1e-5
        if not found:
            assert answer == Wrong()  # by more than four standard errors
            return
        assert isinstance(answer, Found)
        assert answer.slope == pytest.approx(-true, abs=4.0 * answer.error)
        assert answer.error < 1e-5
        assert answer.taken == answer.slope
        assert answer.blur == answer.error

    @pytest.mark.parametrize("met", [0, 5])
    @pytest.mark.parametrize("u", [-3.35, 3.35])
    def test_a_slope_that_holds_another_one_is_not_taken_for_curvature(self, u: float, met: int) -> None:
        """The sums say 3.35, and far away 0.945 is as good with a curvature that is ten times larger."""
        differences = Differences()
        differences.centre(np.zeros(1), 20.0)
        differences.curvatures.assume(1.0)
        for _ in range(met):
            differences.curvatures.meet(1.0)
        confirmation = Confirmation(differences, believing(), Walls(), complete=True)

        def line(x: float) -> float:
            return 0.5 * x * x - 0.945 * x

        answer, requests = asked(confirmation, candidate(u, 1e-8, single=False), line)
        assert answer == Wrong()
        assert lengths(requests)[1] < 1e-3 * lengths(requests)[0] < 1e-3  # and then near by
        answer, requests = asked(confirmation, candidate(u, 1e-8), line)
        assert isinstance(answer, Found)
        assert answer.slope == pytest.approx(math.copysign(0.945, u), abs=4.0 * answer.error)
        assert answer.error < 1e-6  # half as far f falls by half as much: it is the sum that holds another
        assert answer.taken == answer.slope
        assert len(requests) == 3
        assert lengths(requests)[2] == 0.5 * lengths(requests)[1]

    def test_a_cubic_term_is_no_kink(self) -> None:
        """Probed uphill, and bent as no other one: two looks farther away made another slope of it."""
        confirmation = self.confirmation(complete=True)
        answer, requests = asked(confirmation, candidate(1.0, 1e-9), lambda x: 2.0 * x * x - x + 5.0 * x**3)
        assert isinstance(answer, Found)
        assert answer.slope == pytest.approx(1.0, abs=4.0 * answer.error)
        assert answer.error < 1e-6
        assert answer.curvature == pytest.approx(4.0, rel=0.01)
        assert len(requests) == 2

    def test_what_is_no_curvature_for_certain_is_an_error_of_the_slope(self) -> None:
        confirmation = Confirmation(TestDown().differences(1.0), believing(), Walls(), complete=True)
        answer, _ = asked(confirmation, candidate(-1.0, 1e-7), lambda x: -(1.0 + 3e-7) * x)
        assert isinstance(answer, Found)
        assert math.isnan(answer.curvature)
        assert answer.error == pytest.approx(math.hypot(1e-7, 3e-7), rel=0.01)
        answer, _ = asked(confirmation, candidate(-1.0, 1e-7), lambda x: 0.2 * x * x - x)
        assert isinstance(answer, Found)
        assert answer.curvature == pytest.approx(0.4, rel=0.01)
        assert answer.error == 1e-7

    def test_what_its_sum_says_otherwise_is_another_coordinate_or_a_bend(self) -> None:
        look = candidate(-1.0, 0.02, single=False)
        answer, requests = asked(self.confirmation(complete=True), look, lambda x: 0.15 * x * x - 1.3 * x)
        assert isinstance(answer, Found)
        assert answer.taken == answer.slope == pytest.approx(-1.3, abs=4.0 * answer.error)
        assert answer.error < 1e-6
        assert len(requests) == 2
        bent, requests = asked(self.confirmation(complete=True), look, lambda x: 5e6 * x * x - 1.1 * x)
        assert isinstance(bent, Found)
        assert bent.slope == pytest.approx(-1.1, abs=4.0 * bent.error)
        assert bent.curvature == pytest.approx(1e7, rel=1e-3)
        assert bent.taken == -1.0  # all that the sum has shown, which has seen it bend
        assert bent.error < 1e-6 < bent.blur
        assert len(requests) == 2
        single = candidate(-1.0, 0.02, single=True)
        answer, _ = asked(self.confirmation(complete=True), single, lambda x: 0.15 * x * x - 0.1 * x)
        assert isinstance(answer, Found)
        assert answer.slope == pytest.approx(-0.1, abs=1e-3)


class TestBothSides:
    """Where f is noisy."""

    def confirmation(self, level: float, finds: int) -> tuple[Confirmation, Pairs]:
        differences = Differences()
        differences.centre(np.zeros(1), 1.0)
        differences.values.hear(level)
        pairs = Pairs(level)
        pairs.begin(0.1, Change(0.1, -0.1, 0.05))
        differences.look_to_both_sides(pairs)
        for _ in range(finds):
            pairs.meet(0.1, Change(0.1, -0.1, 0.05))
            differences.curvatures.meet(1.0)
        return Confirmation(differences, believing(), Walls()), pairs

    @pytest.mark.parametrize(("slope", "queries"), [(0.1, 2), (3.0, 1)])
    def test_a_coordinate_that_promises_little_is_confirmed_on_both_sides(
        self, slope: float, queries: int
    ) -> None:
        confirmation, _ = self.confirmation(1e-4, finds=3)
        answer, requests = asked(confirmation, candidate(slope, 1e-9), lambda x: 0.5 * x * x - slope * x)
        assert isinstance(answer, Found)
        assert [len(request.stencil.shares) * request.repeats for request in requests] == [queries]

    def test_a_curvature_far_above_the_others_is_looked_at_again(self) -> None:
        confirmation, _ = self.confirmation(1e-4, finds=3)
        answer, requests = asked(confirmation, candidate(0.1, 1e-9), lambda x: 2.5 * x * x - 0.1 * x)
        first, second = lengths(requests)[:2]
        assert second == pytest.approx(first / constants.CLEARLY)
        assert isinstance(answer, Found)
        assert answer.curvature == pytest.approx(5.0)

    @pytest.mark.parametrize("single", [False, True])
    def test_what_was_not_there_when_asked_alone_makes_looks_shorter(self, single: bool) -> None:
        confirmation, pairs = self.confirmation(1e-6, finds=0)
        before = pairs.look(1.0, 0.01).eps
        assert before > 0.1  # as far as the root was regular, and farther
        answer, requests = asked(confirmation, candidate(0.5, 1e-6, single=single), lambda x: 0.0)
        assert (answer, len(requests)) == (Wrong(), 1)
        # Two coordinates may have misled their label.
        assert pairs.look(1.0, 0.01).eps == pytest.approx(0.05 if single else before)


def test_a_candidate_that_a_wall_holds_is_touched_inward() -> None:
    differences = Differences()
    differences.centre(np.zeros(1), 1.0)
    walls = Walls(Box.of(np.zeros(1), np.ones(1), 1))
    walls.centre(np.zeros(1))
    belief = believing()
    for slope, right in ((2.0, True), (1.0, False)):
        confirmation = Confirmation(differences, belief, walls)
        answer, (request,) = asked(confirmation, candidate(2.0, 1e-9), partial(mul, -slope))
        assert written(request).values[0] > 0.0
        assert isinstance(answer, Found if right else Wrong)
    assert belief.rate(1) < 1.0  # it is known, and no way down
