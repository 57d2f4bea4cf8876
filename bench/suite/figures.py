"""Turns the seconds of rounds into ratios with intervals, shares of the roof, and figures per class."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from .engine import OURS
from .measure import Measurement
from .programs import Case, describe

RESAMPLES = 2000
"""Bootstrap samples of an interval."""

LEAST_CASE = 0.85
"""No single case may be below, whatever the mean of its class."""


@dataclass
class Row:
    """The figures of one case."""

    name: str
    class_: str
    microseconds: dict[str, float]
    variants: dict[str, str]
    trouble: dict[str, str]
    best_peer: str | None = None
    ratio: float | None = None
    interval: tuple[float, float] | None = None
    roof_share: float | None = None
    ceiling: float | None = None
    """The ratio that the roof would allow: the best peer's time over the least time possible."""
    gflops: float | None = None
    peak_gflops: float | None = None
    copy_gbs: float | None = None
    seconds: dict[str, list[float]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def make_row(measurement: Measurement) -> Row:
    """Medians over rounds. The ratio is the median over rounds of best peer / ours, both of the same round."""
    case, seconds = measurement.case, measurement.seconds
    medians = {name: float(np.median(times)) for name, times in seconds.items()}
    row = Row(
        case["name"],
        case["class"],
        {name: value * 1e6 for name, value in medians.items()},
        measurement.variants,
        measurement.trouble,
        seconds=seconds,
    )
    peers = [name for name in medians if name not in (OURS, "roof")]
    if peers and OURS in medians:
        row.best_peer = min(peers, key=lambda name: medians[name])
        ratios = np.array(seconds[row.best_peer]) / np.array(seconds[OURS])
        row.ratio = float(np.median(ratios))
        row.interval = bootstrap(ratios)
    _add_roof(row, case, measurement, medians)
    return row


def _add_roof(row: Row, case: Case, measurement: Measurement, medians: dict[str, float]) -> None:
    """The share of the roof: the least time that FMAs and copies of this round allow, over ours."""
    if "roof" not in medians or OURS not in medians:
        return
    program = describe(case)
    row.peak_gflops = float(np.median(measurement.peak_gflops))
    row.copy_gbs = program.bytes / medians["roof"] / 1e9
    if case["kind"] in ("int8_gemm",) or case.get("op") == "identity":
        return  # the roof is that of f32
    if program.flops:
        row.gflops = program.flops / medians[OURS] / 1e9
    arithmetic = program.flops / (np.array(measurement.peak_gflops) * 1e9)
    least = np.maximum(arithmetic, measurement.seconds["roof"])
    row.roof_share = float(np.median(least / np.array(measurement.seconds[OURS])))
    if row.best_peer is not None:
        row.ceiling = float(np.median(np.array(measurement.seconds[row.best_peer]) / least))


def bootstrap(ratios: Any) -> tuple[float, float]:
    """The 95 % interval of the median (Efron, *Bootstrap methods: another look at the jackknife*, 1979)."""
    random = np.random.default_rng(0)
    samples = random.choice(ratios, (RESAMPLES, len(ratios)))
    low, high = np.percentile(np.median(samples, axis=1), [2.5, 97.5])
    return float(low), float(high)


@dataclass
class ClassFigures:
    """One class: mean and least of its ratios against what the issue asks."""

    name: str
    title: str
    cases: int
    measured: int
    mean: float | None
    least: float | None
    least_case: str | None
    floor: float | None
    goal: float | None
    verdict: str
    ceiling: float | None
    """The geometric mean of what the roof would allow."""


def class_figures(name: str, asked: dict[str, Any], rows: list[Row]) -> ClassFigures:
    """The geometric mean and the least ratio, and a verdict in words."""
    ratios = {row.name: row.ratio for row in rows if row.ratio is not None}
    floor, goal = asked["floor"], asked["goal"]
    ceilings = [row.ceiling for row in rows if row.ceiling is not None]
    worst = min(ratios, key=lambda case: ratios[case]) if ratios else None
    figures = ClassFigures(
        name,
        asked["title"],
        len(rows),
        len(ratios),
        geometric_mean(list(ratios.values())),
        ratios[worst] if worst else None,
        worst,
        floor,
        goal,
        "",
        geometric_mean(ceilings),
    )
    figures.verdict = _verdict(figures, sum(OURS in row.trouble for row in rows))
    return figures


def geometric_mean(values: list[float]) -> float | None:
    """None of nothing."""
    return float(np.exp(np.mean(np.log(values)))) if values else None


def _verdict(figures: ClassFigures, ours_lost: int) -> str:
    """Words: what holds of the floor and the goal."""
    if ours_lost:
        return f"fails: {ours_lost} of our results are missing or wrong"
    if figures.mean is None or figures.least is None:
        return "no peer measured"
    if figures.floor is None or figures.goal is None:
        return "no floor"
    if figures.mean < figures.floor:
        return "below the floor"
    if figures.least < LEAST_CASE:
        return f"fails: {figures.least_case} is below {LEAST_CASE}"
    return "reaches the goal" if figures.mean >= figures.goal else "passes the floor"
