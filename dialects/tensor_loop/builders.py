"""Builds loop functions from Python. The package docstring has an example."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr

from ...lazy_dataclass import dataclass
from .block import BlockOp, InitOp
from .loops import GridOp
from .syntax import Extent

Fill = Callable[[Block, Sequence[SSAValue]], None]
"""Adds ops to the end of a block, given the axes. No terminator is needed."""


@dataclass(frozen=True)
class Axis:
    """An axis to be made. `kind` is `spatial` or `reduce`, and `name` becomes its name in the text."""

    kind: str
    extent: Extent
    name: str | None = None


def build_block(
    name: str,
    axes: Sequence[Axis],
    bindings: Sequence[SSAValue],
    body: Fill,
    init: Fill | None = None,
) -> BlockOp:
    """
    Makes a block whose axes have the values of `bindings`. These are any `index` values, as a rule loop variables.

    `body` and `init` are called once with the block to fill and the axes. `reads` and `writes` follow from the ops that
    they put there. For affine bindings or a predicate use `BlockOp(...)`.
    """
    block = Block(arg_types=[IndexType()] * len(axes))
    for argument, axis in zip(block.args, axes, strict=True):
        argument.name_hint = axis.name
    if init is not None:
        init_block = Block()
        init(init_block, block.args)
        block.add_op(InitOp(Region(init_block)))
    body(block, block.args)
    operands = list(dict.fromkeys(bindings))
    return BlockOp(
        name,
        [axis.kind for axis in axes],
        [axis.extent for axis in axes],
        [AffineDimExpr(operands.index(value)) for value in bindings],
        operands,
        Region(block),
    )


def perfect_grid(
    name: str,
    axes: Sequence[Axis],
    body: Fill,
    init: Fill | None = None,
) -> Operation:
    """
    Makes a grid with one loop per axis around a block bound one to one, or the bare block when there are no axes.

    The loop variable of axis `vi` is called `i`. That of an axis without the `v` has the name of the axis.
    """
    if not axes:
        return build_block(name, axes, (), body, init)
    grid = GridOp([axis.extent for axis in axes], [_loop_name(axis.name) for axis in axes])
    block = build_block(name, axes, grid.variables, body, init)
    terminator = grid.body.block.last_op
    assert terminator is not None
    grid.body.block.insert_op_before(block, terminator)
    return grid


def _loop_name(axis_name: str | None) -> str | None:
    if axis_name is None or len(axis_name) < 2 or not axis_name.startswith("v"):
        return axis_name
    return axis_name[1:]
