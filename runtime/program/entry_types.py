"""Checks that an entry's buffers are what its signature and its roles promise to callers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from xdsl.dialects.builtin import FunctionType, MemRefType, StridedLayoutAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from ...core.messages.diagnostics import fail
from ...core.roles import AXIS, ROLE, SIGNATURE, TYPE
from ...dialects.graph.calls import is_row_major
from ...lowering.shared.te_types import storage_of
from .describe import argument_attributes, role_of


def check_entry_types(function: Operation) -> None:
    """
    Raises `OperationError` where code of an entry would reach further than the arrays that its signature asks for.

    A buffer has the shape and the element type of its tensor. It is row-major as far as its type knows its strides. A
    signature of a function on tensors is its type. Functions of the llvm dialect are not checked.
    """
    types = function.get_attr_or_prop("function_type")
    if function.name not in ("func.func", "tensor_loop.func") or not isinstance(types, FunctionType):
        return
    given = function.attributes.get(SIGNATURE)
    if given is not None and not isinstance(given, FunctionType):
        fail(function, f"'{SIGNATURE}' is {given}, expected a function type on tensors")
    arguments = [*types.inputs.data, *(types.outputs.data if function.name == "tensor_loop.func" else ())]
    if not any(isinstance(each, MemRefType) for each in arguments):
        if given is not None and given != types and _on_tensors(types):
            fail(function, f"'{SIGNATURE}' is {given}, but the function is of type {types}")
        return
    # Programs on tensors have no accesses, and do without what knows them.
    from ...analysis.ranges.given import calls_that_store_to_given

    if isinstance(function, FuncOp) and (fault := next(calls_that_store_to_given(function), None)) is not None:
        fail(fault.op, fault.message, hint=fault.hint)
    attributes = argument_attributes(function) or [{}] * len(arguments)
    for number, (type_, promised) in enumerate(_promised(function, arguments, attributes, given)):
        if isinstance(type_, MemRefType):
            if AXIS not in (attributes[number + 1] if number + 1 < len(attributes) else {}):
                _check_buffer(function, number, type_, promised)


def _on_tensors(types: FunctionType) -> bool:
    return all(isinstance(each, TensorType) for each in (*types.inputs, *types.outputs))


def _promised(
    function: Operation,
    arguments: list[Attribute],
    attributes: list[dict[str, Attribute]],
    given: FunctionType | None,
) -> Iterator[tuple[Attribute, Attribute | None]]:
    """Yields each argument with the tensor type that callers know it by, None where nothing says one."""
    has_roles = any(ROLE in each for each in attributes)
    if given is None:
        yield from ((type_, each.get(TYPE)) for type_, each in zip(arguments, attributes, strict=True))
        return
    if not has_roles:
        promised = (*given.inputs.data, *given.outputs.data)
        if len(promised) != len(arguments):
            fail(function, f"'{SIGNATURE}' has {len(promised)} types, expected {len(arguments)}, one per argument")
        yield from zip(arguments, promised, strict=True)
        return
    for role, types in (("input", given.inputs.data), ("output", given.outputs.data)):
        count = sum(role_of(each) == role for each in attributes)
        if count != len(types):
            fail(function, f"'{SIGNATURE}' has {len(types)} {role}s, but {count} arguments have that role")
    left = {"input": iter(given.inputs.data), "output": iter(given.outputs.data)}
    for type_, each in zip_longest(arguments, attributes, fillvalue=None):
        assert type_ is not None and each is not None
        role = role_of(each)
        yield type_, next(left[role]) if role in left else each.get(TYPE)


def _check_buffer(function: Operation, number: int, type_: MemRefType, promised: Attribute | None) -> None:
    """Raises `OperationError` where a buffer is not row-major, or not what callers give."""
    if not _is_known_row_major(type_):
        hint = "write strided<[?, …]> for strides that come with each array"
        fail(function, f"argument {number} is a buffer of type {type_}, expected a row-major one", hint=hint)
    if promised is None:
        return
    fits = (
        isinstance(promised, TensorType)
        and tuple(promised.get_shape()) == tuple(type_.get_shape())
        and storage_of(promised.get_element_type()) == storage_of(type_.element_type)
    )
    if not fits:
        what = TYPE if role_of_number(function, number) == "weight" else SIGNATURE
        fail(function, f"argument {number} is a buffer of type {type_}, but '{what}' says {promised}")


def _is_known_row_major(type_: MemRefType) -> bool:
    """Returns whether the strides that a type knows are those of rows for all values of the sizes that it does not."""
    shape = [None if size < 0 else size for size in type_.get_shape()]
    if not is_row_major(type_, shape):
        return False
    strides = type_.layout.get_strides() if isinstance(type_.layout, StridedLayoutAttr) else [None] * len(shape)
    first_unknown = max((axis for axis, size in enumerate(shape) if size is None), default=0)
    return all(strides[axis] is None or shape[axis] == 1 for axis in range(first_unknown))


def role_of_number(function: Operation, number: int) -> str:
    """Returns the role of an argument, empty without one."""
    attributes = argument_attributes(function)
    return role_of(attributes[number]) if attributes else ""
