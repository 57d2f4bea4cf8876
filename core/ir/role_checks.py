"""What the arguments of functions say they are for: roles, sizes, weights and arenas (docs/ir.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute, Operation

from ..messages.diagnostics import did_you_mean
from ..roles import AXIS, BYTES, DIMS, KEY, NAME, ROLE, SIGNATURE
from .element_types import byte_size
from .sizes import wrong_dims

ROLES: Final = ("input", "output", "weight", "arena", "size", "stride")

_CALLED: Final = (None, StringAttr("input"), StringAttr("output"))
"""The roles of arguments that callers pass by name."""

BUFFERS: Final = ("input", "output", "weight", "arena")
"""The roles of buffers."""

Attributes = Mapping[str, Attribute]


def wrong_arguments(function: Operation) -> str | None:
    """Returns what is wrong with the name of a function and what it says of its arguments, None when nothing is."""
    name = function.get_attr_or_prop("sym_name")
    if isinstance(name, StringAttr) and not name.data:
        return "the name of the function is empty, and machine code knows functions by name"
    given = function.get_attr_or_prop("arg_attrs")
    types = function.get_attr_or_prop("function_type")
    if not isinstance(given, ArrayAttr) or not isinstance(types, FunctionType):
        return _equal_names(function, ())
    outputs = types.outputs.data if function.name == "tensor_loop.func" else ()
    arguments = (*types.inputs.data, *outputs)
    attributes = [each.data if isinstance(each, DictionaryAttr) else {} for each in given]
    if len(attributes) != len(arguments):
        return None  # Their own verifiers count arguments.
    wrong = _wrong_roles(attributes, arguments, function.attributes.get(SIGNATURE)) or wrong_dims(function)
    return wrong or _equal_names(function, attributes)


def _equal_names(function: Operation, attributes: Sequence[Attributes]) -> str | None:
    """Returns which two arguments or results have one name, by which callers could have one of them only."""
    results = function.get_attr_or_prop("res_attrs")
    of_results = (
        [each.data for each in results if isinstance(each, DictionaryAttr)] if isinstance(results, ArrayAttr) else []
    )
    for what, all_ in (("argument", attributes), ("result", of_results)):
        seen: dict[tuple[Attribute | None, Attribute], int] = {}
        for number, each in enumerate(all_):
            if (name := each.get(NAME)) is not None:
                if not isinstance(name, StringAttr):
                    return f"{what} {number}: '{NAME}' is {name}, expected a text"
                first = seen.setdefault((each.get(ROLE), name), number)
                if first != number and each.get(ROLE) in _CALLED:
                    return f"{what}s {first} and {number} are both called {name}"
    return None


def _wrong_roles(
    attributes: Sequence[Attributes], arguments: Sequence[Attribute], signature: Attribute | None
) -> str | None:
    for number, (each, type_) in enumerate(zip(attributes, arguments, strict=True)):
        if (found := _wrong_dims_attribute(each) or _wrong_role(each, type_)) is not None:
            return f"argument {number}{found}"
    return _wrong_axis(attributes, signature) if isinstance(signature, FunctionType) else None


def _wrong_dims_attribute(each: Attributes) -> str | None:
    names = each.get(DIMS)
    if names is None or (isinstance(names, ArrayAttr) and all(isinstance(name, StringAttr) for name in names)):
        return None
    return f": '{DIMS}' is {names}, expected an array with a text for each dimension"


def _wrong_role(each: Attributes, type_: Attribute) -> str | None:
    role = each.get(ROLE)
    if role is None:
        return None
    if not isinstance(role, StringAttr) or role.data not in ROLES:
        hint = did_you_mean(role.data, ROLES) if isinstance(role, StringAttr) else None
        return f": '{ROLE}' is {role}, {hint or 'expected one of ' + ', '.join(ROLES)}"
    if role.data == "weight" and not isinstance(each.get(KEY), StringAttr):
        return f" is a weight without '{KEY}', its name in the weights file"
    if role.data == "arena":
        return _wrong_arena(each.get(BYTES), type_)
    return None


def _wrong_arena(size: Attribute | None, type_: Attribute) -> str | None:
    if not isinstance(size, IntegerAttr):
        return f" is an arena without '{BYTES}', its size"
    known = not isinstance(type_, MemRefType) or all(extent >= 0 for extent in type_.get_shape())
    if not known or byte_size(type_) > size.value.data:
        return f" is an arena of type {type_}, but '{BYTES}' says {size.value.data} bytes"
    return None


def _wrong_axis(attributes: Sequence[Attributes], signature: FunctionType) -> str | None:
    """Returns what is wrong with the dimensions that sizes and strides are of: those of the tensor before them."""
    left = {"input": iter(signature.inputs.data), "output": iter(signature.outputs.data)}
    tensor: Attribute | None = None
    for number, each in enumerate(attributes):
        role = each.get(ROLE)
        name = role.data if isinstance(role, StringAttr) else ""
        if name in left:
            tensor = next(left[name], None)
        elif name in ("size", "stride") and isinstance(tensor, TensorType):
            axis, rank = each.get(AXIS), len(tensor.get_shape())
            if not isinstance(axis, IntegerAttr) or not 0 <= axis.value.data < rank:
                found = axis.value.data if isinstance(axis, IntegerAttr) else axis
                return f"argument {number} is the {name} of dimension {found} of a {tensor}, expected one below {rank}"
    return None


def signature_of_roles(function: Operation) -> FunctionType | None:
    """Returns a signature read off the buffers of a function whose arguments carry roles, or None without roles."""
    type_ = function.get_attr_or_prop("function_type")
    given = function.get_attr_or_prop("arg_attrs")
    if not isinstance(type_, FunctionType) or not isinstance(given, ArrayAttr):
        return None
    attributes = [each.data if isinstance(each, DictionaryAttr) else {} for each in given]
    by_role: dict[str, list[Attribute]] = {role: [] for role in BUFFERS}
    arguments = (*type_.inputs, *type_.outputs) if function.name == "tensor_loop.func" else type_.inputs
    for argument, found in zip(arguments, attributes, strict=True):
        role = found.get(ROLE)
        if not isinstance(role, StringAttr) or role.data not in by_role or not isinstance(argument, MemRefType):
            return None
        by_role[role.data].append(TensorType(argument.get_element_type(), argument.get_shape()))
    return FunctionType.from_lists(by_role["input"], by_role["output"])


def output_names(function: Operation, count: int) -> list[str]:
    """Returns the names of the `count` results of an entry on tensors: `stepwell.name`, or `result0` …"""
    found = function.get_attr_or_prop("res_attrs")
    given = (
        [dict(each.data) for each in found if isinstance(each, DictionaryAttr)] if isinstance(found, ArrayAttr) else []
    )
    texts = [each.get(NAME) for each in given] + [None] * (count - len(given))
    names = [each.data if isinstance(each, StringAttr) else "" for each in texts[:count]]
    return [name or _free_name(index, names) for index, name in enumerate(names)]


def _free_name(index: int, taken: list[str]) -> str:
    """Returns `result0`, the name of a result without one, or another where a result has been given that one."""
    name = f"result{index}"
    while name in taken:
        name += "_"
    return name


__all__ = ["BUFFERS", "ROLES", "output_names", "signature_of_roles", "wrong_arguments"]
