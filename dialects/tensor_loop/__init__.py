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

Reading one: `block.axes`, `.kinds`, `.extents`, `.binding_exprs` over `.binding_operands`, `.constraints`, `.reads`,
`.writes`, `.init`; `loop.variables`, `.extents`, `.kinds`; `func.inputs`, `.outputs`.
"""

from xdsl.ir import Dialect

from .block import BlockOp as BlockOp
from .block import Constraint as Constraint
from .block import InitOp as InitOp
from .builders import Axis as Axis
from .builders import build_block as build_block
from .builders import perfect_grid as perfect_grid
from .function import AllocOp as AllocOp
from .function import CallOp as CallOp
from .function import FuncOp as FuncOp
from .loops import LOOP_KINDS as LOOP_KINDS
from .loops import ForOp as ForOp
from .loops import GridOp as GridOp
from .loops import LoopOp as LoopOp
from .regions import BufferRegion as BufferRegion
from .syntax import Extent as Extent
from .terminators import YieldOp as YieldOp

TensorLoop = Dialect(
    "tensor_loop",
    [AllocOp, BlockOp, CallOp, ForOp, FuncOp, GridOp, InitOp, YieldOp],
    [],
)
