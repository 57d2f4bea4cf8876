"""The report of a quantised program: a table, JSON, a picture and a page."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any, Final

from ...analysis.drawing.html import folded, heading, output, table
from ...analysis.drawing.show import PAGE
from ...core.messages.files import write_file
from ...lazy_dataclass import dataclass
from ..looking.table import table_lines
from .outputs import check_report_name
from .picture import bars

FORMAT: Final = "stepwell-quantisation"


@dataclass(frozen=True)
class LayerReport:
    """One layer. A number that was not measured is None."""

    name: str
    """The name of its result in the program."""
    kind: str
    place: str
    weights: tuple[int, ...]
    """The shape of its weights, or of its second operand."""
    quantised: bool
    scales: tuple[float, ...] = ()
    """The scales of the operands that are computed."""
    zero_points: tuple[int, ...] = ()
    saturated: float = 0.0
    """The part of the elements that it reads which lie outside of the range of the bytes."""
    decibels: float | None = None
    """
    The ratio of signal to noise of the results of the program when this layer alone is quantised. Where only its
    weights are, it is that of the result of the layer.
    """
    alone: str | None = None
    """The type of its weights, `int4` or `f16`, where only these are quantised."""
    microseconds_before: float | None = None
    microseconds: float | None = None
    node: str = ""
    """The name of the node of a model that it comes from, empty where there is none."""

    def __repr__(self) -> str:
        return f"<stepwell.LayerReport %{self.name}: {self.kind} on {self.runs_on}>"

    @property
    def runs_on(self) -> str:
        """What the layer computes with: `bytes`, `floats`, or floats and `int4 weights`."""
        return f"{self.alone} weights" if self.alone else "bytes" if self.quantised else "floats"

    @property
    def saved(self) -> float | None:
        """The microseconds that quantisation saves, with what follows the layer up to the next."""
        if self.microseconds is None or self.microseconds_before is None:
            return None
        return self.microseconds_before - self.microseconds


@dataclass(frozen=True)
class QuantizationReport:
    """What quantisation did to a program. `str` gives it as a table, and `save` writes it."""

    layers: tuple[LayerReport, ...]
    score: str
    """What `before` and `after` count: `accuracy`, `agreement` or `metric`."""
    before: float
    after: float
    decibels: float
    """The ratio of signal to noise of the results."""
    bytes_before: int
    """The size of constants and weights."""
    bytes_after: int
    elsewhere: int = 0
    """Products and convolutions of floats in regions and other functions, which stay as they are."""
    microseconds_before: float | None = None
    microseconds: float | None = None

    @property
    def speedup(self) -> float | None:
        """The time of the program in floats by that of this one."""
        if self.microseconds is None or self.microseconds_before is None:
            return None
        return self.microseconds_before / self.microseconds if self.microseconds else math.inf

    @property
    def summary(self) -> list[tuple[str, str, str]]:
        """The whole program in rows: what is counted, in floats, quantised."""
        rows = [
            ("", "floats", "quantised"),
            (self.score, f"{self.before:.2%}", f"{self.after:.2%}"),
            ("signal to noise", "", _decibels(self.decibels)),
            ("weights", _size(self.bytes_before), f"{_size(self.bytes_after)} ({self._part:.2f} x)"),
        ]
        if self.microseconds is not None and self.microseconds_before is not None:
            speed = f"{self.microseconds:.1f} µs ({self.speedup:.2f} x as fast)"
            rows.append(("time of a run", f"{self.microseconds_before:.1f} µs", speed))
        count = sum(layer.quantised for layer in self.layers)
        rows.append(("layers", str(len(self.layers)), f"{count}"))
        if self.elsewhere:
            rows.append(("products in loops, functions", f"{self.elsewhere}", "0"))
        return rows

    @property
    def _part(self) -> float:
        return self.bytes_after / self.bytes_before if self.bytes_before else 1.0

    def rows(self) -> list[tuple[str, ...]]:
        """The layers in rows, the first of which says what the columns are."""
        rows: list[tuple[str, ...]] = [
            ("layer", "kind", "weights", "runs on", "signal to noise", "saturated", "µs before", "µs", "saved")
        ]
        for layer in self.layers:
            times = (layer.microseconds_before, layer.microseconds, layer.saved)
            rows.append(
                (
                    f"%{layer.name}",
                    layer.kind,
                    "x".join(map(str, layer.weights)),
                    layer.runs_on,
                    "" if layer.decibels is None else _decibels(layer.decibels),
                    f"{layer.saturated:.3%}" if layer.quantised and not layer.alone else "",
                    *("" if each is None else f"{each:.1f}" for each in times),
                )
            )
        return rows

    def __repr__(self) -> str:
        return f"<stepwell.QuantizationReport: {self.score} {self.before:.2%} before, {self.after:.2%} after>"

    def __str__(self) -> str:
        return "\n".join([*table_lines(self.summary, left=1), "", *table_lines(self.rows(), left=4)])

    def _repr_html_(self) -> str:
        json_text = f"<pre>{escape(self.to_json())}</pre>"
        return output(
            heading("Quantisation"),
            table(self.summary),
            self._repr_svg_(),
            heading("Layers"),
            table(self.rows()),
            folded("as JSON", json_text),
        )

    def _repr_svg_(self) -> str:
        shown = [layer for layer in self.layers if layer.decibels is not None]
        texts = [f"%{layer.name}" for layer in shown]
        what = "of the result of each layer" if any(layer.alone for layer in shown) else "with one layer quantised"
        return bars(f"signal to noise {what}, decibels", texts, [layer.decibels or 0 for layer in shown])

    def to_json(self) -> str:
        """Returns the report as JSON. What is infinite is null."""
        data = {"format": FORMAT, "version": 1, **_finite(asdict(self)), "speedup": self.speedup}
        return json.dumps(data, indent=1, allow_nan=False)

    def save(self, path: str | Path) -> None:
        """
        Writes the report: as JSON for `.json`, a page for `.html`, a picture for `.svg`, as a table for `.txt`.

        Raises StepwellError for another name, and when it cannot be written.
        """
        check_report_name(path)
        write_file(path, self.text_for(path))

    def text_for(self, path: str | Path) -> str:
        """Returns what a file with this name is to have."""
        match Path(path).suffix.lower():
            case ".html":
                return PAGE.format(body=self._repr_html_())
            case ".svg":
                return self._repr_svg_()
            case ".json":
                return f"{self.to_json()}\n"
            case _:
                return f"{self}\n"


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def _decibels(value: float) -> str:
    if math.isnan(value):
        return "not defined"
    return "exact" if value == math.inf else f"{value:.1f} dB"


def _size(count: int) -> str:
    return f"{count / 1e6:.2f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB"
