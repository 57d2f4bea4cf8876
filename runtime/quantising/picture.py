"""Bars, one under the other, as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import isfinite
from typing import Final

ROW: Final = 18
LEFT: Final = 200
WIDE: Final = 420
LOW: Final = 20.0
"""Numbers of at most this are red: they are the layers to look at."""


def bars(title: str, names: Sequence[str], numbers: Sequence[float]) -> str:
    """Returns SVG of a bar for each number. One that is infinite has the whole length."""
    finite = [each for each in numbers if isfinite(each)]
    greatest = max([*finite, 1.0])
    parts = [f'<text x="4" y="14" font-weight="bold">{escape(title)}</text>']
    for row, (name, number) in enumerate(zip(names, numbers, strict=True)):
        y = 26 + row * ROW
        share = number / greatest if isfinite(number) else 1.0
        colour = "#d9534f" if number <= LOW else "#2f7fc1"
        text = f"{number:.1f}" if isfinite(number) else "exact" if number > 0 else "not defined"
        parts += [
            f'<text x="{LEFT - 8}" y="{y + 12}" text-anchor="end">{escape(_cut(name))}</text>',
            f'<rect x="{LEFT}" y="{y + 2}" width="{max(1.0, WIDE * share):.1f}" height="{ROW - 5}" fill="{colour}"/>',
            f'<text x="{LEFT + max(1.0, WIDE * share) + 6:.1f}" y="{y + 12}">{text}</text>',
        ]
    size = f'width="{LEFT + WIDE + 60}" height="{34 + len(names) * ROW}"'
    style = 'font-family="sans-serif" font-size="11" fill="currentColor"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>{"".join(parts)}</svg>'


def _cut(text: str) -> str:
    return text if len(text) <= 30 else f"{text[:29]}…"
