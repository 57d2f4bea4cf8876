"""The pass `quantize`: a program in floats becomes one with `graph.quantize` and `graph.dequantize`."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...core.messages.diagnostics import Diagnostic, StepwellError
from ...core.passes.base import StepwellPass
from ...lazy_dataclass import dataclass
from .fit import Fit, fit
from .layers import entry_of
from .options import WEIGHTS, check_choice, check_options
from .table import Table
from .weight_only import WeightOptions, quantize_weights, read_moments


@dataclass(frozen=True)
class QuantizePass(StepwellPass):
    """
    Quantises the layers of an entry: with a table of ranges their inputs and weights, without one the weights alone.

    `table` is a file of statistics of the values of the entry (`stepwell-calibrate --values --stats`). Weights get a
    scale for each output channel, inputs one scale, by the `observer`. The result has `graph.quantize` and
    `graph.dequantize` around each layer. `integer-arithmetic` makes products of bytes of that.

    Without a table, `weights` says what the weights become: `int8` or `int4` in blocks of `block` elements, or `f16` or
    `bf16`. Inputs stay in floats. With `zero-points` each block has a zero point of its own. Integers are the nearest
    ones. With `moments`, a file of the second moments of what layers read (`stepwell calibrate --values --moments`),
    each makes up for the errors of those before it, as in GPTQ.

    `keep` names layers that stay in floats by the names of their results, and `keep_kinds` by their ops.
    """

    name = "quantize"

    table: str = ""
    entry: str = "main"
    weights: str = ""
    block: int = 32
    zero_points: bool = False
    moments: str = ""
    activations: str = "asymmetric"
    observer: str = "min-max"
    percentile: float = 99.99
    bias_correction: bool = True
    keep: tuple[str, ...] = ()
    keep_kinds: tuple[str, ...] = ()
    switches: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        self._check()
        entry_of(op, self.entry)
        if self.table:
            fitted = fit(op, self.entry, Table.read(op, self.table, self.entry), self.fit)
            self.count("layers quantised", sum(layer.is_quantised for layer in fitted))
            return
        moments = read_moments(self.moments) if self.moments else None
        layers = quantize_weights(op, self.entry, self.weight_options, moments)
        self.count("layers quantised", sum(layer.is_quantised for layer in layers))

    @property
    def weight_options(self) -> WeightOptions:
        """What the options say about weights alone."""
        return WeightOptions(self.weights, self.block, self.keep, self.keep_kinds, zero_points=self.zero_points)

    @property
    def fit(self) -> Fit:
        """What the options say about layers of bytes."""
        return Fit(
            self.activations,
            self.observer,
            self.percentile,
            self.bias_correction,
            self.keep,
            self.keep_kinds,
            self.switches,
        )

    def _check(self) -> None:
        """Raises an error for options that do not go together, or are not what they may be."""
        check_options(self.fit)
        if self.weights:
            check_choice("weights", self.weights, WEIGHTS)
        elif not self.table:
            message = "quantize: there is neither a table of ranges nor a type for weights alone"
            raise StepwellError(Diagnostic(message, hint='expected table="stats.json" or weights=int8'))
        if self.table and self.moments:
            message = "quantize: there are a table of ranges and second moments, expected one of them"
            raise StepwellError(Diagnostic(message, hint="second moments are for weights alone"))
        if self.table and self.zero_points:
            message = "quantize: there are a table of ranges and zero points of weights, expected one of them"
            raise StepwellError(Diagnostic(message, hint="weights of products of bytes are symmetric"))
        if self.table and self.weights not in ("", "int8"):
            message = f"quantize: weights are {self.weights} and there is a table, but products of bytes have int8"
            raise StepwellError(Diagnostic(message, hint="leave out the table to quantise weights alone"))
