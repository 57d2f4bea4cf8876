"""Boxes and lines as SVG, and as a page that can be moved and zoomed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from math import sqrt

from .boxes import Box, Boxes
from .layout import layout

LINE, CHARACTER, PADDING = 15.0, 6.7, 8.0
"""Height of a line of text, width of a character of 11 units, space around the text."""

LONGEST_TEXT = 44

FILL = {"input": "#eceff1", "op": "#ffffff", "group": "#e3f2fd", "result": "#eceff1"}

GROUPS = ("#e3f2fd", "#fff3e0", "#e8f5e9", "#fce4ec", "#ede7f6", "#fffde7", "#e0f7fa", "#efebe9")
"""The colours of the groups of a fusion plan. Groups that follow each other have different ones."""


def svg(boxes: Boxes, title: str) -> str:
    """Returns the picture of `boxes`. Those that have a time are coloured by their share."""
    texts = [_lines(box) for box in boxes.boxes]
    sizes = [_size(lines) for lines in texts]
    placed = layout(sizes, boxes.arrows)
    width, height = max(placed.width, 80.0), max(placed.height, 40.0)
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
            f'height="{height:.0f}">'
        ),
        f"<title>{escape(title)}</title>",
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z" fill="#78909c"/></marker></defs>',
        '<g font-family="monospace" font-size="11" id="all">',
        *(_line(points) for points in placed.lines),
    ]
    for box, lines, (wide, high), x, y in zip(boxes.boxes, texts, sizes, placed.x, placed.y, strict=True):
        parts += _drawn(box, lines, x - wide / 2, y - high / 2, wide, high)
    return "\n".join([*parts, "</g>", "</svg>", ""])


def page(boxes: Boxes, title: str) -> str:
    """The picture as a page of its own: drag to move, turn the wheel to zoom, double click to see all."""
    return _PAGE.replace("TITLE", escape(title)).replace("PICTURE", svg(boxes, title))


def _lines(box: Box) -> list[str]:
    time = [] if box.microseconds is None else [f"{box.microseconds:.1f} µs  {box.share:.1%}"]
    return [_cut(line) for line in (box.title, *box.lines, *time)]


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"


def _size(lines: Sequence[str]) -> tuple[float, float]:
    return max(map(len, lines)) * CHARACTER + 2 * PADDING, len(lines) * LINE + 2 * PADDING


def _line(points: Sequence[tuple[float, float]]) -> str:
    """A curve that leaves and enters boxes vertically."""
    (x, y), *rest = points
    path = [f"M{x:.1f},{y:.1f}"]
    for to_x, to_y in rest:
        middle = (y + to_y) / 2
        path.append(f"C{x:.1f},{middle:.1f} {to_x:.1f},{middle:.1f} {to_x:.1f},{to_y:.1f}")
        x, y = to_x, to_y
    return f'<path d="{" ".join(path)}" fill="none" stroke="#78909c" marker-end="url(#head)"/>'


def _drawn(box: Box, lines: Sequence[str], x: float, y: float, wide: float, high: float) -> Iterator[str]:
    fill = heat(box.share) if box.microseconds is not None else FILL[box.kind]
    if box.microseconds is None and box.group is not None:
        fill = GROUPS[box.group % len(GROUPS)]
    round_ = 10 if box.kind in ("input", "result") else 3
    yield "<g>"
    if box.details:
        yield f"<title>{escape(chr(10).join(box.details))}</title>"
    yield (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" rx="{round_}" fill="{fill}" '
        'stroke="#546e7a"/>'
    )
    for index, line in enumerate(lines):
        weight = ' font-weight="bold"' if index == 0 else ""
        at = y + PADDING + LINE * (index + 0.75)
        yield f'<text x="{x + PADDING:.1f}" y="{at:.1f}"{weight}>{escape(line)}</text>'
    yield "</g>"


def heat(share: float) -> str:
    """Returns white for nothing to red for all of the time. Small shares can still be told apart."""
    strength = sqrt(min(max(share, 0.0), 1.0))
    return f"#ff{round(255 - 170 * strength):02x}{round(255 - 215 * strength):02x}"


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>TITLE</title>
<style>
html, body { margin: 0; height: 100%; overflow: hidden; background: #fafafa; }
svg { width: 100%; height: 100%; cursor: grab; }
</style>
</head>
<body>
PICTURE
<script>
const svg = document.querySelector("svg"), full = svg.getAttribute("viewBox");
svg.removeAttribute("width"); svg.removeAttribute("height");
let box = full.split(" ").map(Number), from = null;
const show = () => svg.setAttribute("viewBox", box.join(" "));
const at = event => {
  const p = svg.createSVGPoint(); p.x = event.clientX; p.y = event.clientY;
  return p.matrixTransform(svg.getScreenCTM().inverse());
};
svg.addEventListener("wheel", event => {
  event.preventDefault();
  const p = at(event), k = event.deltaY > 0 ? 1.15 : 1 / 1.15;
  box = [p.x - (p.x - box[0]) * k, p.y - (p.y - box[1]) * k, box[2] * k, box[3] * k];
  show();
}, { passive: false });
svg.addEventListener("pointerdown", event => { from = at(event); svg.setPointerCapture(event.pointerId); });
svg.addEventListener("pointermove", event => {
  if (from === null) return;
  const p = at(event);
  box[0] += from.x - p.x; box[1] += from.y - p.y;
  show();
});
svg.addEventListener("pointerup", () => { from = null; });
svg.addEventListener("dblclick", () => { box = full.split(" ").map(Number); show(); });
</script>
</body>
</html>
"""
