"""The sizes of the arrays of a call to an entry that is compiled for all sizes."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..errors import ArgumentError
from .description import Argument

# The few programs of unknown sizes need what is imported in functions.
if TYPE_CHECKING:
    from xdsl.ir import Attribute

    from ...core.ir.sizes import NamedSizes

SEPARATOR: Final = "\n"
"""Stands between the entries of `stepwell.dims` in the key of an argument. Names may hold commas."""


def dims_key(attributes: Mapping[str, Attribute]) -> str:
    """Returns `stepwell.dims` of an argument as the key that `Argument` keeps, empty without names."""
    from ...core.ir.sizes import entries_of

    return SEPARATOR.join(entries_of(attributes))


def entries_of_key(argument: Argument) -> tuple[str, ...]:
    """Returns an entry of `stepwell.dims` per dimension of an array, empty ones where it has none."""
    if not argument.key:
        return ("",) * len(argument.type.shape)
    return tuple(argument.key.split(SEPARATOR))


def sizes_of_call(arguments: Sequence[Argument], arrays: Sequence[Any]) -> NamedSizes:
    """
    Returns the sizes by name of dimension, as the arrays for the first of the `arguments` give them.

    Raises ArgumentError where one name has two sizes, or an array has another size than is computed for it.
    """
    from ...core.ir.sizes import NamedSizes, SizeError

    sizes = NamedSizes()
    given = [
        (entries_of_key(argument), array.shape if isinstance(array, np.ndarray) else (), argument.name)
        for argument, array in zip(arguments, arrays, strict=False)
    ]
    try:
        for entries, shape, name in given:
            sizes.bind(entries, shape, lambda _, name=name: f" in '{name}'")
        for entries, shape, name in given:
            sizes.check(entries, shape, lambda axis, name=name: f" of dimension {axis} in '{name}'")
    except SizeError as error:
        raise ArgumentError(str(error)) from None
    return sizes


def shape_of_result(output: Argument, sizes: NamedSizes) -> tuple[int, ...]:
    """Returns the shape of a result. Raises ArgumentError where it does not follow from the sizes of a call."""
    from ...core.ir.sizes import SizeError

    known: list[int] = []
    for axis, (entry, dim) in enumerate(zip(entries_of_key(output), output.type.shape, strict=True)):
        try:
            size = sizes.size(entry) if dim is None and entry else dim
        except SizeError as error:
            raise ArgumentError(f"result '{output.name}', dimension {axis}: {error}") from None
        if size is None:
            raise ArgumentError(
                f"the size of result '{output.name}' ({output.type}) does not follow from names of dimensions; "
                "give arrays for the results to run_into, or name the dimensions with stepwell.dims"
            )
        known.append(size)
    return tuple(known)


def has_readable_strides(array: np.ndarray[Any, Any], handed_over: Container[int]) -> bool:
    """
    Returns whether native code can use an array in place that gets the strides of the axes `handed_over` with it.

    It takes the other strides for those of rows, and all of them in elements.
    """
    expected = array.itemsize
    for axis in reversed(range(array.ndim)):
        size, stride = array.shape[axis], array.strides[axis]
        if stride % array.itemsize or (axis not in handed_over and size > 1 and stride != expected):
            return False
        expected *= size
    return bool(array.flags.aligned)


def overlaps_itself(array: np.ndarray[Any, Any]) -> bool:
    """Returns whether two elements of an array may share memory. That is so where an axis does not step over others."""
    reach = array.itemsize
    for stride, size in sorted((abs(stride), size) for stride, size in zip(array.strides, array.shape, strict=True)):
        if size > 1 and stride < reach:
            return array.size > 0
        reach += (size - 1) * stride
    return False
