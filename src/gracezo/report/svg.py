"""Line charts as SVG, drawn here: no script, no font, no colour of their own that a page could not change.

A chart is one `<svg>` that scales with its place. Classes (`axis`, `grid`, `line a`, `dot`) let a page colour
it; without a page, `currentColor` and one blue do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise

import numpy as np

from gracezo.core.types import FloatArray

_LOG_FROM = 30.0  # a logarithmic axis where the largest value is so many times the least
_TINY = 1e-290
_MARGIN = 0.06  # of half the span, free at both ends
_INK = {"a": "#2a6fdb", "b": "#d9622b"}


@dataclass(frozen=True, eq=False)
class Line:
    """A curve: where and how it is drawn, and what it is called."""

    x: FloatArray
    y: FloatArray
    label: str = ""
    kind: str = "a"  # of the two inks
    stairs: bool = False
    dots: bool = False


@dataclass(frozen=True, eq=False)
class Chart:
    """What a picture shows; `svg` draws it.

    Attributes
    ----------
    title, x_label, y_label
        Its words; the title is for screen readers too.
    lines
        The curves.
    width, height
        Of its own coordinates; on the page it takes the width that it is given.
    """

    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    width: int = 460
    height: int = 240
    seconds: bool = field(default=False)  # whether x is a time

    def svg(self) -> str:
        """Return the picture."""
        drawn = [line for line in self.lines if len(line.x)]
        if not drawn:
            return ""
        left, right, top, bottom = 74.0, 12.0, 10.0, 42.0
        across = Scale.over([line.x for line in drawn], left, self.width - right, log=False)
        up = Scale.over([line.y for line in drawn], self.height - bottom, top)
        parts = [
            f'<svg viewBox="0 0 {self.width} {self.height}" role="img" class="chart" '
            f'xmlns="http://www.w3.org/2000/svg" font-family="system-ui, sans-serif" font-size="13">'
            f"<title>{escape(self.title)}</title>"
        ]
        for place, text in up.marks(5):
            parts.append(
                f'<path class="grid" d="M{left:g} {place:.1f}H{self.width - right:g}" stroke="currentColor" '
                f'stroke-opacity=".15"/><text class="axis" x="{left - 8:g}" y="{place + 4:.1f}" '
                f'text-anchor="end" fill="currentColor">{text}</text>'
            )
        for place, text in across.marks(5, seconds=self.seconds):
            parts.append(
                f'<text class="axis" x="{place:.1f}" y="{self.height - bottom + 18:g}" text-anchor="middle" '
                f'fill="currentColor">{text}</text>'
            )
        middle = (left + self.width - right) / 2
        parts.append(
            f'<text class="axis" x="{middle:g}" y="{self.height - 4}" text-anchor="middle" '
            f'fill="currentColor">{escape(self.x_label)}</text>'
            f'<text class="axis" x="{-(top + self.height - bottom) / 2:g}" y="13" text-anchor="middle" '
            f'transform="rotate(-90)" fill="currentColor">{escape(self.y_label)}</text>'
        )
        parts += [_curve(line, across, up) for line in drawn]
        return "".join(parts) + "</svg>"


@dataclass(frozen=True)
class Scale:
    """From numbers to places."""

    low: float
    high: float
    start: float
    end: float
    log: bool

    @classmethod
    def over(cls, values: Sequence[FloatArray], start: float, end: float, log: bool | None = None) -> Scale:
        """Return the scale that has room for all these; logarithmic, if not said, where they span much."""
        low = min(float(part.min()) for part in values)
        high = max(float(part.max()) for part in values)
        log = low > 0.0 and high / low >= _LOG_FROM if log is None else log
        if high / 2 - low / 2 <= 1e-14 * abs(low) + _TINY:  # nothing to tell apart: room to both sides
            room, largest = (abs(low) if abs(low) > _TINY else 1.0) * 0.5, float(np.finfo(np.float64).max)
            low, high = max(low - room, -largest), min(high + room, largest)
            log = False
        elif not log:
            room = (high / 2 - low / 2) * _MARGIN
            low, high = low - room, high + room
        return cls(low, high, start, end, log)

    def __call__(self, values: FloatArray) -> FloatArray:
        """Return the places of these values."""
        low, high = self.low, self.high
        if self.log:
            values, low, high = np.log10(values), math.log10(low), math.log10(high)
        share = values / 2 - low / 2, high / 2 - low / 2  # halves, lest the span overflows
        places: FloatArray = self.start + share[0] / share[1] * (self.end - self.start)
        return places

    def marks(self, count: int, *, seconds: bool = False) -> list[tuple[float, str]]:
        """Return some places with round numbers, and the numbers."""
        ticks = _decades(self.low, self.high, count) if self.log else []
        if len(ticks) < 2:
            ticks = _round_numbers(self.low, self.high, count)
        say = duration if seconds else _tick
        return [(float(place), say(tick)) for place, tick in zip(self(np.array(ticks)), ticks, strict=True)]


def thinned(x: FloatArray, y: FloatArray, most: int = 400) -> tuple[FloatArray, FloatArray]:
    """Return about 2·`most` points that draw the same picture: of each stretch the least and the largest.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(10_000.0)
    >>> thin = thinned(x, np.sin(x))
    >>> len(thin[0]) < 900, thin[0][[0, -1]].tolist()
    (True, [0.0, 9999.0])
    """
    if len(x) <= 2 * most:
        return x, y
    edges = np.linspace(0, len(x), most + 1).astype(np.int64)
    keep = {0, len(x) - 1}
    for start, stop in pairwise(edges.tolist()):
        keep |= {start + int(y[start:stop].argmin()), start + int(y[start:stop].argmax())}
    rows = np.array(sorted(keep))
    return x[rows], y[rows]


def _curve(line: Line, across: Scale, up: Scale) -> str:
    x, y = thinned(line.x, line.y)
    places, heights = across(x), up(y)
    ink = _INK[line.kind]
    if line.dots:
        marks = "".join(f"M{px:.1f} {py:.1f}h0" for px, py in zip(places, heights, strict=True))
        path = f'<path class="dots {line.kind}" d="{marks}" stroke-width="5" stroke-linecap="round"'
    else:
        join = "H{0:.1f}V{1:.1f}" if line.stairs else "L{0:.1f} {1:.1f}"
        steps = "".join(join.format(px, py) for px, py in zip(places[1:], heights[1:], strict=True))
        path = (
            f'<path class="line {line.kind}" d="M{places[0]:.1f} {heights[0]:.1f}{steps}" stroke-width="2" '
            f'stroke-linejoin="round"'
        )
    return f'{path} fill="none" stroke="{ink}"><title>{escape(line.label)}</title></path>'


def _round_numbers(low: float, high: float, count: int) -> list[float]:
    """Return about `count` round numbers from `low` to `high`."""
    span = high / count - low / count
    if not (span > 0.0 and math.isfinite(span)):
        return [low]
    power = 10.0 ** math.floor(math.log10(span))
    step = next((m * power for m in (1, 2, 5, 10) if m * power >= span), 10 * power)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [i * step for i in range(first, min(last, first + 20) + 1)] or [low]


def _decades(low: float, high: float, count: int) -> list[float]:
    """Return powers of ten from `low` to `high`, not many more than `count`; of few, also 2 and 5 times."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    if last - first < 2:
        between = [m * 10.0**power for power in range(first - 1, last + 1) for m in (1, 2, 5)]
        return [tick for tick in between if low <= tick <= high]
    stride = max(1, math.ceil((last - first + 1) / (count + 1)))
    return [10.0**power for power in range(first, last + 1, stride) if 10.0**power > 0.0]


def _tick(value: float) -> str:
    size = abs(value)
    if value == round(value) and size < 1e6:
        return f"{value:,.0f}"
    return f"{value:.4g}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")


def duration(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    for unit, length in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.3g} s"
