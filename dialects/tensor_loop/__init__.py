"""
The tensor_loop dialect: loop functions, loops, blocks, buffers. Grammar and examples are in docs/ir.md.

Building a function from Python:

    func = FuncOp.create_named("relu", [buffer_type], [buffer_type], ["A", "B"], visibility="private")
    (A,), (B,) = func.inputs, func.outputs

    def body(block: Block, axes: Sequence[SSAValue]) -> None:
        x = memref.LoadOp.get(A, axes)
        ...
        block.add_ops([x, ..., memref.StoreOp.get(y, B, axes)])

    nest = perfect_grid("relu", [Axis("spatial", 128, "vi"), Axis("spatial", n, "vj")], body)
    func.body.block.insert_op_before(nest, func.body.block.last_op)

`nest` is `tensor_loop.grid (%i, %j) in (128, %n)` around a block bound one to one, with its reads and writes inferred.
`build_block` makes the block alone. After changing the body of a block call `block.refresh_regions()`.

A block has `block.axes`, `.kinds`, `.extents`, `.binding_exprs` over `.binding_operands`, `.constraints`, `.reads`,
`.writes` and `.init`. A loop has `loop.variables`, `.extents` and `.kinds`, and a function has `func.inputs` and
`.outputs`.
"""

from xdsl.ir import Dialect

from .block import BlockOp, InitOp
from .builders import Axis, build_block, perfect_grid
from .function import AllocOp, CallOp, FuncOp
from .loops import LOOP_KINDS, ForOp, GridOp, LoopOp
from .regions import BufferRegion
from .syntax import Constraint, Extent
from .terminators import YieldOp

TensorLoop = Dialect("tensor_loop", [AllocOp, BlockOp, CallOp, ForOp, FuncOp, GridOp, InitOp, YieldOp], [])
"""The dialect as xDSL loads it."""

__all__ = [
    "AllocOp",
    "Axis",
    "BlockOp",
    "BufferRegion",
    "CallOp",
    "Constraint",
    "Extent",
    "ForOp",
    "FuncOp",
    "GridOp",
    "InitOp",
    "LOOP_KINDS",
    "LoopOp",
    "TensorLoop",
    "YieldOp",
    "build_block",
    "perfect_grid",
]
