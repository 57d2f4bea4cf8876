"""Primitives that find blocks and loops: get_block, get_loops, get_producers, get_consumers."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from ...analysis.access_regions import root_buffer
from ...core.messages.diagnostics import closest, fail
from ...dialects.schedule.ops import GetBlockOp, GetConsumersOp, GetLoopsOp, GetProducersOp
from ...dialects.tensor_loop import BlockOp, ForOp, FuncOp
from .nests import blocks_of, function_of, loops_of
from .steps import step


@step(GetBlockOp, name="block_name")
def get_block(name: str, function: str, *, module: ModuleOp) -> BlockOp:
    """
    Finds a block by its name.

    Args:
        name: The name of the block.
        function: The name of the loop function that holds it.

    Legal where the function has a block of that name. The error for an unknown name lists the known ones.

    Before and after, nothing changes:

        block "mm" { B }                                                        get_block("mm", "f")
    """
    functions = [op for op in module.walk() if isinstance(op, FuncOp)]
    found = next((each for each in functions if each.sym_name.data == function), None)
    if found is None:
        known = ", ".join(f"@{each.sym_name.data}" for each in functions) or "none"
        fail(module, f"there is no loop function @{function}; there are: {known}")
    blocks = {block.block_name.data: block for block in blocks_of(found)}
    if name not in blocks:
        known = ", ".join(f'"{each}"' for each in blocks) or "none"
        near = closest(name, blocks)
        fail(
            found,
            f'there is no block "{name}" in @{function}; its blocks are {known}',
            hint=None if near is None else f'did you mean "{near}"?',
        )
    return blocks[name]


@step(GetLoopsOp)
def get_loops(block: BlockOp) -> list[ForOp]:
    """
    Finds the loops around a block, outermost first. A grid around it becomes single loops.

    Args:
        block: The block.

    Legal always.

    Before and after `get_loops("b")`, which returns `%i` and `%j`:

        grid (%i, %j) in (4, 6) { block "b" (%vi = %i, %vj = %j) }
        for %i in 4 { for %j in 6 { block "b" (%vi = %i, %vj = %j) } }
    """
    return loops_of(block)


@step(GetProducersOp)
def get_producers(block: BlockOp) -> list[BlockOp]:
    """
    Finds the blocks of the function that write a buffer that a block reads, in the order of the text.

    Args:
        block: The block that reads. It is not among its own producers.

    Legal always.

    Before and after, nothing changes:

        block "add" { T[vi] = A[vi] + 1 }  block "mul" { C[vi] = T[vi] * 2 }    get_producers("mul") is ["add"]
    """
    read = {root_buffer(region.buffer) for region in block.reads}
    return [
        other
        for other in blocks_of(function_of(block))
        if other is not block and any(root_buffer(region.buffer) in read for region in other.writes)
    ]


@step(GetConsumersOp)
def get_consumers(block: BlockOp) -> list[BlockOp]:
    """
    Finds the blocks of the function that read a buffer that a block writes, in the order of the text.

    Args:
        block: The block that writes. It is not among its own consumers.

    Legal always.

    Before and after, nothing changes:

        block "add" { T[vi] = A[vi] + 1 }  block "mul" { C[vi] = T[vi] * 2 }    get_consumers("add") is ["mul"]
    """
    written = {root_buffer(region.buffer) for region in block.writes}
    return [
        other
        for other in blocks_of(function_of(block))
        if other is not block and any(root_buffer(region.buffer) in written for region in other.reads)
    ]
