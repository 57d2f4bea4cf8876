"""Numbers, lists and arrays as operands of ops that a builder makes: they become constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import FileLineColLoc, TensorType
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...core.ir.element_types import dtype_name
from ...te import dtypes
from .base import TensorOp
from .constants import ConstantOp
from .element_types import class_members, class_text
from .literals import dense_of_bytes
from .places import fail_at
from .shapes import Shaped
from .signature import operand_names

DEFAULTS = {float: ("f32", "f64"), int: ("i64", "i32"), bool: ("i1",)}
"""The element types that a number of Python has where no other operand says one, the first that the op takes."""


def operands_of(
    op_type: type[TensorOp], given: Sequence[Any], where: FileLineColLoc
) -> tuple[list[SSAValue], list[Operation]]:
    """
    Returns the values of operands and the constants among them.

    A number or an array has the element type of the other operands of its group. Raises BuilderError for one whose
    value would change, and for what is neither.
    """
    try:
        named = operand_names(op_type, len(given))
    except VerifyException as error:
        fail_at(where, f"'{op_type.name}': {error}")
    known: dict[str, str] = {}
    for each, (_, constraint) in zip(given, named, strict=True):
        if isinstance(each, SSAValue | Operation) and (dtype := _dtype_of(each)) is not None:
            known.setdefault(constraint.group, dtype)
    values: list[SSAValue] = []
    made: list[Operation] = []
    for each, (name, constraint) in zip(given, named, strict=True):
        if not isinstance(each, SSAValue | Operation):
            subject = f"'{op_type.name}': {name}"
            each = constant_of(each, known.get(constraint.group), constraint.classes, subject, where)
            made.append(each)
        values.append(SSAValue.get(each))
    return values, made


def _dtype_of(value: SSAValue | Operation) -> str | None:
    type_ = value.type if isinstance(value, SSAValue) else value.results[0].type if value.results else None
    return dtype_name(type_.element_type) if isinstance(type_, TensorType) else None


def constant_of(value: Any, dtype: str | None, classes: str, subject: str, where: FileLineColLoc) -> ConstantOp:
    """
    Returns the constant op of a number, a list of numbers or an array.

    `dtype` is the element type to have, None for that of the array, or the default of its numbers among `classes`.
    """
    import numpy as np

    is_array = isinstance(value, np.ndarray | np.generic)
    try:
        array = np.asarray(value)
    except ValueError as error:
        fail_at(where, f"{subject} is no array: {error}")
    if array.dtype.kind == "O" or array.dtype.kind in "USMmV" and dtypes.of_numpy(array.dtype.name) is None:
        fail_at(where, f"{subject} is {shown_operand(value)}, expected a value, a number or an array")
    if dtype is None:
        dtype = dtypes.of_numpy(array.dtype.name) if is_array else _default(array.dtype.kind, classes)
        if dtype is None:
            fail_at(where, f"{subject} has dtype {array.dtype.name}, expected {class_text(classes)}")
    stored = _converted(array, dtype, is_array, subject, where)
    return ConstantOp(dense_of_bytes(stored.tobytes("C"), Shaped(tuple(stored.shape), dtype)))


def _default(kind: str, classes: str) -> str | None:
    python = {"b": bool, "i": int, "u": int}.get(kind, float)
    allowed = class_members(classes)
    order = [*DEFAULTS[python], *(DEFAULTS[float] if python is int else ())]
    return next((each for each in order if each in allowed), None)


def _converted(array: Any, dtype: str, is_array: bool, subject: str, where: FileLineColLoc) -> Any:
    """Returns `array` as one of `dtype`. A number of Python is rounded to a float type, an array has to fit."""
    import numpy as np

    if array.dtype.kind == "b" and dtype != "i1":
        fail_at(where, f"{subject} is a truth value, expected {dtype}", f"builder.astype(…, '{dtype}') converts one")
    if array.dtype.kind == "c":
        fail_at(where, f"{subject} is {_number(array)}, expected a real number")
    with np.errstate(all="ignore"):
        stored = array.astype(dtypes.numpy_dtype(dtype))
        back = stored.astype(array.dtype)
    changed = not np.array_equal(back, array, equal_nan=array.dtype.kind == "f")
    if dtypes.is_float(dtype):
        # A number of Python is rounded, but a finite one stays finite, and an infinity one.
        kept = (np.array_equal(test(stored), test(array)) for test in (np.isfinite, np.isnan))
        changed = changed and is_array or not all(kept)
    else:
        # An integer of the same width but with a sign, or without one, has the same bits.
        changed = changed or not np.array_equal(stored < 0, array < 0)
    if changed:
        text = _number(array)
        name = dtypes.numpy_dtype(dtype).name
        hint = f"array.astype(numpy.{name}) rounds it" if is_array else "builder.astype converts the other operand"
        fail_at(where, f"{subject} is {text}, which {dtype} cannot hold", hint)
    return stored.astype(stored.dtype.newbyteorder("<"))


def _number(array: Any) -> str:
    return shown_operand(array.item() if array.ndim == 0 else array)


def shown_operand(value: Any) -> str:
    """Returns what messages say of something that was given as an operand."""
    shape = getattr(value, "shape", ())
    if shape:
        return f"an array of {value.dtype.name} and shape {tuple(shape)}"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
