"""The pass `zero-subnormals`."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation, OpResult, SSAValue

from ...core.ir.element_types import dtype_name
from ...core.messages.locations import copy_location
from ...core.passes.base import StepwellPass
from ...dialects.graph.base import plain_properties
from ...dialects.graph.binary import AddOp
from ...dialects.graph.comparison import LessOp, WhereOp
from ...dialects.graph.constants import ConstantOp, FullOp, WeightOp
from ...dialects.graph.contraction import Conv2dOp
from ...dialects.graph.elementwise import AbsOp
from ...dialects.graph.normalisation import BiasAddOp
from ...lazy_dataclass import dataclass
from ...patterns.language.functions import is_primitive
from ...patterns.running.driver import program_order
from ...te.dtypes import LEAST_NORMAL


@dataclass(frozen=True)
class ZeroSubnormalsPass(StepwellPass):
    """
    Replaces subnormal numbers by zeros in constants that are added, and in constant filters of grouped convolutions.

    Processors are slow with subnormal numbers, and the sums and products of a layer reach those after it: a channel
    whose filter and bias have decayed makes subnormal images. The filters of other convolutions and products get their
    layout before the program runs, by `prepack-weights`, which does the same. Sums change by less than 2**-126
    (2**-1022 for f64). Weights of a side-car are cleaned when the program is loaded.

    This is no rule, because it depends on the elements of a constant.

    Before:
        %b = graph.constant dense<[1.0, 1.0e-40]> : tensor<2xf32>
        %y = graph.add %x, %b : …
    After:
        %c = graph.constant dense<[1.0, 0.0]> : tensor<2xf32>
        %y = graph.add %x, %c : …
    """

    name = "zero-subnormals"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        cleaned: dict[SSAValue, SSAValue | None] = {}
        for user in program_order(op):
            function = user.parent_op()
            if function is not None and is_primitive(function):
                continue
            for index in _places(user):
                value = user.operands[index]
                if value not in cleaned:
                    cleaned[value] = _cleaned(value)
                new = cleaned[value]
                if new is not None:
                    user.operands[index] = new
                    self.count("constants cleaned")


def _places(op: Operation) -> tuple[int, ...]:
    """Returns the numbers of the operands of an op that may be cleaned."""
    if isinstance(op, AddOp | BiasAddOp):
        return (0, 1)
    return (1,) if isinstance(op, Conv2dOp) and plain_properties(op)["groups"] > 1 else ()


def _cleaned(value: SSAValue) -> SSAValue | None:
    """Makes a constant or weight without subnormal numbers, after the old one. Returns `None` where nothing changes."""
    if not isinstance(value, OpResult) or not isinstance(value.type, TensorType):
        return None
    least = LEAST_NORMAL.get(dtype_name(value.type.element_type) or "")
    op = value.op
    if least is None:
        return None
    if isinstance(op, ConstantOp):
        made = _cleaned_constant(op, value.type, least)
    elif isinstance(op, WeightOp) and any(isinstance(use.operation, Conv2dOp) for use in value.uses):
        made = _cleaned_weight(value, least)
    else:
        return None
    for each in made:
        copy_location(op, each)
    assert op.parent is not None
    op.parent.insert_ops_after(made, op)
    return made[-1].results[0] if made else None


def _cleaned_constant(op: ConstantOp, type_: TensorType, least: float) -> list[Operation]:
    import numpy as np

    from .constant_values import array_of, constant_of

    array = array_of(op)
    small = (np.abs(array) < least) & (array != 0)
    return [constant_of(np.where(small, array.dtype.type(0), array), type_)] if small.any() else []


def _cleaned_weight(value: OpResult, least: float) -> list[Operation]:
    """Makes `where(abs(w) < least, 0, w)`, which `fold-constant` moves to a prepare function."""
    assert isinstance(value.type, TensorType)
    scalar = TensorType(value.type.element_type, [])
    size = AbsOp(value)
    bound, zero = FullOp(least, scalar), FullOp(0.0, scalar)
    small = LessOp(size.results[0], bound.results[0])
    return [size, bound, zero, small, WhereOp(small.results[0], zero.results[0], value)]
