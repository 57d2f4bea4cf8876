"""Quantises the weights of a program alone, for `stepwell.quantize`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from ...lazy_dataclass import dataclass
from ...rewrites.quantiser.fit import FittedLayer
from ...rewrites.quantiser.layers import count_elsewhere
from ...rewrites.quantiser.weight_only import WeightOptions, quantize_weights
from ..compile import compile
from ..source import copy_of
from .moments import Array
from .report import LayerReport, QuantizationReport
from .scoring import Metric, Score, decibels, outputs_of, score_of
from .sizes import constant_bytes
from .timing import microseconds_of_both
from .told import warn_of_layers


@dataclass
class WeightsAlone:
    """One run over a program in floats, whose weights become integers of few bits."""

    module: ModuleOp
    entry: str
    options: WeightOptions
    moments: dict[str, Array]
    arguments: list[list[Any]]
    common: dict[str, Any]

    def run(
        self, labels: Sequence[Any] | None, metric: Metric | None, drop: float | None, *, timed: bool
    ) -> tuple[ModuleOp, QuantizationReport]:
        """Returns the program and the report. With `drop`, the layers of the most noise stay in floats."""
        real = compile(self.module, entry=self.entry, **self.common)
        expected = outputs_of(real, self.arguments)
        score = score_of(labels, metric, expected)
        before = score.of(expected)
        options = self.options
        module, layers = self.quantised(options)
        warn_of_layers(layers, self.module, self.entry)
        if drop is not None:
            options = self._fewest_kept(layers, score, before - drop)
        if options is not self.options:
            module, layers = self.quantised(options)
        program = compile(module, entry=self.entry, **self.common)
        found = outputs_of(program, self.arguments)
        report = QuantizationReport(
            layers=tuple(self._reported(layer) for layer in layers),
            score=score.name,
            before=before,
            after=score.of(found),
            decibels=decibels(found, expected),
            elsewhere=count_elsewhere(self.module, self.entry),
            bytes_before=constant_bytes(self.module),
            bytes_after=constant_bytes(module),
        )
        if timed:
            times = microseconds_of_both(real, program, self.arguments[0], self.common["threads"])
            report = replace(report, microseconds_before=times[0], microseconds=times[1])
        return module, report

    def quantised(self, options: WeightOptions) -> tuple[ModuleOp, list[FittedLayer]]:
        """Returns the quantised program and its layers."""
        module = copy_of(self.module)
        return module, quantize_weights(module, self.entry, options, self.moments)

    def _fewest_kept(self, layers: Sequence[FittedLayer], score: Score, wanted: float) -> WeightOptions:
        """Returns the options that keep the fewest layers in floats for a score, the one of the most noise first."""
        noise = {layer.name: layer.decibels for layer in layers if layer.decibels is not None}
        order = sorted(noise, key=noise.__getitem__)
        low, high = 0, len(order)
        while low < high:
            middle = (low + high) // 2
            module, _ = self.quantised(self._keeping(order[:middle]))
            found = outputs_of(compile(module, entry=self.entry, **self.common), self.arguments)
            if score.of(found) >= wanted:
                high = middle
            else:
                low = middle + 1
        return self._keeping(order[:low])

    def _keeping(self, names: Sequence[str]) -> WeightOptions:
        return replace(self.options, keep=(*self.options.keep, *names))

    def _reported(self, layer: FittedLayer) -> LayerReport:
        return LayerReport(
            name=layer.name,
            kind=layer.kind,
            place=layer.place,
            node=layer.node,
            weights=layer.weights,
            quantised=layer.is_quantised,
            decibels=layer.decibels,
            alone=self.options.weights if layer.is_quantised else None,
        )
