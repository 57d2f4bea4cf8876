"""
The loops of scatters: a copy of the operand, then one update after the other.

A dimension along which two updates never meet at one element becomes a spatial axis. The others, which run over the
indices, become reduce axes, whose iterations run in order.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from ...core.roles import WRITTEN
from ...te import dtypes
from .templates import block_head, buffer, copy_grid, element, static


def scatter_elements_loops(op: Operation) -> str:
    """
    Returns the loop function of `graph.scatter_elements`. Updates meet at one element only along the dimension `axis`.
    """
    shape, dtype = static(op.operands[0])
    places, index_dtype = static(op.operands[1])
    axis = op.properties["axis"].value.data % len(shape)  # pyright: ignore[reportAttributeAccessIssue]
    head, axes = block_head(places, "scatter", [number == axis for number in range(len(places))])
    at = ", ".join(axes)
    target = [f"%p{number}" if number == axis else name for number, name in enumerate(axes)]
    body = [
        f"%i{axis} = memref.load %indices[{at}] : {buffer(places, index_dtype)}",
        *position_lines(axis, shape[axis], index_dtype, op.name),
        f"%u = memref.load %updates[{at}] : {buffer(places, dtype)}",
    ]
    return _function(op, shape, dtype, head, body, target)


def scatter_nd_loops(op: Operation) -> str:
    """Returns the loop function of `graph.scatter_nd`. Updates never meet along dimensions that have no index."""
    shape, dtype = static(op.operands[0])
    tuples, index_dtype = static(op.operands[1])
    width, places = tuples[-1], tuples[:-1]
    extents = (*places, *shape[width:])
    head, axes = block_head(extents, "scatter", [number < len(places) for number in range(len(extents))])
    at, rest = axes[: len(places)], axes[len(places) :]
    body: list[str] = []
    for number in range(width):
        place = ", ".join([*at, f"%k{number}"])
        body += [
            f"%k{number} = arith.constant {number} : index",
            f"%i{number} = memref.load %indices[{place}] : {buffer(tuples, index_dtype)}",
            *position_lines(number, shape[number], index_dtype, op.name),
        ]
    body.append(f"%u = memref.load %updates[{', '.join(axes)}] : {buffer(extents, dtype)}")
    target = [*(f"%p{number}" for number in range(width)), *rest]
    return _function(op, shape, dtype, head, body, target)


def _function(
    op: Operation,
    shape: tuple[int, ...],
    dtype: str,
    head: Sequence[str],
    body: Sequence[str],
    target: Sequence[str],
) -> str:
    indices = buffer(*static(op.operands[1]))
    updates = buffer(*static(op.operands[2]))
    whole = buffer(shape, dtype)
    reduction = op.properties["reduction"].data  # pyright: ignore[reportAttributeAccessIssue]
    place = f"%y[{', '.join(target)}] : {whole}"
    lines = [
        f"tensor_loop.func @scatter(%x: {whole}, %indices: {indices}, %updates: {updates}) outs(%y: {whole})",
        f"attributes {{{WRITTEN}}} {{",
        *copy_grid("%x", "%y", shape, dtype),
        *head,
        *body,
        *_stored(reduction, dtype, place),
        "} } }",
    ]
    return "\n".join(lines)


def position_lines(number: int, size: int, dtype: str, op: str) -> list[str]:
    """
    Returns the text of `%p<number>`, the position among `size` that the index `%i<number>` means.

    The program fails when there is no such position.
    """
    i, p, n = f"%i{number}", f"%p{number}", f"%n{number}"
    if dtype == "ui64":
        wide = [f"{p} = arith.index_cast {i} : i64 to index"]  # an index from 2 ** 63 on turns negative
    elif dtypes.is_unsigned(dtype):
        wide = [
            f"{p}_wide = arith.extui {i} : {element(dtype)} to i64",
            f"{p} = arith.index_cast {p}_wide : i64 to index",
        ]
    else:
        wide = [
            f"{p}_raw = arith.index_cast {i} : {element(dtype)} to index",
            f"{p}_zero = arith.constant 0 : index",
            f"{p}_back = arith.cmpi slt, {p}_raw, {p}_zero : index",
            f"{p}_end = arith.addi {p}_raw, {n} : index",
            f"{p} = arith.select {p}_back, {p}_end, {p}_raw : index",
        ]
    return [
        f"{n} = arith.constant {size} : index",
        *wide,
        f"{p}_inside = arith.cmpi ult, {p}, {n} : index",
        f'cf.assert {p}_inside, "{op}: index out of range"',
    ]


def _stored(reduction: str, dtype: str, place: str) -> list[str]:
    """Returns the text that stores the update `%u` at `place`, combined with the element that is there."""
    if reduction == "none":
        return [f"memref.store %u, {place}"]
    sign = "u" if dtypes.is_unsigned(dtype) else "s"
    floats = {"add": "addf", "multiply": "mulf", "maximum": "maximumf", "minimum": "minimumf"}
    integers = {"add": "addi", "multiply": "muli", "maximum": f"max{sign}i", "minimum": f"min{sign}i"}
    function = (floats if dtypes.is_float(dtype) else integers)[reduction]
    return [
        f"%old = memref.load {place}",
        f"%new = arith.{function} %old, %u : {element(dtype)}",
        f"memref.store %new, {place}",
    ]
