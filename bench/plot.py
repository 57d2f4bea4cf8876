"""
Draws the ratios of a run, one bar per case with its interval, by class, on a logarithmic axis. The suffix chooses SVG
or PNG.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from suite.arguments import existing_file, figures_in, picture

COLOURS = {"ahead": "#2c7a51", "tie": "#8a8f98", "behind": "#b4552d"}
"""By whether ours is faster; differences under 5 % are ties."""

TIE = 0.05

TICKS = (0.01, 0.03, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32)
"""Of the axis of ratios, as far as there are any near them."""


def colour(ratio: float) -> str:
    if abs(ratio - 1) < TIE:
        return COLOURS["tie"]
    return COLOURS["ahead" if ratio > 1 else "behind"]


def draw(result: dict[str, Any], path: Path) -> None:
    """Writes the picture. Ends the program without matplotlib or when nothing was measured."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        matplotlib.rcParams |= {
            "svg.fonttype": "none",
            "svg.hashsalt": "ratios",
        }  # text as text, the same every time
        from matplotlib import pyplot
    except ImportError:
        sys.exit("plots need matplotlib: pip install matplotlib")
    order = [class_["name"] for class_ in result["classes"]]
    rows = [row for row in result["cases"] if row["ratio"] is not None]
    rows.sort(key=lambda row: order.index(row["class_"]))
    if not rows:
        sys.exit("no case has a ratio to draw")
    figure, axis = pyplot.subplots(figsize=(9, 1 + 0.18 * len(rows)))
    _draw_bars(axis, rows)
    _name_classes(axis, rows, {class_["name"]: class_["floor"] for class_ in result["classes"]})
    axis.set_xlabel("time of the best peer / ours (right of 1: ours is faster), 95 % interval; dotted: the floor")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(figure)


def _draw_bars(axis: Any, rows: list[dict[str, Any]]) -> None:
    """One bar per case, from 1, with its interval."""
    positions = list(range(len(rows)))
    ratios = [row["ratio"] for row in rows]
    low, high = zip(*(row["interval"] for row in rows), strict=True)
    spread = [
        [ratio - bound for ratio, bound in zip(ratios, low, strict=True)],
        [bound - ratio for ratio, bound in zip(ratios, high, strict=True)],
    ]
    axis.barh(positions, [ratio - 1 for ratio in ratios], left=1, color=list(map(colour, ratios)), height=0.7)
    axis.errorbar(ratios, positions, xerr=spread, fmt="none", ecolor="black", elinewidth=0.8)
    axis.set_xscale("log")
    axis.axvline(1, color="black", linewidth=0.8)
    ticks = [tick for tick in TICKS if min(ratios) / 2 < tick < 2 * max(ratios)]
    axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.minorticks_off()
    axis.set_yticks(positions, [f"{row['name']}  [{row['best_peer']}]" for row in rows], fontsize=6)
    axis.set_ylim(len(rows) - 0.5, -0.5)


def _name_classes(axis: Any, rows: list[dict[str, Any]], floors: dict[str, float | None]) -> None:
    """A line between classes, their names at the right border, and a mark at the floor of each."""
    for index, row in enumerate(rows):
        if (floor := floors[row["class_"]]) is not None:
            axis.plot([floor, floor], [index - 0.5, index + 0.5], color="#3a5fa8", linewidth=0.8, linestyle=":")
        if index == 0 or rows[index - 1]["class_"] != row["class_"]:
            axis.axhline(index - 0.5, color="#c8ccd2", linewidth=0.6)
            axis.text(1.01, index, row["class_"], transform=axis.get_yaxis_transform(), fontsize=6, va="center")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("json", type=existing_file, help="what kernels.py --json wrote")
    parser.add_argument("picture", type=picture)
    options = parser.parse_args()
    draw(figures_in(options.json, "machine"), options.picture)


if __name__ == "__main__":
    main()
