"""What the quantiser warns of."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp, TensorType

from ...core.ir.walk import walk
from ...core.messages.diagnostics import Diagnostic, DiagnosticWarning
from ...rewrites.quantiser.fit import FittedLayer
from ...rewrites.quantiser.grids import GREATEST_SCALE
from ...rewrites.quantiser.layers import KINDS, entry_of

INTEGERS = ("graph.dequantize", "graph.quantize", "graph.matmul_packed")
"""Ops of programs that are quantised."""


class QuantizationWarning(DiagnosticWarning):
    """A warning about what quantisation could not do."""


def warn_of_layers(layers: Sequence[FittedLayer], module: ModuleOp, entry: str) -> None:
    """Warns where nothing becomes quantised that was not asked to stay, and of layers that read too wide numbers."""
    if not any(layer.is_quantised for layer in layers) and not any(layer.is_kept for layer in layers):
        _warn(f"there is no layer to quantise: {_why_none(layers, module, entry)}")
    for layer in layers:
        if layer.widest is not None and any(grid.scale >= GREATEST_SCALE for grid in layer.grids):
            text = f"%{layer.name} reads numbers of up to {layer.widest:.3g}, more than bytes stand for"
            _warn(text, "scale the data, or keep this layer in floats")


def _warn(text: str, hint: str | None = None) -> None:
    warnings.warn(QuantizationWarning(Diagnostic(text, "warning", hint=hint)), stacklevel=4)


def _why_none(layers: Sequence[FittedLayer], module: ModuleOp, entry: str) -> str:
    """Returns why no layer of a program is quantised."""
    if layers:
        reasons = {layer.reason for layer in layers if layer.reason}
        return f"weights of %{layers[0].name} stay as they are, as {reasons.pop()}" if reasons else "all stay in floats"
    function = entry_of(module, entry)
    own = list(function.body.block.ops)
    if any(op.name in INTEGERS for op in own):
        return "its layers are on integers already"
    kinds = " and ".join(KINDS.values())
    types = {
        str(operand.type.get_element_type())
        for op in own
        if op.name in KINDS
        for operand in op.operands
        if isinstance(operand.type, TensorType)
    }
    if types - {"f32"}:
        return f"its {kinds} are of {', '.join(sorted(types - {'f32'}))}, expected f32"
    if any(op.name in KINDS for op in walk(module)):
        return f"its {kinds} are inside regions and functions, expected some in @{entry} itself"
    return f"@{entry} has no {' or '.join(KINDS.values())}"
