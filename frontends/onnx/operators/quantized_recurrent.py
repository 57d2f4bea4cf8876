"""
LSTM with weights of bytes: DynamicQuantizeLSTM of the set `com.microsoft`, which quantize_dynamic makes of LSTM.

Inputs are rounded to bytes by their range, all steps at once, and the state is in each step. The products are those of
bytes. onnxruntime rounds the states of parts of a batch on its own where it has several threads. So its results differ
by steps of that rounding. Source: the operator documentation of onnxruntime, ContribOperators.
"""

from __future__ import annotations

from typing import Any, Final

from ....dialects.graph.shapes import compatible, text
from ....lazy_dataclass import dataclass
from ..emitting.forms import counted
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import extents_of
from ..errors import ConversionError
from ..registry import converter
from ..value import Value
from .quantized import dynamic_quantize_linear
from .quantized_fusions import DOMAIN
from .recurrent import lstm_functions, run_lstm
from .recurrent_layers import Direction, Layer
from .signed_bytes import check_bytes, signed, signed_zero, sums_of

GATES: Final = 4


@dataclass
class QuantisedLayer(Layer):
    """A layer whose W and R are bytes with signs, (input, gates x hidden) and (hidden, gates x hidden)."""

    def of_input(self, x: Value, one: Direction) -> Value:
        return self._of_bytes(x, one.w, *one.others[:3])

    def of_state(self, h: Value, one: Direction) -> Value:
        return self._of_bytes(h, one.r, *one.others[3:])

    def seen(self, state: list[Value], number: Value) -> list[Value]:
        """Sequences that have ended do not count for the range of the state: their outputs are zeros."""
        b = self.b
        goes_on = b.expand_dims(b.less_equal(number, self.lengths), axis=(1,))
        return [b.where(goes_on, state[0], b.full((), 0.0, "f32")), *state[1:]]

    def _of_bytes(self, x: Value, w: Value, scale: Value | None, zero: Value | None, sums: Value | None) -> Value:
        """`x @ ((w - zero) * scale)`, where x is rounded to bytes. `sums` are those of the columns of w."""
        b = self.b
        q, x_scale, x_zero = dynamic_quantize_linear(b, x)
        x_zero = b.astype(x_zero, dtype="i32")
        found = b.subtract(b.matmul(q, w, out_dtype="i32"), b.multiply(x_zero, sums))
        if zero is not None:
            rows = b.subtract(sums_of(b, q, -1), b.multiply(x_zero, b.extent(w, 0, "the weights")))
            found = b.subtract(found, b.multiply(rows, zero))
        return b.multiply(b.astype(found, dtype="f32"), b.multiply(x_scale, scale))


@converter("DynamicQuantizeLSTM", domain=DOMAIN)
def dynamic_quantize_lstm(
    b: GraphBuilder,
    x: Value,
    w: Value,
    r: Value,
    bias: Value | None = None,
    sequence_lens: Value | None = None,
    initial_h: Value | None = None,
    initial_c: Value | None = None,
    peepholes: Value | None = None,
    w_scale: Value | None = None,
    w_zero: Value | None = None,
    r_scale: Value | None = None,
    r_zero: Value | None = None,
    *,
    activations: tuple[str, ...] | None = None,
    activation_alpha: tuple[float, ...] | None = None,
    activation_beta: tuple[float, ...] | None = None,
    clip: float | None = None,
    direction: str = "forward",
    hidden_size: int | None = None,
    input_forget: int = 0,
) -> Any:
    """An LSTM as that of ONNX on `(w - w_zero) * w_scale` and `(r - r_zero) * r_scale`, which are transposed."""
    hidden = _hidden(x, w, r, hidden_size)
    parts = _weights(b, w, "W", hidden, w_scale, w_zero), _weights(b, r, "R", hidden, r_scale, r_zero)
    layer = _layer(b, x, sequence_lens, hidden, clip)
    others = [each for _, *rest in parts for each in rest]
    return run_lstm(
        layer,
        (parts[0][0], parts[1][0], bias, peepholes, *others),
        (initial_h, initial_c),
        direction,
        lstm_functions(activations, activation_alpha, activation_beta),
        input_forget,
    )


def _hidden(x: Value, w: Value, r: Value, hidden_size: int | None) -> int:
    check_bytes(w, r)
    if x.rank != 3 or w.rank != 3 or r.rank != 3 or x.dtype != "f32":
        raise ConversionError(
            f"the input is {x.shaped}, W {w.shaped} and R {r.shaped}, expected rank 3 and an input of f32"
        )
    hidden = r.shape[1]
    if hidden is None or hidden_size not in (None, hidden):
        raise ConversionError(f"hidden_size is {hidden_size}, but R is {r.shaped}")
    for name, value, size in (("W", w, x.shape[2]), ("R", r, hidden)):
        if not compatible(value.shape, (None, size, GATES * hidden)):
            raise ConversionError(f"{name} is {value.shaped}, expected {text((None, size, GATES * hidden))}")
    return hidden


def _weights(
    b: GraphBuilder, weights: Value, name: str, hidden: int, scale: Value | None, zero: Value | None
) -> tuple[Value, Value, Value | None, Value]:
    """Returns weights as bytes with signs, their scale and zero point, and the sums of their columns."""
    if scale is None or zero is None:
        raise ConversionError(f"{name}_{'scale' if scale is None else 'zero_point'} is missing")
    for value, what, dtype in ((scale, "scale", "f32"), (zero, "zero_point", weights.dtype)):
        shapes = (weights.shape[:1], (*weights.shape[:1], GATES * hidden))
        if value.dtype != dtype or not any(compatible(value.shape, shape) for shape in shapes):
            wanted = f"{text(shapes[0])} or {text(shapes[1])} elements of {dtype}"
            raise ConversionError(f"{name}_{what} is {value.shaped}, expected {wanted}")
    as_signed = signed(b, weights)
    return as_signed, scale, signed_zero(b, zero, weights.dtype), sums_of(b, as_signed, -2)


def _layer(b: GraphBuilder, x: Value, lengths: Value | None, hidden: int, clip: float | None) -> Layer:
    """Returns the layer. What comes after the longest sequence does not count for the range of the inputs."""
    if lengths is not None:
        lengths = b.astype(lengths, dtype="i64")
        steps = b.expand_dims(counted(b, 0, extents_of(x)[0]), axis=(1, 2))
        x = b.where(b.less(steps, b.max(lengths)), x, b.full((), 0.0, x.dtype))
    return QuantisedLayer(b, x, GATES, hidden, 0, clip, lengths)
