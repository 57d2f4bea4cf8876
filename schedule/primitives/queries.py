"""Primitives that find blocks and loops: get_block, get_producers, get_consumers (and `nests.loops_of`)."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from ...analysis.access_regions import root_buffer
from ...core.diagnostics import closest, fail
from ...dialects.tensor_loop import BlockOp, FuncOp
from .nests import blocks_of, function_of


def get_block(module: ModuleOp, function: str, name: str) -> BlockOp:
    """The block of that name in that loop function; an unknown name is an error that lists the known ones."""
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


def get_producers(block: BlockOp) -> list[BlockOp]:
    """The blocks of the function that write a buffer that `block` reads, in order of the text; not itself."""
    read = {root_buffer(region.buffer) for region in block.reads}
    return [
        other
        for other in blocks_of(function_of(block))
        if other is not block and any(root_buffer(region.buffer) in read for region in other.writes)
    ]


def get_consumers(block: BlockOp) -> list[BlockOp]:
    """The blocks of the function that read a buffer that `block` writes, in order of the text; not itself."""
    written = {root_buffer(region.buffer) for region in block.writes}
    return [
        other
        for other in blocks_of(function_of(block))
        if other is not block and any(root_buffer(region.buffer) in written for region in other.reads)
    ]
