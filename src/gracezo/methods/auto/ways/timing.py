"""When to step.

While a step is not made, its decrease P waits; to make it delays everything else, R, by the c
rounds that a step costs. So it steps when P, summed over the rounds since the last step and
those until the next find, comes to c·R: as one orders when what was held back has cost as much
as an order. What a step costs, and what comes of its promises, is measured as the run goes on.

A round is a query, or a batch of them: queries that go out together take the time of one.
"""

from __future__ import annotations

import math

from gracezo.methods.auto.ways import Ledger


class Timing:
    """The rounds of a run, and what steps have cost and brought.

    Parameters
    ----------
    overhead
        First guess of what a step costs beside the search, in rounds.
    ledger
        Counts the rounds.
    """

    def __init__(self, overhead: float, ledger: Ledger) -> None:
        self._ledger = ledger
        self.overhead = overhead
        """What a step costs beside the search, in rounds."""
        self.rate = 0.0
        """Decrease per round that the last step has brought."""
        self._spent = 0  # rounds since the last step that only this step needed
        self._redeemed = 1.0  # share of its promise that a step has brought
        self._promised = math.inf
        self._idle = 0.0  # decrease at hand that is not taken now
        self._waited = 0.0  # the same, times the rounds spent elsewhere since the last step

    def spend(self, rounds: int, only_for_step: int = 0) -> None:
        """Note rounds of the search: how many, and how many of them only the next step needs."""
        self._spent += only_for_step
        if rounds:  # what waits may be without limit, as long as nothing is known of it
            self._waited += rounds * self._idle

    def offer(self, gain: float) -> None:
        """Note the decrease that a step promises now."""
        self._idle = gain

    def refresh_pays(self, gain: float, cost: float, elsewhere: float) -> bool:
        """Whether to measure the gradient of a step for `cost` rounds, given the rate elsewhere."""
        return self._redeemed * gain / (cost + self.overhead) >= elsewhere

    def step_pays(self, gain: float, promise: float, cost: float, rest: float) -> bool:
        """Whether to step, when the next find promises so much for so many rounds, and all finds `rest`."""
        # What is left can be had at this rate at best, over a run that lasts as long again.
        rest = min(rest, (1 + self._ledger.rounds) * promise / cost)
        return self._waited + cost * gain >= self.overhead * rest

    def begin(self, gain: float) -> None:
        """Note what the step that is made next has promised."""
        self._promised = gain

    def stepped(self, rounds: int, change: float) -> None:
        """Note what the trials of a step took and brought."""
        self._waited = 0.0
        self.overhead += 0.2 * (self._spent + rounds - self.overhead)
        self._spent = 0
        self.rate = -change / self.overhead if change < 0.0 else 0.5 * self.rate

    def redeem(self, change: float) -> None:
        """Compare what a step has brought with its promise."""
        self._redeemed += 0.3 * (min(-change / self._promised, 1.0) - self._redeemed)
