"""The arena of a program as a picture: time from left to right, addresses from top to bottom."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

WIDTH, HEIGHT, MARGIN = 640.0, 200.0, 4.0
FILLS = ("#90caf9", "#a5d6a7", "#ffcc80", "#ce93d8", "#80cbc4", "#ef9a9a")


def memory_svg(buffers: Sequence[tuple[str, int, int, int, int]], arena_bytes: int, steps: int) -> str:
    """
    Returns a rectangle per buffer: its name, the first and the last step that uses it, its offset and its bytes.

    A program without an arena gives a picture that says so.
    """
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH + 2 * MARGIN:.0f} {HEIGHT + 2 * MARGIN:.0f}" '
        f'width="{WIDTH + 2 * MARGIN:.0f}" height="{HEIGHT + 2 * MARGIN:.0f}" font-family="monospace" font-size="11">'
    )
    if not arena_bytes or not buffers:
        return head.replace(f"{HEIGHT + 2 * MARGIN:.0f}", "24") + (
            '<text x="4" y="16" fill="#808080">no buffer lives between two kernels</text></svg>'
        )
    parts = [head, f"<title>arena of {arena_bytes} bytes over {steps} steps</title>"]
    parts.append(f'<rect x="{MARGIN}" y="{MARGIN}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#808080"/>')
    for number, (name, first, last, offset, size) in enumerate(buffers):
        x, y = MARGIN + WIDTH * max(first, 0) / steps, MARGIN + HEIGHT * offset / arena_bytes
        width = WIDTH * (max(last, first, 0) + 1 - max(first, 0)) / steps
        height = HEIGHT * size / arena_bytes
        parts.append(
            f"<g><title>{escape(f'{name}: {size} bytes at {offset}, steps {first} to {last}')}</title>"
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{max(height, 1):.1f}" '
            f'fill="{FILLS[number % len(FILLS)]}" stroke="#546e7a"/>'
        )
        if height >= 12 and width >= 7 * len(name):
            parts.append(f'<text x="{x + 3:.1f}" y="{y + 11:.1f}" fill="#263238">{escape(name)}</text>')
        parts.append("</g>")
    return "\n".join([*parts, "</svg>"])
