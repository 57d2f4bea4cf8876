"""The pass `integer-arithmetic`, whose rules are in `integer_arithmetic.mlir`."""

from __future__ import annotations

from typing import Final

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ...core.derived_weights import BYTES
from ...core.ir.element_types import is_small_float
from ...core.ir.walk import walk
from ...core.passes.base import StepwellPass
from ...dialects.traits import constant_kind
from ...lazy_dataclass import dataclass
from ...patterns.language.constants import element_type
from ...patterns.language.functions import is_closed
from ...patterns.running.driver import Driver
from ...patterns.running.selection import selected
from ...te.dtypes import SMALL_INTEGERS, is_float
from ..inference.quantisation import dtype_of
from ..shipped import shipped_rules
from .moves import MOVES

FORMS: Final = ("dequantised", "widened")

STAGES: Final = (
    FORMS,
    ("returned",),
    ("signed", "unsigned"),
    ("integer", "returned"),
    ("packed",),
    ("requantised", "scaled"),
)
"""
What the names of rules begin with. Each stage runs to its end before the next: weights that are dequantised by hand
become like others, what comes back as it was needs no signs, moves part conversions that signs are read from, and
scales stay comparable until products are formed. Weights stay packed where a product of bytes has not taken them.
"""


def _has_other_form(op: Operation) -> bool:
    """Returns whether the rules of the first stage may do something to an op, or to what reads it."""
    if op.name == "graph.dequantize":
        return is_small_float(element_type(op.results[0].type)) or any(
            use.operation.name == "graph.astype" for use in op.results[0].uses
        )
    return op.name == "graph.astype" and _makes_floats_of_integers(op)


def _is_of_integers(op: Operation) -> bool:
    """Returns whether there are rules for an op alone."""
    if op.name == "graph.matmul_packed":
        return is_small_float(element_type(op.results[0].type))
    if op.name == "graph.astype":
        return _is_weight_of_integers(op)
    return op.name in ("graph.quantize", "graph.dequantize")


def _is_weight_of_integers(op: Operation) -> bool:
    """Returns whether integers of at most a byte become floats, and are a constant, a weight, or moved from there."""
    if not _makes_floats_of_integers(op):
        return False
    source = op.operands[0]
    while isinstance(owner := source.owner, Operation) and owner.name in MOVES:
        source = owner.operands[0]
    return isinstance(owner, Operation) and constant_kind(owner) in ("literal", "weight")


def _makes_floats_of_integers(op: Operation) -> bool:
    return dtype_of(op.operands[0]) in (*BYTES, *SMALL_INTEGERS) and is_float(dtype_of(op.results[0]))


@dataclass(frozen=True)
class IntegerArithmeticPass(StepwellPass):
    """
    Computes on integers what is written on floats between `dequantize` and `quantize`.

    Products and convolutions of dequantised bytes become those of the bytes, with sums of 32 bits. Ops that move
    elements move bytes. What comes to be a right operand gets signs and what comes to be a left one loses them. A
    division by a constant scale becomes a product: `quantize` becomes `requantize`, of the sums themselves where they
    have no other use. `numerics="strict"` leaves what is exact, the moves. Fused functions are left alone.

    Before:
        %0 = graph.dequantize %x, %sx, %zx : …
        %1 = graph.dequantize %w, %sw, %zw : …
        %2 = graph.matmul %0, %1 : …
        %3 = graph.quantize %2, %s, %z : …
    After:
        %0 = graph.matmul %x, %w, out_dtype = i32 : …
        %1 = graph.subtract %0, %sums : …
        %2 = graph.requantize %1, %multiplier, %z : …
    """

    name = "integer-arithmetic"

    rules: tuple[str, ...] = ()
    numerics: str = "default"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not (self.rules or self.numerics != "default" or any(map(_is_of_integers, walk(op)))):
            return  # The rules need not even be read.
        chosen = selected(shipped_rules("integer_arithmetic"), self.rules, self.numerics, self.name)
        for stage in STAGES:
            if stage is FORMS and not any(map(_has_other_form, walk(op))):
                continue  # As in what quantisers write for bytes in f32. To look at each op again would take time.
            own = [rule for rule in chosen if rule.name.startswith(stage)]
            Driver(ctx, own, enter=lambda each: not is_closed(each)).run(op)
