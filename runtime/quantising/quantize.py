"""`stepwell.quantize`: from a program in floats and batches of data to one whose layers compute on bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from ...core.passes.pipelines import run_pipeline
from ...core.text.parsing import make_context
from ...lazy_dataclass import dataclass
from ...rewrites.calibration.statistics import VALUES, StatisticsOptions
from ...rewrites.constants.externalize_weights import side_car
from ...rewrites.quantiser.constants import Constants
from ...rewrites.quantiser.fit import Fit, FittedLayer, fit
from ...rewrites.quantiser.layers import count_elsewhere, entry_of, float_layers, layers_of
from ...rewrites.quantiser.options import DEFAULTS, check_options, check_together
from ...rewrites.quantiser.table import Table
from ...rewrites.quantiser.weight_only import WeightOptions
from ..calibration.batches import arguments_of, in_batch, kept_batches
from ..calibration.values import calibrate_values, inputs_of, module_of
from ..compile import compile
from ..errors import ArgumentError
from ..executable import Executable
from ..source import copy_of
from .moments import input_moments
from .quantized import Quantized
from .report import LayerReport, QuantizationReport
from .scoring import Batches, Metric, Outputs, Score, decibels, outputs_of, score_of
from .sizes import constant_bytes
from .switched import SwitchedProgram, fewest_kept, worst_first
from .timing import microseconds_of_both, microseconds_of_layers
from .told import QuantizationWarning, warn_of_layers
from .weights_alone import WeightsAlone

PREPARE = "prepare-quantize"
"""The pipeline that folds constants and norms into weights, before the layers are looked at."""


def quantize(
    module_or_path: ModuleOp | str | Path,
    batches: Mapping[str, Any] | Iterable[Mapping[str, Any]],
    *,
    labels: Sequence[Any] | None = None,
    evaluation: Mapping[str, Any] | Iterable[Mapping[str, Any]] | None = None,
    metric: Metric | None = None,
    drop: float | None = None,
    observer: str = "min-max",
    percentile: float = 99.99,
    activations: str = "asymmetric",
    equalise: bool = True,
    bias_correction: bool = True,
    keep: str | Sequence[str] = (),
    keep_kinds: str | Sequence[str] = (),
    weights: str | None = None,
    block: int = 32,
    zero_points: bool = False,
    compensate: bool = True,
    entry: str = "main",
    bins: int = 2048,
    timed: bool = True,
    threads: int | None = None,
    cache: bool = True,
) -> Quantized:
    """
    Quantises the layers of a program, by the values that flow through them on batches of data.

    Layers compute on bytes. With `weights` they compute on floats, and only their weights are integers, which
    `graph.matmul_packed` reads as they are. That is for large products of few rows, whose time is that of reading them.

    Args:
        module_or_path: A module, which is not changed, a path (`.mlir`, `.onnx`), or program text.
        batches: Arrays by the names of the arguments, as in `stepwell.calibrate`: a dictionary for each batch, or one.
        evaluation: The batches that results are counted on. When None, they are `batches`.
        labels: For each batch of `evaluation` an array of class numbers. Without them the results are compared with
            those of the program in floats.
        metric: Counts in place of accuracy and agreement: from a list with the results of each batch, and the labels
            or else the results in floats, to a number from 0 to 1.
        drop: How much lower than in floats the count may be, 0.01 for one percent. Where it is lower, the layers that
            harm the results most stay in floats, as few as are enough.
        observer: `min-max`, `moving-average`, `percentile` (of `percentile` percent), `entropy` or `mse`.
        activations: `asymmetric`, or `symmetric` with zero points of 0.
        equalise: Whether factors move between layers in a row before, which changes no result in floats.
        bias_correction: Whether biases make up for what rounding the weights adds to the mean.
        keep: Names of layers that stay in floats, those of their results. They may have `*`, `?` and `[…]`.
        keep_kinds: Kinds of layers that stay in floats, `matmul` and `conv2d`.
        weights: `int8`, `int4`, `f16` or `bf16`, for weights alone. Activations, observers, equalisation and
            correction of biases cannot be chosen then.
        block: The inputs of an output that share a scale in weights alone, a power of 2 of at least 16.
        zero_points: Whether each of these blocks has a zero point of its own, for weights that are not around 0.
        compensate: Whether each weight that is rounded makes up for the errors of those before it, as in GPTQ.
        timed: Whether the report has times.

    Raises ArgumentError for batches or labels that do not fit, and StepwellError for options that do not.
    """
    keep, keep_kinds = ([each] if isinstance(each, str) else each for each in (keep, keep_kinds))
    options = Fit(activations, observer, percentile, bias_correction, tuple(keep), tuple(keep_kinds))
    check_options(options)
    given = {"observer": observer, "percentile": percentile, "activations": activations}
    given |= {"equalise": equalise, "bias_correction": bias_correction}
    given |= {"block": block, "zero_points": zero_points, "compensate": compensate}
    check_together(weights, {name for name, value in given.items() if value != DEFAULTS[name]}, observer)
    alone = None
    if weights is not None:
        alone = WeightOptions(weights, block, tuple(keep), tuple(keep_kinds), compensate, zero_points)
        alone.check()
    if isinstance(bins, bool) or not isinstance(bins, int) or bins < 4:
        raise ArgumentError(f"bins is {bins!r}, expected a number of at least 4")
    if drop is not None and (isinstance(drop, bool) or not isinstance(drop, int | float) or not 0 <= drop <= 1):
        raise ArgumentError(f"drop is {drop!r}, expected a part of 1, such as 0.01")
    tested = kept_batches(batches if evaluation is None else evaluation)
    data = tested if evaluation is None else batches
    module = prepared(module_or_path, entry, equalise=equalise and alone is None)
    sources = _files_of(module_or_path, module)
    common = {"threads": threads, "cache": cache}
    if alone is not None:
        moments = input_moments(module, data, entry=entry, **common)
        run = WeightsAlone(module, entry, alone, moments, _arguments(module, entry, tested), common)
        return Quantized(*run.run(labels, metric, drop, timed=timed), entry, sources)
    statistics = calibrate_values(module, data, statistics=StatisticsOptions(bins), entry=entry, **common)
    table = Table("of these batches", entry, statistics[entry][VALUES])
    found = _Quantizing(module, entry, table, options, _arguments(module, entry, tested), common)
    return Quantized(*found.run(labels, metric, drop, timed=timed), entry, sources)


def prepared(module_or_path: ModuleOp | str | Path, entry: str, *, equalise: bool) -> ModuleOp:
    """Returns a copy of a program whose norms are part of its weights, and whose layers are equalised if asked for."""
    module = module_of(module_or_path)
    equalising = f',equalize-layers{{entry="{entry}"}}' if equalise else ""
    run_pipeline(make_context(), module, PREPARE + equalising)
    return module


def _files_of(program: ModuleOp | str | Path, module: ModuleOp) -> tuple[Path, ...]:
    """Returns the files of a program in floats: its text where it is a path, and its weights."""
    is_path = not isinstance(program, ModuleOp) and "\n" not in str(program)
    weights = side_car(module)
    return (*([Path(str(program))] if is_path else []), *([] if weights is None else [weights]))


def _arguments(module: ModuleOp, entry: str, batches: Batches) -> list[list[Any]]:
    """Returns the arguments of each batch in order."""
    inputs = inputs_of(entry_of(module, entry))
    found: list[list[Any]] = []
    for number, batch in enumerate(batches, 1):
        with in_batch(number):
            found.append(arguments_of(entry, inputs, batch))
    return found


@dataclass
class _Quantizing:
    """One run of `quantize`."""

    module: ModuleOp
    """The program in floats."""
    entry: str
    table: Table
    options: Fit
    arguments: list[list[Any]]
    common: dict[str, Any]

    def run(
        self, labels: Sequence[Any] | None, metric: Metric | None, drop: float | None, *, timed: bool
    ) -> tuple[ModuleOp, QuantizationReport]:
        real = compile(self.module, entry=self.entry, **self.common)
        expected = outputs_of(real, self.arguments)
        score = score_of(labels, metric, expected)
        before = score.of(expected)
        options, noise = self.options, dict[str, float]()
        _, layers = self._fitted(options)
        warn_of_layers(layers, self.module, self.entry)
        if any(layer.is_quantised for layer in layers):
            switched = SwitchedProgram(self.module, self.entry, self.table, options, self.arguments, self.common)
            noise = switched.decibels_of_each(expected)
            if drop is not None:
                kept = fewest_kept(switched, noise, score, before - drop)
                options = self._kept_on_trial(options, worst_first(noise), kept, score, before - drop)
        module, layers = self._fitted(options)
        program = compile(module, entry=self.entry, **self.common)
        found = outputs_of(program, self.arguments)
        report = QuantizationReport(
            layers=tuple(_reported(layer, noise) for layer in layers),
            score=score.name,
            before=before,
            after=score.of(found),
            decibels=decibels(found, expected),
            elsewhere=count_elsewhere(self.module, self.entry),
            bytes_before=constant_bytes(self.module),
            bytes_after=constant_bytes(module),
        )
        return module, self._timed(report, real, program, module) if timed else report

    def _fitted(self, options: Fit) -> tuple[ModuleOp, list[FittedLayer]]:
        module = copy_of(self.module)
        return module, fit(module, self.entry, self.table, options)

    def _kept_on_trial(self, options: Fit, names: Sequence[str], kept: int, score: Score, wanted: float) -> Fit:
        """
        Returns the options that keep the first `kept` of the layers `names` in floats, and more where it takes more.

        The program with switches has other roundings than the one that is made, so that is tried.
        """
        for count in range(kept, len(names) + 1):
            tried = replace(options, keep=(*options.keep, *names[:count]))
            module, _ = self._fitted(tried)
            found = outputs_of(compile(module, entry=self.entry, **self.common), self.arguments)
            if score.of(found) >= wanted:
                return tried
        return replace(options, keep=(*options.keep, *names))

    def _timed(
        self, report: QuantizationReport, real: Executable, program: Executable, module: ModuleOp
    ) -> QuantizationReport:
        arrays = self.arguments[0]
        before, after = microseconds_of_both(real, program, arrays, self.common["threads"])
        measured = [
            microseconds_of_layers(each, self.entry, arrays, threads=self.common["threads"])
            for each in (self.module, module)
        ]
        function = entry_of(self.module, self.entry)
        reported = {layer.op for layer in float_layers(function, Constants(self.module))}
        places = [place for place, layer in enumerate(layers_of(function)) if layer.op in reported]
        layers = tuple(
            replace(layer, microseconds_before=measured[0][place], microseconds=measured[1][place])
            for layer, place in zip(report.layers, places, strict=True)
        )
        return replace(report, layers=layers, microseconds_before=before, microseconds=after)


def _reported(layer: FittedLayer, noise: Mapping[str, float]) -> LayerReport:
    return LayerReport(
        name=layer.name,
        kind=layer.kind,
        place=layer.place,
        node=layer.node,
        weights=layer.weights,
        quantised=layer.is_quantised,
        scales=tuple(grid.scale for grid in layer.grids),
        zero_points=tuple(grid.zero_point for grid in layer.grids),
        saturated=layer.saturated,
        decibels=noise.get(layer.name),
    )


__all__ = ["Outputs", "QuantizationWarning", "Quantized", "prepared", "quantize"]
