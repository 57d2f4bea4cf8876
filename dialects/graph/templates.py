"""What ops with loop templates (`LoopTemplate`) write their text with."""

from __future__ import annotations

from xdsl.ir import SSAValue

from .shapes import Shaped
from .signature import shaped_of


def static(value: SSAValue, what: str = "the operand") -> tuple[tuple[int, ...], str]:
    """Shape and element type of an operand or result of static shape."""
    shaped = shaped_of(value.type, what)
    return tuple(dim for dim in shaped.shape if dim is not None), shaped.dtype


def element(dtype: str) -> str:
    """The element type in buffers: integers have no sign there."""
    return dtype.replace("ui", "i")


def buffer(shape: tuple[int, ...], dtype: str) -> str:
    """The type of a buffer: `memref<4x8xf32>`."""
    return f"memref<{Shaped(shape, element(dtype)).__str__()[len('tensor<') :]}"


def is_float(dtype: str) -> bool:
    """Whether elements are floats."""
    return dtype.startswith(("f", "bf"))


def grid(shape: tuple[int, ...], name: str, prefix: str = "i") -> tuple[str, str, list[str]]:
    """
    The heads of a grid over `shape` and of its block, for a body that is closed with `} }`, and the names of the axes in the body.

    A shape of rank 0 has one turn.
    """
    extents = shape or (1,)
    loops = [f"%{prefix}{number}" for number in range(len(extents))]
    axes = [f"%v{prefix}{number}" for number in range(len(extents))]
    head = f"tensor_loop.grid ({', '.join(loops)}) in ({', '.join(map(str, extents))}) {{"
    bound = ", ".join(
        f"{axis} in {extent} = {loop}" for axis, extent, loop in zip(axes, extents, loops, strict=True)
    )
    return head, f'tensor_loop.block "{name}" spatial({bound})', axes if shape else []
