"""Fits grids to the values that layers read, and quantises the layers of an entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from ...core.messages.diagnostics import did_you_mean, emit_remark, fail
from ...core.messages.locations import location_string
from ...lazy_dataclass import dataclass
from ..calibration.names import value_names
from ..simplify.eliminate_dead_code import erase_dead_ops
from .bias import correct, correction
from .constants import Constants
from .grids import Grid
from .layers import KINDS, Layer, entry_of, float_layers, is_kept, layers_of, shape_of, source_of
from .observers import observed_grid, outside
from .static import Choice, Quantizer, always_quantized
from .switches import Switches
from .table import Table

NOT_FINITE: Final = "they are not all finite"
"""Why weights stay as they are that have infinities or NaN."""


@dataclass(frozen=True)
class Fit:
    """What is quantised and how. `docs/quantising.md` says what each option means."""

    activations: str = "asymmetric"
    observer: str = "min-max"
    percentile: float = 99.99
    bias_correction: bool = True
    keep: tuple[str, ...] = ()
    keep_kinds: tuple[str, ...] = ()
    switches: bool = False


@dataclass(frozen=True)
class FittedLayer:
    """A layer as it was fitted."""

    name: str
    kind: str
    place: str
    weights: tuple[int, ...]
    """The shape of its weights, of the second operand where both are values."""
    grids: tuple[Grid, ...] = ()
    """The grids of its operands that are values."""
    saturated: float = 0.0
    """The greatest part of the elements of an operand that lies outside of its grid."""
    is_kept: bool = False
    """Options say that it stays in floats."""
    reason: str = ""
    """Why it does so where they do not."""
    widest: float | None = None
    """The greatest magnitude of the elements that it reads."""
    is_quantised: bool = False
    node: str = ""
    """The name of the node of a model, empty where there is none."""
    decibels: float | None = None
    """The ratio of signal to noise of its result, where its weights alone are quantised and moments are known."""


def fit(module: ModuleOp, entry: str, table: Table, options: Fit) -> list[FittedLayer]:
    """Quantises the layers of `@entry` by the statistics of a table. Returns all layers in the order of the program."""
    function = entry_of(module, entry)
    constants = Constants(module)
    layers = float_layers(function, constants)
    check_kept(module, layers, options.keep, options.keep_kinds)
    chosen = [
        layer
        for layer in layers
        if not is_kept(layer, options.keep, options.keep_kinds) and _has_finite_weights(layer, constants)
    ]
    return _Fitting(constants, function, table, options, layers, chosen).run()


def _has_finite_weights(layer: Layer, constants: Constants) -> bool:
    """Returns whether all constant operands are finite, and tells where they are not: no byte stands for those."""
    known = (constants.array(operand) for operand in layer.op.operands[:2])
    if all(array is None or np.isfinite(array).all() for array in known):
        return True
    emit_remark(layer.op, f"the weights of %{layer.name} stay in floats: {NOT_FINITE}")
    return False


def check_kept(module: ModuleOp, layers: Sequence[Layer], keep: Sequence[str], kinds: Sequence[str]) -> None:
    """Raises an error for a pattern that no layer has, and for a kind that no layer can be of."""
    names = [layer.name for layer in layers]
    for pattern in keep:
        if not any(is_kept(layer, [pattern], ()) for layer in layers):
            listed = ", ".join(f"%{name}" for name in names[:6]) + (" …" if names[6:] else "") or "none"
            known = [*names, *(layer.node for layer in layers if layer.node)]
            hint = did_you_mean(pattern.removeprefix("%"), known) or f"its layers are {listed}"
            fail(module, f"no layer is called '{pattern}', which is to be kept in floats", hint=hint)
    for kind in kinds:
        if kind not in KINDS.values():
            known = ", ".join(KINDS.values())
            fail(module, f"'{kind}' is no kind of layer, expected one of {known}")


@dataclass
class _Fitting:
    """One run of `fit`."""

    constants: Constants
    function: func.FuncOp
    table: Table
    options: Fit
    layers: list[Layer]
    chosen: list[Layer]

    def run(self) -> list[FittedLayer]:
        names = value_names(self.function)
        constants = self.constants
        choose = self._choice()
        quantizer = Quantizer(constants, choose)
        fitted: dict[Layer, FittedLayer] = {}
        amounts: dict[Layer, np.ndarray] = {}
        for layer in self.chosen:
            fitted[layer], grids = self._fitted(layer, constants, names)
            amount = self._correction(layer, constants, names, quantizer, grids)
            if amount is not None:
                amounts[layer] = amount
        if not self.options.switches:
            quantizer.quantize_others({layer.op for layer in layers_of(self.function)})
        for layer, amount in amounts.items():
            correct(layer, amount, constants, choose)
        erase_dead_ops(self.function)
        return [fitted.get(layer) or self._left(layer) for layer in self.layers]

    def _left(self, layer: Layer) -> FittedLayer:
        is_left = is_kept(layer, self.options.keep, self.options.keep_kinds)
        return replace(described(layer), is_kept=is_left, reason="" if is_left else NOT_FINITE)

    def _choice(self) -> Choice:
        if not self.options.switches:
            return always_quantized
        switches = Switches(self.function, self.chosen)
        switches.add()
        return switches

    def _fitted(
        self, layer: Layer, constants: Constants, names: dict[SSAValue, str]
    ) -> tuple[FittedLayer, dict[SSAValue, Grid]]:
        """Returns what is known of a layer, and the grids of the values that it reads."""
        grids: dict[SSAValue, Grid] = {}
        saturated = widest = 0.0
        for operand in layer.op.operands[:2]:
            if constants.array(operand) is None:
                source = source_of(operand)
                statistics = self.table.of(source, names[source], layer.op)
                symmetric = self.options.activations == "symmetric"
                grid = observed_grid(statistics, self.options.observer, self.options.percentile, symmetric=symmetric)
                saturated = max(saturated, outside(statistics, grid))
                widest = max(widest, abs(statistics.minimum or 0.0), abs(statistics.maximum or 0.0))
                grids[source] = grid
        found = replace(
            described(layer),
            grids=tuple(grids.values()),
            saturated=saturated,
            widest=widest,
            is_quantised=True,
        )
        return found, grids

    def _correction(
        self,
        layer: Layer,
        constants: Constants,
        names: dict[SSAValue, str],
        quantizer: Quantizer,
        grids: dict[SSAValue, Grid],
    ) -> np.ndarray | None:
        """Quantises a layer. Returns what is to be added to its channels."""
        data, kernel = layer.op.operands[:2]
        quantizer.quantize(layer, grids)
        weights = constants.array(kernel)
        if not self.options.bias_correction or weights is None or constants.array(data) is not None:
            return None
        means = self.table.of(data, names[data], layer.op).channel_means
        error = weights - quantizer.weights[layer]
        return correction(layer, error, np.asarray(means)) if means is not None and error.any() else None


def described(layer: Layer) -> FittedLayer:
    """Returns what is known of a layer that stays in floats."""
    place, weights = location_string(layer.op), shape_of(layer.op.operands[1])
    return FittedLayer(layer.name, layer.kind, place, weights, node=layer.node)
