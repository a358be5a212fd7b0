"""What the tests of the search have in common: a function that answers, and the rooms around it."""

from __future__ import annotations

import numpy as np

from gracezo.core.moves import Few
from gracezo.core.types import FloatArray
from gracezo.core.walls import Walls
from gracezo.methods.auto.belief import Belief
from gracezo.methods.auto.instrument.central import Pairs
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.instrument.look import Change, Request
from gracezo.methods.auto.search.groups import Group
from gracezo.methods.auto.search.inquiry import Inquiries, Inquiry, Outcome
from gracezo.methods.auto.search.order import Order


def written(request: Request) -> Few:
    """Return the displacement of a request, which is written down where there are few coordinates."""
    assert isinstance(request.move, Few)
    return request.move


class Sure(Belief):
    """A belief whose chance of a single spike in a group that is not empty is given."""

    def __init__(self, d: int, chance: float) -> None:
        super().__init__(d)
        self.density.alone = lambda n: chance  # type: ignore[method-assign]


class World:
    """f(x) = 1 + g·x + ½·h·|x|², of which inquiries ask; h is known to them.

    Parameters
    ----------
    gradient
        g, by coordinate.
    seed
        Of the order and the weights.
    noise
        What looks to both sides take for the noise of f; None for an exact f.
    """

    def __init__(
        self, gradient: FloatArray, seed: int = 0, *, noise: float | None = None, belief: Belief | None = None
    ) -> None:
        self.gradient = gradient
        self.d = d = len(gradient)
        rng = np.random.default_rng(seed)
        weights = rng.uniform(0.5, 1.5, d) * rng.choice([-1.0, 1.0], d)
        self.order = Order(rng.permutation(d), weights)
        self.differences = Differences()
        self.differences.centre(np.zeros(d), 1.0)
        if noise is not None:
            self.differences.values.hear(noise)
            pairs = Pairs(noise)
            pairs.begin(0.1, Change(0.1, -0.1, 0.05))
            self.differences.look_to_both_sides(pairs)
        self.belief = belief or Belief(d)

    def inquiries(self, *, complete: bool = False, batch: int = 1) -> Inquiries:
        """Return the questions about it."""
        return Inquiries(self.differences, self.belief, self.order, Walls(), complete=complete, batch=batch)

    @property
    def shares(self) -> FloatArray:
        """w·g, by position, of what has not been taken out."""
        return np.asarray(self.order.weights * self.gradient[self.order.coordinates])

    def group(self, start: int = 0, stop: int | None = None, error: float = 1e-9) -> Group:
        """Return a group whose U is true."""
        stop = self.d if stop is None else stop
        return Group(
            start, stop, float(self.shares[start:stop].sum()), error, self.order.left(start, stop), 0.0
        )

    def labelled(self, start: int = 0, stop: int | None = None, error: float = 1e-9) -> Group:
        """Return a group whose K is true as well."""
        group = self.group(start, stop, error)
        positions = np.arange(group.start, group.stop)
        group.label(float(positions @ self.shares[group.start : group.stop]), group.size * error)
        return group

    def change(self, request: Request) -> Change:
        """Return by how much f changes."""
        slope = float(self.gradient[written(request).indices] @ written(request).values)
        bend = (
            0.5 * self.differences.curvatures.mean * float(written(request).values @ written(request).values)
        )
        shares = np.array(request.stencil.shares)
        return Change(*(shares * slope + shares**2 * bend).tolist())

    def ask(self, inquiry: Inquiry) -> tuple[Outcome, list[Request]]:
        """Answer an inquiry by values alone, to its end; return what came of it, and what was asked."""
        asked: list[Request] = []
        wanted = next(inquiry)
        while True:
            asked += wanted
            try:
                wanted = inquiry.send([self.change(request) for request in wanted])
            except StopIteration as stop:
                return stop.value, asked


def sparse(d: int, entries: dict[int, float]) -> FloatArray:
    """Return a vector with these entries."""
    vector = np.zeros(d)
    vector[list(entries)] = list(entries.values())
    return vector
