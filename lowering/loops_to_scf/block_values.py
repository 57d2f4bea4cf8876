"""Values in the place of those of a loop function, and those that a block computes from its bindings."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from ...analysis.loop_nests import body_ops
from ...core.ir.cloning import clone_op
from ...dialects.tensor_loop import BlockOp, Constraint
from ...dialects.tensor_loop.loops import loop_variable_range
from .loop_nest import AffineScope, LoopNest


class BlockValues:
    """The map `values` from values of the source to values of the target, which `emitter` fills."""

    def __init__(self, emitter: LoopNest, values: dict[SSAValue, SSAValue]):
        self.emitter = emitter
        self.values = values

    def value(self, value: SSAValue) -> SSAValue:
        return self.values.get(value, value)

    def scope(self, op: BlockOp) -> AffineScope:
        """Returns the scope of the bindings and the predicate of `op`, over the values of the loop variables now."""
        operands = [self.value(operand) for operand in op.binding_operands]
        return AffineScope(self.emitter, operands, [loop_variable_range(operand) for operand in op.binding_operands])

    def bind_axes(self, scope: AffineScope, op: BlockOp, positions: Sequence[int]) -> None:
        """Gives the axes at `positions` the values of their bindings."""
        for position in positions:
            axis = op.axes[position]
            value = scope.value(op.binding_exprs[position])
            if value.name_hint is None:
                value.name_hint = axis.name_hint
            self.values[axis] = value

    def predicate(self, scope: AffineScope, constraints: Sequence[Constraint]) -> SSAValue | None:
        """Tests whether all of `constraints` hold. Returns None when there are none."""
        conditions = [self.emitter.compare("slt", scope.value(expr), bound) for expr, bound in constraints]
        return self.emitter.fold(arith.AndIOp, conditions)

    def spatial_axes(self, op: BlockOp) -> list[int]:
        return [position for position, kind in enumerate(op.kinds) if kind == "spatial"]

    def emit_init(self, op: BlockOp) -> None:
        """Emits the ops of the init. The spatial axes have values."""
        assert op.init is not None
        values = dict(self.values)
        for nested in body_ops(op.init.body.block):
            self.emitter.add(clone_op(nested, values))

    def extent_value(self, op: BlockOp, position: int) -> SSAValue:
        extent = op.extents[position]
        return self.emitter.extent(extent if isinstance(extent, int) else self.value(extent))
