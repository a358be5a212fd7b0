"""The pure pieces of `auto`, fed with values: no objective is needed."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gracezo.core.asks import Ask, Point, Role
from gracezo.core.box import Box
from gracezo.core.types import FloatArray
from gracezo.methods.auto.both import together
from gracezo.methods.auto.confirm import Confirmation
from gracezo.methods.auto.constants import Constants
from gracezo.methods.auto.decode import read
from gracezo.methods.auto.density import Density
from gracezo.methods.auto.difference import Differences
from gracezo.methods.auto.estimator import checked
from gracezo.methods.auto.labels import labelled
from gracezo.methods.auto.landing import Landing
from gracezo.methods.auto.line import Trial, line_search
from gracezo.methods.auto.model import Model
from gracezo.methods.auto.pairs import Pairs
from gracezo.methods.auto.questions import Questions
from gracezo.methods.auto.request import AHEAD, BOTH, CHECKED, Change, Heard, Request, answered
from gracezo.methods.auto.search import Search
from gracezo.methods.auto.timing import Timing
from gracezo.methods.auto.tree import Node, Tree, learn_moment, split
from gracezo.methods.auto.walls import Walls
from gracezo.methods.auto.ways.way import Ledger


def test_a_split_shares_the_value_by_subtraction() -> None:
    one, two = split(Node(10, 30, 5.0, 3e-9), 14, 2.0, 4e-9)
    assert (one.start, one.stop, two.start, two.stop) == (10, 14, 14, 30)
    assert one.u + two.u == 5.0
    assert two.error == pytest.approx(5e-9)


@given(
    n=st.integers(2, 60),
    cut=st.floats(0.0, 1.0),
    slopes=st.lists(st.floats(-5.0, 5.0), min_size=60, max_size=60),
)
def test_both_moments_of_the_parts_add_up_on_linear_functions(
    n: int, cut: float, slopes: list[float]
) -> None:
    g = np.array(slopes[:n])
    at = min(max(1, round(cut * n)), n - 1)
    places = np.arange(n)
    node = Node(0, n, float(g.sum()), 0.0)
    learn_moment(node, float(places @ g), 0.0)
    one, two = split(node, at, float(g[:at].sum()), 0.0)
    learn_moment(one, float(places[:at] @ g[:at]), 0.0)
    assert two.u == pytest.approx(g[at:].sum(), abs=1e-9)
    assert two.moment == pytest.approx(places[at:] @ g[at:], abs=1e-8)


@given(
    size=st.integers(1, 5000),
    share=st.floats(0.0, 0.999),
    value=st.floats(1e-6, 1e6),
    sign=st.sampled_from([-1, 1]),
)
def test_one_coordinate_is_decoded_at_any_place(size: int, share: float, value: float, sign: int) -> None:
    place = int(share * size)
    node = Node(0, size, sign * value, 0.0, moment=place * sign * value)
    position, error = node.position
    assert round(position) == place
    assert error == 0.0


def test_two_of_one_sign_are_separated_by_their_moment() -> None:
    node = Node(0, 100, 3.0, 0.0, moment=1.0 * 20 + 2.0 * 70)
    assert 20 < node.position[0] < 70


def test_a_sharp_ratio_between_positions_means_several() -> None:
    node = Node(0, 100, 3.0, 0.0, moment=1.0 * 20 + 2.0 * 70.2)
    read(node, np.ones(100), 4.0)
    assert node.several
    assert node.candidate is None


def test_an_integer_further_off_than_its_error_is_doubtful() -> None:
    for moment, doubtful in ((70.005, False), (70.02, True)):
        node = Node(0, 100, 1.0, 0.0, moment=moment, blur=0.01)
        read(node, np.ones(100), 4.0)
        assert node.candidate == 70
        assert node.doubtful is doubtful


@pytest.mark.parametrize("right", [True, False])
def test_a_doubtful_candidate_is_asked_near_before_it_is_confirmed(right: bool) -> None:
    differences = Differences(Constants())
    differences.centre(np.zeros(100), 1.0)
    search = Search(Constants(), differences, Density(100, 0.9), lambda *found: None)
    search.plant(np.arange(100), np.random.default_rng(0))
    assert search.tree is not None
    questions = Questions(Constants(), differences, Density(100, 0.9), search.tree, search, Walls())
    node = Node(0, 100, 1.0, 1e-9, moment=70.0, candidate=70, doubtful=True)
    near = questions.about(node)
    assert near is not None
    slope = 1.0 / search.tree.weights[70]
    near.absorb(Change(float(slope * near.steps[0]) if right else 0.0))
    assert node.several is not right
    if right:
        confirm = questions.about(node)
        assert confirm is not None
        assert confirm.indices.tolist() == near.indices.tolist() == [search.tree.order[70]]
        assert abs(confirm.steps[0]) == pytest.approx(10.0 * abs(near.steps[0]))


def test_what_an_empty_part_seems_to_hold_does_not_move_the_ratio() -> None:
    differences = Differences(Constants())
    differences.centre(np.zeros(1000), 1.0)
    search = Search(Constants(), differences, Density(1000, 0.9), lambda *found: None)
    search.plant(np.arange(1000), np.random.default_rng(0))
    assert search.tree is not None
    questions = Questions(Constants(), differences, Density(1000, 0.9), search.tree, search, Walls())
    whole = Node(900, 1000, 1.0, 1e-9, moment=950.5, blur=1e-8, several=True)
    assert questions.about(whole) is None
    (cut,) = questions.cut(whole, 1)
    assert len(cut.indices) == 51
    eps = cut.steps[0] / search.tree.weights[900]
    bend = differences.density * float(cut.steps @ cut.steps) / 2.0
    cut.absorb(Change(eps * (1.0 + 5e-7) + bend))  # all of it, and an error
    large, empty = search.tree.pop(1), search.tree.pop(0)
    assert abs(empty.u) == pytest.approx(5e-7)
    assert abs(empty.u) < 4.0 * empty.error
    assert large.several
    assert large.position[0] == pytest.approx(950.5, abs=1e-9)


@given(
    before=st.integers(0, 3),
    span=st.integers(1, 500),
    narrow=st.booleans(),
    whole=st.booleans(),
    both=st.booleans(),
)
def test_a_label_names_its_position(before: int, span: int, narrow: bool, whole: bool, both: bool) -> None:
    scheme = labelled(narrow, whole, both)
    labels = scheme.labels(before, span)
    assert labels[:before] == pytest.approx(scheme.least)
    assert np.abs(labels).max() < 1.0 or before
    assert (labels < 0.0).any() == (both and not narrow and span > 1)
    assert [scheme.place(label, span) for label in labels[before:]] == pytest.approx(np.arange(span))
    assert max(map(scheme.outside, labels)) <= 1e-15
    if span > 2:  # of two, one may be on either side of the gap around zero
        assert np.diff(labels[before:]).min() == pytest.approx(1.0 / scheme.spacing(span))


@pytest.mark.parametrize("place", [0, 400, 499, 500, 999])
def test_where_looks_go_to_both_sides_labels_do(place: int) -> None:
    differences = Differences(Constants())
    differences.centre(np.zeros(1000), 1.0)
    differences.noise, differences.pairs = 1e-9, Pairs(1e-9, 4.0)
    differences.pairs.begin(0.1, Change(0.1, -0.1, 0.05))
    search = Search(Constants(), differences, Density(1000, 0.9), lambda *found: None)
    search.plant(np.arange(1000), np.random.default_rng(0))
    assert search.tree is not None
    questions = Questions(Constants(), differences, Density(1000, 0.9), search.tree, search, Walls())
    node = Node(0, 1000, 1.0, 0.0)
    labels = questions._labels(node, 0, 1000)
    steps = labels.steps / search.tree.weights
    assert labels.shares is BOTH
    assert steps == pytest.approx(-steps[::-1])
    labels.absorb(Change(steps[place], -steps[place]))
    assert node.position[0] == pytest.approx(place, abs=1e-6)
    if node.window is None:
        read(node, search.tree.weights, 4.0)
    assert node.candidate == place


def windowed(value: float) -> tuple[Search, Node]:
    """Ask labels in the window 700 to 710 of a set of a thousand with U = 1; answer with a value."""
    differences = Differences(Constants())
    differences.centre(np.zeros(1000), 1.0)
    search = Search(Constants(), differences, Density(1000, 0.9), lambda *found: None)
    search.plant(np.arange(1000), np.random.default_rng(0))
    assert search.tree is not None
    questions = Questions(Constants(), differences, Density(1000, 0.9), search.tree, search, Walls())
    node = Node(0, 1000, 1.0, 1e-9, moment=705.0, blur=1.0, window=(700, 710))
    labels = questions.about(node)
    assert labels is not None
    assert labels.indices.tolist() == search.tree.order[:710].tolist()
    steps = labels.steps / search.tree.weights[:710]
    eps = steps[0] / 0.5
    assert steps[:700] == pytest.approx(0.5 * eps)  # what lies before has the lowest label
    assert steps[700:] == pytest.approx(eps * np.linspace(0.525, 0.975, 10))
    bend = differences.density * float(labels.steps @ labels.steps) / 2.0
    labels.absorb(Change(eps * value + bend))
    return search, node


def test_labels_in_a_window_name_what_is_there() -> None:
    search, node = windowed(0.5 + 0.5 * 3.5 / 10)  # the fourth of ten
    assert search.tree is not None
    assert search.tree.pop(1) is node
    read(node, search.tree.weights, 4.0)
    assert node.candidate == 703


@pytest.mark.parametrize(("before", "at"), [(0.4, 710), (-0.6, 710), (2.5, 700)])
def test_labels_in_an_empty_window_are_a_cut(before: float, at: int) -> None:
    search, _ = windowed(0.5 * before)
    assert search.tree is not None
    parts = [part for side in (0, 1) if (part := search.tree.top(side)) is not None]
    left = next((part for part in parts if part.start == 0), None)
    if left is None:  # both are positive, and the right one is larger
        search.tree.pop(1)
        left = search.tree.pop(1)
    assert left.stop == at
    assert left.u == pytest.approx(before)
    assert left.sibling is not None
    assert left.sibling.u == pytest.approx(1.0 - before)
    assert left.family == (705.0, 1.0)


def test_errors_are_trusted_as_far_as_they_were_met() -> None:
    differences = Differences(Constants())
    assert differences.met == 1.0
    for _ in range(3):
        differences.see(0.1, 1.0)
    assert differences.met == pytest.approx(math.sqrt(1.03 / 4.0))
    differences.see(5.0, 1.0)  # no more than the bound counts
    assert differences.met == pytest.approx(math.sqrt(2.03 / 5.0))
    node = Node(0, 100, 1.0, 0.0, moment=70.1, blur=0.5)
    read(node, np.ones(100), 4.0)
    assert node.window is not None
    read(node := Node(0, 100, 1.0, 0.0, moment=70.1, blur=0.5), np.ones(100), 4.0, 0.2)
    assert node.candidate == 70


def test_what_cancels_in_one_sum_shows_in_the_other() -> None:
    differences = Differences(Constants())
    differences.centre(np.zeros(1000), 1.0)
    search = Search(Constants(), differences, Density(1000, 0.9), lambda *found: None)
    search.plant(np.arange(1000), np.random.default_rng(0))
    tree = search.tree
    assert tree is not None

    def left(number: int, norm: float) -> float:
        return checked(tree, differences, 4.0, number, norm)

    assert math.isnan(left(1, 1.0))  # K was not asked
    node = Node(0, 1000, 1.0, 1e-9)
    for other, seen in ((0.0, 0.0), (0.3, math.nan)):  # at 200 and 900, cancelling in U
        tree.moment, tree.blur = 700.0 + (200 - 900) * other, 1e-4
        weight = tree.weights[700]
        tree.remove(node, 700, 1.0 / weight)
        tree.weights[700] = weight
        assert left(1, 1.0) == pytest.approx(seen, abs=1e-9, nan_ok=True)
    tree.moment, tree.blur = 0.0, 1e-4
    assert left(10, 1.0) == 0.0
    assert math.isnan(left(100, 1.0))  # so many that one may hide beside another
    tree.blur = 1.0
    assert math.isnan(left(1, 1e6))  # too blurred


def test_a_blurred_ratio_gives_a_window_around_it() -> None:
    node = Node(0, 10_000, 1.0, 0.0, moment=4_321.3, blur=5.0)
    read(node, np.ones(10_000), 4.0)
    assert node.candidate is None
    assert node.window == (4_301, 4_343)


def test_a_coordinate_already_taken_is_not_named_again() -> None:
    node = Node(0, 8, 2.0, 0.0, moment=10.0)
    weights = np.ones(8)
    weights[5] = 0.0
    read(node, weights, 4.0)
    assert node.several


def test_taking_a_coordinate_out_leaves_the_others() -> None:
    tree = Tree(np.arange(4), np.array([1.0, -0.5, 1.5, 1.0]))
    node = Node(0, 4, 1.0 * 2.0 - 0.5 * 4.0 + 1.0 * 3.0, 0.0)
    tree.remove(node, 1, 4.0)
    assert node.u == 5.0
    assert tree.weights[1] == 0.0


def test_the_tree_keeps_count_of_what_is_open() -> None:
    tree = Tree(np.arange(8), np.ones(8))
    tree.push(Node(0, 4, 3.0, 0.0), 3.0)
    tree.push(Node(4, 8, -4.0, 0.0), 4.0)
    assert tree.unexplained == 5.0
    assert tree.pop(0).u == -4.0
    assert tree.unexplained == 3.0


def test_density_learns_that_few_or_many_matter() -> None:
    few, many = Density(10_000, 0.9), Density(10_000, 0.9)
    for n in (10_000, 5_000, 2_500):
        few.saw_split(n, one_sided=True)
        many.saw_split(n, one_sided=False)
    assert few.alone(1_000) > 0.9
    assert many.alone(1_000) < 0.5


def test_a_set_cut_in_more_parts_is_less_likely_in_one() -> None:
    density = Density(1_000, 0.9)
    for _ in range(3):
        density.saw_split(1_000, one_sided=True, parts=8)
    other = Density(1_000, 0.9)
    for _ in range(3):
        other.saw_split(1_000, one_sided=True, parts=2)
    assert density.alone(500) > other.alone(500)


def test_eps_follows_the_size_of_the_set() -> None:
    differences = Differences(Constants())
    differences.centre(np.zeros(10_000), 2.0)
    one, many = differences.across(1.0, 0.0), differences.across(10_000.0, 0.0)
    assert many.eps < one.eps
    # One coordinate of the curvature that is guessed, all of it uncertain, and a typical one beside it.
    assert one.eps == pytest.approx(math.sqrt(2.0 * differences.rounding / (2.0 * differences.density)))


def test_a_fixed_eps_is_kept() -> None:
    differences = Differences(Constants(), 1e-5)
    differences.centre(np.zeros(3), 1.0)
    assert differences.size(123.0, 4.0) == 1e-5


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 8))
def test_quasi_newton_ends_on_a_quadratic(seed: int, n: int) -> None:
    """BFGS with exact line searches minimises a quadratic of n unknowns in n steps."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    hessian = root @ root.T + n * np.eye(n)
    x, model = rng.normal(size=n), Model(50)
    for _ in range(n):
        g = hessian @ x
        if np.linalg.norm(g) < 1e-10:
            break
        p = model.direction(g, np.diag(hessian).copy())
        assert g @ p < 0.0
        t = -(g @ p) / (p @ hessian @ p)
        model.learn(t * p, hessian @ (t * p), -t * g)
        x = x + t * p
    assert np.linalg.norm(hessian @ x) < 1e-6


def test_a_model_grows_with_its_support() -> None:
    model = Model(5)
    model.learn(np.array([1.0]), np.array([4.0]), np.array([1.0]))
    direction = model.direction(np.array([4.0, 3.0]), np.array([1.0, 3.0]))
    assert direction == pytest.approx([-1.0, -1.0])


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 12), pairs=st.integers(1, 8))
def test_the_model_agrees_with_its_last_pair_wherever_it_begins(seed: int, n: int, pairs: int) -> None:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    hessian = root @ root.T + 0.1 * np.eye(n)
    model = Model(50)
    for _ in range(pairs):
        step = rng.normal(size=n)
        model.learn(step, hessian @ step, hessian @ step)
    diagonal = 10.0 ** rng.uniform(-6.0, 6.0, n)
    assert model.direction(-(hessian @ step), diagonal) == pytest.approx(step, rel=1e-6)


def test_what_waits_without_limit_is_not_lost_by_a_note_of_no_rounds() -> None:
    timing = Timing(6.0, ledger := Ledger(1))
    timing.offer(math.inf)  # slopes of which nothing is known
    timing.spend(0, only_for_step=1)
    assert not timing.step_pays(gain=1.0, promise=10.0, cost=1.0, rest=10.0)
    ledger.rounds = 1
    timing.spend(1)
    assert timing.step_pays(gain=1.0, promise=10.0, cost=1.0, rest=10.0)


class TestConfirming:
    """A coordinate that has been probed, and where f turns on its way down."""

    def asked(
        self, line: Callable[[float], float], u: float, first: float, error: float = 1e-12
    ) -> tuple[list[float], list[float]]:
        """Confirm a coordinate of slope −1 or 1; return the lengths asked, and the curvature found."""
        constants, found = Constants(), list[float]()
        differences = Differences(constants)
        differences.centre(np.zeros(1), 10.0)
        tree = Tree(np.array([0]), np.array([1.0]))
        density = Density(1, constants.forget)

        def take(coordinate: int, slope: float, curvature: float, error: float) -> None:
            found.append(curvature)

        search = Search(constants, differences, density, take)
        search.tree = tree
        confirming = Confirmation(constants, differences, density, tree, search, Walls())
        lengths, side = [], int(u > 0.0)
        search.open(Node(0, 1, u, error, length=first))
        while tree.top(side) is not None:
            request = confirming.confirmation(tree.pop(side), 0)
            lengths.append(abs(float(request.steps[0])))
            request.absorb(Change(line(lengths[-1])))
        return lengths, found

    @pytest.mark.parametrize("u", [-1.0, 1.0])
    def test_a_turn_on_the_way_down_is_where_two_lines_meet(self, u: float) -> None:
        lengths, found = self.asked(lambda x: abs(x - 0.5) - 0.5, u, first=7.0)
        assert lengths[2:] == pytest.approx([0.5])
        assert len(found) == 1

    def test_a_turn_far_nearer_is_found_if_the_way_down_was_probed(self) -> None:
        lengths, found = self.asked(lambda x: abs(x - 1e-3) - 1e-3, -1.0, first=7.0)
        assert lengths[2:] == pytest.approx([1e-3])
        assert len(found) == 1

    def test_uphill_at_once_is_known_after_two(self) -> None:
        lengths, found = self.asked(lambda x: x, 1.0, first=7.0)
        assert (len(lengths), found) == (2, [])

    @pytest.mark.parametrize(("error", "found"), [(1e-12, 1e-3), (1e-3, 0.05)])
    def test_a_curvature_within_the_error_of_the_slope_promises_no_more_than_f(
        self, error: float, found: float
    ) -> None:
        """Here f is 10, and slope²/2H as much with H = 0.05."""
        lengths, curvatures = self.asked(lambda x: 5e-4 * x * x - x, -1.0, first=2.0, error=error)
        assert lengths == [2.0]
        assert curvatures == pytest.approx([found])


class TestWhereTheModelBegins:
    """With one coordinate that no pair has touched, its step shows what the model begins from."""

    def begun(self, pairs: list[tuple[FloatArray, FloatArray]], diagonal: FloatArray) -> float:
        model = Model(50)
        for step, change in pairs:
            model.learn(step, change, change)
        untouched = np.zeros(len(diagonal))
        untouched[-1] = -1.0
        return 1.0 / float(model.direction(untouched, diagonal)[-1])

    def pairs(self, curvatures: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
        steps = np.random.default_rng(0).choice([-1.0, 1.0], (5, len(curvatures)))
        return [(step, curvatures * step) for step in steps]

    def test_from_the_measured_curvatures_where_pairs_bear_them_out(self) -> None:
        measured = 10.0 ** np.linspace(-3.0, 3.0, 21)
        assert self.begun(self.pairs(measured[:20]), measured) == pytest.approx(1000.0)

    def test_from_all_alike_where_the_measured_are_out_of_date(self) -> None:
        measured = np.append(10.0 ** np.linspace(-3.0, 3.0, 20), 1000.0)
        assert self.begun(self.pairs(np.full(20, 0.1)), measured) == pytest.approx(0.1)

    def test_from_something_between_where_that_fits_best(self) -> None:
        measured = 10.0 ** np.append(np.linspace(-3.0, 3.0, 20), 3.0)
        half = 0.1 * np.sqrt(measured)
        assert self.begun(self.pairs(half[:20]), measured) == pytest.approx(half[-1])

    def test_in_a_larger_scale_where_coordinates_are_coupled(self) -> None:
        together = np.ones(20)
        assert self.begun([(together, np.full(20, 20.0))], np.ones(21)) == pytest.approx(20.0)

    def test_never_below_what_was_measured(self) -> None:
        measured = 10.0 ** np.linspace(-1.0, 1.0, 21)
        assert self.begun(self.pairs(0.01 * measured[:20]), measured) == pytest.approx(10.0)

    def test_below_one_guess_for_all(self) -> None:
        assert self.begun(self.pairs(np.full(20, 0.01)), np.ones(21)) == pytest.approx(0.01)

    def test_not_in_the_scale_of_a_single_kink(self) -> None:
        change = np.ones(20)
        change[7] = 1e6
        assert self.begun([(np.ones(20), change)], np.ones(21)) == pytest.approx(1.0)


def test_a_request_without_an_answer_is_asked_again_a_little_shorter() -> None:
    heard: list[Change] = []
    requests = [Request(np.array([j]), np.array([2.0 + j]), Role.PROBE, heard.append) for j in range(3)]
    steps = answered(Point(np.zeros(3), 1.0), requests)
    first = next(steps)
    assert isinstance(first, Ask)
    assert len(first) == 3
    answer = np.array([1.0 + 2.0, np.nan, 1.0 + 4.0])
    for share in (0.99, 0.99**2):
        again = steps.send(answer)
        assert isinstance(again, Ask)
        assert [again.point(row).tolist() for row in range(len(again))] == [[0.0, share * 3.0, 0.0]]
        answer = np.array([np.nan if share == 0.99 else 1.0 + share * 3.0])
    with pytest.raises(StopIteration) as end:
        steps.send(answer)
    assert [change.odd for change in heard] == pytest.approx([2.0, 3.0, 4.0])
    met = end.value.value
    # The lowest point met is one that was asked, not one whose value was made up from a shorter look.
    assert (met.indices.tolist(), met.steps.tolist(), met.value) == ([0], [2.0], 3.0)


def two_looks(
    shares: tuple[float, ...],
) -> tuple[Request, Request, list[Change], list[Change]]:
    """Two looks that foresee changes of 3 and -1, up to 0.1 and 0.05."""
    heard: tuple[list[Change], list[Change]] = ([], [])
    one = Request(np.array([4, 7]), np.array([1.0, 2.0]), Role.PROBE, heard[0].append, shares, 1, 3.0, 0.1)
    two = Request(np.array([2]), np.array([5.0]), Role.REFRESH, heard[1].append, shares, 2, -1.0, 0.05)
    return one, two, *heard


def slope_only(shares: tuple[float, ...], change: float) -> Change:
    return Change(change) if shares is AHEAD else Change(change, -change)


@pytest.mark.parametrize("shares", [AHEAD, BOTH])
@given(off=st.floats(-0.149, 0.149))
def test_one_query_answers_for_two_when_all_is_as_foreseen(shares: tuple[float, ...], off: float) -> None:
    one, two, first, second = two_looks(shares)
    joint = together(one, two, lambda _: pytest.fail("nothing is left to ask"))
    assert joint is not None
    assert dict(zip(joint.indices.tolist(), joint.steps.tolist(), strict=True)) == {4: 1.0, 7: 2.0, 2: 5.0}
    assert (joint.shares, joint.repeats) == (shares, 2)
    joint.absorb(slope_only(shares, 2.0 + off))
    assert [change.odd for change in first] == [3.0]
    assert [change.odd for change in second] == [pytest.approx(-1.0 + off)]


@pytest.mark.parametrize("shares", [AHEAD, BOTH])
@given(first_is=st.floats(-9.0, 9.0), second_is=st.floats(-9.0, 9.0))
def test_what_is_not_as_foreseen_is_told_apart_by_one_more_query(
    shares: tuple[float, ...], first_is: float, second_is: float
) -> None:
    one, two, first, second = two_looks(shares)
    left: list[Request] = []
    joint = together(one, two, left.append)
    assert joint is not None
    joint.absorb(slope_only(shares, first_is + second_is))
    if abs(first_is + second_is - 2.0) <= 0.15:
        assert not left
        return
    (alone,) = left
    assert (first, second) == ([], [])
    assert (alone.indices.tolist(), alone.role, alone.repeats) == ([2], Role.REFRESH, 2)
    alone.absorb(slope_only(shares, second_is))
    assert [change.odd for change in first] == [pytest.approx(first_is, abs=1e-12)]
    assert [change.odd for change in second] == [second_is]


def test_looks_of_different_kinds_are_not_made_together() -> None:
    for shares in ((AHEAD, BOTH), (BOTH, AHEAD), (CHECKED, CHECKED)):
        one, two = two_looks(shares[0])[0], two_looks(shares[1])[1]
        assert together(one, two, lambda _: None) is None


def test_the_lowest_point_met_is_kept_until_it_is_left_behind() -> None:
    landing = Landing()
    here = Point(np.array([0.0, 0.5]), 3.0)
    landing.note(here, Heard(np.array([1]), np.array([0.7]), 2.0))
    landing.note(here, Heard(np.array([0]), np.array([9.0]), 2.5))
    there = Point(np.array([5.0, 5.0]), 2.5)
    landing.note(there, Heard(np.array([0]), np.array([1.0]), 2.6))
    assert landing.met_from(here.x)
    assert not landing.met_from(there.x)
    point = landing.point(None)
    assert (point.x.tolist(), point.value) == ([0.0, 1.2], 2.0)
    assert landing.point(Box.of(0.0, 1.0, 2)).x.tolist() == [0.0, 1.0]
    landing.note(there, Heard(np.array([0]), np.array([1.0]), 1.0))
    assert (landing.point(None).x.tolist(), landing.value) == ([6.0, 5.0], 1.0)


def straight(t: float) -> FloatArray:
    return np.array([t])


def test_a_trial_without_a_value_shortens_the_step() -> None:
    steps = line_search(Point(np.zeros(1), 0.0), np.array([0]), straight, -2.0, expand=0.6, batch=1)
    said = [next(steps), *(steps.send(np.array([np.nan])) for _ in range(2))]
    assert [ask.point(0)[0] for ask in said if isinstance(ask, Ask)] == pytest.approx([1.0, 0.9, 0.27])
    with pytest.raises(StopIteration) as end:
        steps.send(np.array([-0.4]))
    assert [(trial.t, trial.change) for trial in end.value.value] == [(pytest.approx(0.27), -0.4)]


def tried(value: Callable[[float], float], batch: int) -> tuple[list[list[float]], list[Trial]]:
    """Search along a line of slope -2; return the lengths of each round, and the trials."""
    at = Point(np.zeros(1), 0.0)
    steps = line_search(at, np.array([0]), straight, -2.0, expand=0.6, batch=batch)
    asked: list[list[float]] = []
    said = next(steps)
    while True:
        assert isinstance(said, Ask)
        asked.append([float(said.point(row)[0]) for row in range(len(said))])
        try:
            said = steps.send(np.array([value(t) for t in asked[-1]]))
        except StopIteration as end:
            return asked, end.value


@pytest.mark.parametrize(("batch", "rounds"), [(1, 5), (2, 3), (16, 3)])
def test_no_trial_with_a_value_is_no_descent(batch: int, rounds: int) -> None:
    asked, trials = tried(lambda t: math.nan, batch)
    assert [trial.change for trial in trials] == [math.inf] * 5
    assert len(asked) == rounds


def test_a_batch_tries_two_shorter_lengths_at_once() -> None:
    asked, trials = tried(lambda t: -2.0 * t if t < 0.1 else 1.0, batch=8)
    assert [len(lengths) for lengths in asked] == [1, 2]
    shorter, beside = asked[1]
    assert 0.1 <= shorter <= 0.5
    assert beside == pytest.approx(0.3 * shorter)
    assert trials[0].t == beside


@pytest.mark.parametrize(
    ("batch", "asked"),
    [
        (1, [[1.0], [2.0], [4.0], [8.0], [16.0]]),
        (2, [[1.0], [2.0, 4.0], [8.0, 16.0], [32.0, 64.0]]),
        (8, [[1.0], [2.0, 4.0], [8.0, 16.0, 32.0, 64.0]]),
    ],
)
def test_a_batch_doubles_a_step_several_times_at_once(batch: int, asked: list[list[float]]) -> None:
    lengths, trials = tried(lambda t: -2.0 * t if t < 30.0 else -2.0, batch)
    assert lengths == asked
    assert trials[0].t == 16.0


def planted(d: int = 1000) -> Search:
    differences = Differences(Constants())
    differences.centre(np.zeros(d), 1.0)
    search = Search(Constants(), differences, Density(d, 0.9), lambda *found: None)
    search.plant(np.arange(d), np.random.default_rng(0))
    return search


def test_a_search_is_looked_at_again_when_it_would_waste_more_than_that_costs() -> None:
    search = planted()
    search.root(1.0, 1e-9)
    assert not search.watch.overdue(1e6)  # no step has given any reason
    search.watch.stir(
        0.1, missed=0.01
    )  # a fifth of `drift`; of two rechecks, one counts as fruitful beforehand
    assert (search.watch.overdue(9.0), search.watch.overdue(11.0)) == (False, True)
    assert search.watch.doubt == pytest.approx(0.05)
    search.watch.stir(0.1, missed=0.5)
    assert (search.watch.overdue(1.9), search.watch.overdue(2.1)) == (False, True)  # no more reason than one
    search.recheck()
    assert not search.watch.overdue(1e6)
    assert search.watch.doubt == 0.0


@pytest.mark.parametrize(("now", "outdated"), [(1.0, False), (1.2, True)])
def test_a_tree_whose_sum_has_changed_is_out_of_date(now: float, outdated: bool) -> None:
    search = planted()
    search.root(1.0, 1e-9)
    assert search.tree is not None
    drifting = search.watch.drifting
    recheck = search.recheck()
    eps = recheck.steps[0] / search.tree.weights[0]
    recheck.absorb(Change(recheck.expected + eps * (now - 1.0)))
    assert search.outdated == outdated
    assert (search.watch.drifting > drifting) == outdated
    search.plant(np.arange(1000), np.random.default_rng(1))
    assert not search.outdated


@pytest.mark.parametrize(
    ("values", "parts"),
    [([1.0], [8]), ([1.0, 0.9], [5, 3]), ([1.0, 0.5], [7, 1]), ([1.0, 0.3], [8])],
)
def test_a_batch_cuts_where_a_query_tells_most(values: list[float], parts: list[int]) -> None:
    search = planted()
    search.watch._stirs = 0.0, 1.0  # no step has ever changed anything outside of the support
    size = 1000 // len(values)
    for place, value in enumerate(values):
        search.open(Node(place * size, (place + 1) * size, value, 1e-9, several=True))
    search._is_rooted = True
    asked = [request.indices for request in search.requests(8)]
    assert search.tree is not None
    places = {int(coordinate): place for place, coordinate in enumerate(search.tree.order)}
    counts = [0] * len(values)
    for indices in asked:
        counts[places[int(indices[0])] // size] += 1
    assert [count for count in counts if count] == parts


@pytest.mark.parametrize(
    ("missed", "share", "cut"),
    [
        ([], 0.24, False),  # beforehand: a tree is as likely to be out of date after a step as not
        ([], 0.26, True),
        ([1.0, 1.0], 0.24, False),
        ([0.02], 0.05, False),  # two fifths of `drift`
        ([0.02], 0.15, True),
        ([0.0], 0.01, True),  # it came out as foreseen
    ],
)
def test_a_batch_cuts_a_set_that_is_likely_to_have_its_turn_or_whose_tree_lasts(
    missed: list[float], share: float, cut: bool
) -> None:
    search = planted()
    for each in missed:
        search.watch.stir(0.0, each)
    for place, value in enumerate([1.0, math.sqrt(share)]):  # prices go with the squares
        search.open(Node(place * 2, (place + 1) * 2, value, 1e-9, several=True))
    search._is_rooted = True
    assert len(search.requests(8)) == 1 + cut  # a pair is cut by one query
    rest = search.requests(8)  # what was not taken is still there
    assert len(rest) == 1 - cut


def test_a_search_to_the_end_leaves_no_set_of_a_batch_aside() -> None:
    differences = Differences(Constants())
    differences.centre(np.zeros(100), 1.0)
    density = Density(100, 0.9)
    search = Search(Constants(), differences, density, lambda *found: None, complete=True)
    search.plant(np.arange(100), np.random.default_rng(0))
    search._is_rooted = True
    for place, value in enumerate([1.0, 0.2, 0.1]):
        search.open(Node(place * 2, (place + 1) * 2, value, 1e-9, several=True))
    assert len(search.requests(8)) == 3


@pytest.mark.parametrize("changed", [False, True])
def test_a_sapling_grows_only_if_the_tree_has_changed(changed: bool) -> None:
    search = planted()
    search.root(1.0, 1e-9)
    old = search.tree
    assert old is not None
    recheck, sapling = search.recheck(), search.sapling(np.arange(10, 1000), np.random.default_rng(1))
    eps = recheck.steps[0] / old.weights[0]
    recheck.absorb(Change(recheck.expected + eps * changed))
    sapling.absorb(Change(1e-9))
    assert search.tree is old
    search.plant(np.arange(500), np.random.default_rng(2))  # here, or later at another point
    assert search.tree is not None
    assert search.rooted == changed
    assert len(search.tree.order) == (990 if changed else 500)
    if changed:
        assert search.unexplained == abs(search.tree.total) > 0.0


@pytest.mark.parametrize(
    ("size", "batch", "complete", "chance"),
    [
        (500, 1, False, 1 / math.log2(500)),
        (500, 8, False, 1 / 3),
        (500, 32, False, 1 / 3),  # as eight
        (50, 8, False, 1 / 2),
        (500, 8, True, 1 / math.log2(500)),  # to the end: by queries
    ],
)
def test_labels_pay_by_the_rounds_of_cuts_that_they_save(
    size: int, batch: int, complete: bool, chance: float
) -> None:
    class Sure(Density):
        def __init__(self, chance: float) -> None:
            super().__init__(1000, 0.9)
            self._chance = chance

        def alone(self, n: float) -> float:
            return self._chance

    for factor, pay in ((0.99, False), (1.01, True)):
        search = planted()
        assert search.tree is not None
        density = Sure(factor * chance)
        questions = Questions(
            Constants(),
            search._differences,
            density,
            search.tree,
            search,
            Walls(),
            complete=complete,
            batch=batch,
        )
        asked = questions.about(Node(0, size, 1.0, 1e-12))
        assert (asked is not None) == pay


def test_the_model_forgets_its_oldest_pair_and_grows_with_the_support() -> None:
    rng = np.random.default_rng(0)
    curvature = np.diag([1.0, 3.0, 9.0]) + 0.5
    steps = rng.standard_normal((3, 3))
    full, late = Model(2), Model(2)
    for step in steps:
        full.learn(step, curvature @ step, step)
    for step in steps[1:]:
        late.learn(step, curvature @ step, step)
    slopes, diagonal = rng.standard_normal(5), np.full(5, 2.0)
    found = full.direction(slopes[:3], diagonal[:3])
    assert found == pytest.approx(late.direction(slopes[:3], diagonal[:3]), rel=1e-12)
    # B fits the last pair: along it, the step that is foreseen to undo a change of the gradient is itself.
    assert full.direction(-(curvature @ steps[2]), diagonal[:3]) == pytest.approx(steps[2])
    grown = full.direction(slopes, diagonal)
    assert grown[:3] == pytest.approx(found)
    assert grown[3:] == pytest.approx(-slopes[3:] / 2.0)
    free = np.array([True, True, True, False, True])
    assert full.direction(slopes, diagonal, free)[[0, 1, 2, 4]] == pytest.approx(grown[[0, 1, 2, 4]])
    assert full.direction(slopes, diagonal, free)[3] == 0.0


def test_a_sapling_is_of_no_use_elsewhere() -> None:
    """Its sum was measured around another point: what has got a slope since then would not be seen."""
    differences = Differences(Constants())
    search = Search(Constants(), differences, Density(100, 0.9), lambda *found: None)
    search.centre(Point(np.zeros(100), 1.0))
    search.plant(np.arange(100), np.random.default_rng(0))
    search.root(1.0, 1e-9)
    search.sapling(np.arange(100), np.random.default_rng(1)).absorb(Change(0.0))
    search.centre(Point(np.ones(100), 0.9))
    search.outdated = True
    search.plant(np.arange(100), np.random.default_rng(2))
    assert not search.rooted
