"""
The form in which properties of ops are compared: absent ones have their default, and equal meanings are equal.

An op of a class with the methods `normal_properties()` and `normal_property(name, value)` gives its own form, as graph
ops do. Printing is not concerned: what was written is what is printed.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from xdsl.ir import Attribute, Operation
from xdsl.irdl import IRDLOperation


def normal_properties(op: Operation) -> Mapping[str, Attribute]:
    """Returns the properties of `op` in the form in which they are compared."""
    own = getattr(op, "normal_properties", None)
    return with_defaults(op) if own is None else own()


def normal_property(op: Operation, name: str, value: Any) -> Any:
    """Returns the normal form of `value`, an attribute or a plain Python value, as property `name` of `op`."""
    own = getattr(op, "normal_property", None)
    return value if own is None else own(name, value)


def with_defaults(op: Operation) -> Mapping[str, Attribute]:
    """Returns the properties of `op`, where absent ones have their default."""
    defaults = _defaults(op.__class__)
    for name in defaults:
        if name not in op.properties:
            return {**defaults, **op.properties}
    return op.properties


@cache
def _defaults(kind: type[Operation]) -> dict[str, Attribute]:
    if not issubclass(kind, IRDLOperation):
        return {}
    properties = kind.get_irdl_definition().properties
    return {name: each.default_value for name, each in properties.items() if each.default_value is not None}
