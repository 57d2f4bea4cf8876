"""Pieces of text with which ops with loop templates (`LoopTemplate`) write their loops."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ...te.dtypes import TABLE
from .shapes import Shaped
from .signature import shaped_of


def static(value: SSAValue, what: str = "the operand") -> tuple[tuple[int, ...], str]:
    """Returns the shape and element type of an operand or result of static shape."""
    shaped = shaped_of(value.type, what)
    return tuple(dim for dim in shaped.shape if dim is not None), shaped.dtype


def element(dtype: str) -> str:
    """Returns the element type in buffers. Integers have no sign there, and `i1` and `i4` take a byte."""
    return TABLE[dtype].storage


def buffer(shape: tuple[int, ...], dtype: str) -> str:
    """Returns the type of a buffer: `memref<4x8xf32>`."""
    return f"memref<{Shaped(shape, element(dtype)).__str__()[len('tensor<') :]}"


def grid(shape: tuple[int, ...], name: str, prefix: str = "i") -> tuple[str, str, list[str]]:
    """
    Returns the heads of a grid over `shape` and of its block, and the names of the axes in the body.

    The body is closed with `} }`. A shape of rank 0 has one iteration.
    """
    extents = shape or (1,)
    loops = [f"%{prefix}{number}" for number in range(len(extents))]
    axes = [f"%v{prefix}{number}" for number in range(len(extents))]
    head = f"tensor_loop.grid ({', '.join(loops)}) in ({', '.join(map(str, extents))}) {{"
    bound = ", ".join(f"{axis} in {extent} = {loop}" for axis, extent, loop in zip(axes, extents, loops, strict=True))
    return head, f'tensor_loop.block "{name}" spatial({bound})', axes if shape else []


def block_head(shape: tuple[int, ...], name: str, reduced: Sequence[bool]) -> tuple[list[str], list[str]]:
    """
    Returns both heads of `grid` as lines, and the names of the axes.

    An axis for which `reduced` holds is a reduce axis, whose iterations run in order.
    """
    extents = shape or (1,)
    kinds = ["reduce" if each else "spatial" for each in (reduced if shape else (False,))]
    loops = ", ".join(f"%l{number}" for number in range(len(extents)))
    bound = " ".join(
        f"{kind}(%v{number} in {extent} = %l{number})"
        for number, (kind, extent) in enumerate(zip(kinds, extents, strict=True))
    )
    head = [
        f"tensor_loop.grid ({loops}) in ({', '.join(map(str, extents))}) {{",
        f'tensor_loop.block "{name}" {bound} {{',
    ]
    return head, [f"%v{number}" for number in range(len(shape))]


def copy_grid(source: str, target: str, shape: tuple[int, ...], dtype: str) -> list[str]:
    """Returns the lines of a grid that copies a buffer."""
    head, axes = block_head(shape, "copy", [False] * len(shape))
    at, type_ = ", ".join(axes), buffer(shape, dtype)
    return [
        *head,
        f"%copied = memref.load {source}[{at}] : {type_}",
        f"memref.store %copied, {target}[{at}] : {type_}",
        "} }",
    ]
