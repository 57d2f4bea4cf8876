"""
What values, constants and attributes are, and the tests of them that docs/rewrites.md names: for `slow_matcher.py`.
"""

from __future__ import annotations

import struct
from typing import Any

from stepwell.core.ir.normal_form import normal_property
from stepwell.patterns.language import constraints as c
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    ContainerType,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ShapedType,
    StringAttr,
)
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.irdl import IRDLOperation

CONSTANTS = ("graph.constant", "graph.full", "arith.constant")
LEAVES = (*CONSTANTS, "graph.weight")
CALLEES = {"func.call": "func.func", "graph.call_kernel": "tensor_loop.func"}


def op_name(value: SSAValue) -> str | None:
    return value.op.name if isinstance(value, OpResult) else None


def attribute_of(op: Operation, name: str) -> Attribute | None:
    """A property, an attribute, or the default of a property that is absent."""
    if name in op.properties:
        return op.properties[name]
    if name in op.attributes:
        return op.attributes[name]
    definition = op.get_irdl_definition().properties.get(name, None) if isinstance(op, IRDLOperation) else None
    return None if definition is None else definition.default_value


def says(found: Attribute | None, wanted: Any) -> bool:
    """Whether an attribute says what is wanted: numbers and lists by what they say, whatever their width."""
    if found is None or wanted is None:
        return found is None and wanted is None
    return _meaning(found) == _meaning(wanted) or (
        isinstance(wanted, str) and not isinstance(found, StringAttr) and str(found) == wanted
    )


def has(op: Operation, name: str, wanted: Any) -> bool:
    """Whether a property or attribute says what is wanted, as it stands or in the normal form that it has on the op."""
    found = attribute_of(op, name)
    return says(found, wanted) or says(normal_property(op, name, found), normal_property(op, name, wanted))


def _meaning(value: Any) -> object:
    match value:
        case IntegerAttr():
            one_bit = isinstance(value.type, IntegerType) and value.type.width.data == 1
            return "integer", value.value.data % 2 if one_bit else value.value.data
        case bool() | int():
            return "integer", int(value)
        case FloatAttr():
            return "float", struct.pack(">d", value.value.data)
        case float():
            return "float", struct.pack(">d", value)
        case StringAttr():
            return "text", value.data
        case str():
            return "text", value
        case ArrayAttr():
            return [_meaning(each) for each in value.data]
        case DenseArrayBase():
            return [_meaning(each) for each in value.get_values()]
        case list() | tuple():
            return [_meaning(each) for each in value]
        case _:
            return value


# Constants and arguments


def elements(value: SSAValue) -> tuple[str, list[Any]] | None:
    """The element type and the elements (one for all of `graph.full`) of a constant."""
    import numpy as np
    from stepwell import reference
    from xdsl.dialects import func
    from xdsl.dialects.builtin import ModuleOp

    if op_name(value) not in CONSTANTS:
        return None
    assert isinstance(value, OpResult)
    copy = value.op.clone()
    if copy.name == "arith.constant":
        number = copy.properties["value"]
        assert isinstance(number, IntegerAttr | FloatAttr)
        data = number.value.data
        one_bit = number.type == IntegerType(1)
        return ("float" if isinstance(number, FloatAttr) else "int"), [abs(data) if one_bit else data]
    main = func.FuncOp("main", ((), (value.type,)))
    main.body.block.add_ops([copy, func.ReturnOp(copy.results[0])])
    (array,) = reference.run(ModuleOp([main]), "main")
    floating = array.dtype.kind not in "iub"
    wide = array.astype(np.float64).ravel().tolist() if floating else [int(x) for x in array.ravel()]
    return ("float" if floating else "int"), wide


def is_splat(value: SSAValue, number: float) -> bool:
    found = elements(value)
    if found is None or not found[1]:
        return False
    if found[0] == "int":  # compared as numbers, but none is -0.0
        return all(element == number for element in found[1]) and str(number) != "-0.0"
    import numpy as np
    from stepwell.core.ir.element_types import dtype_name
    from stepwell.te.dtypes import numpy_dtype

    element_type = value.type.get_element_type() if isinstance(value.type, ShapedType) else value.type
    rounded = float(np.float64(number).astype(numpy_dtype(dtype_name(element_type) or "f64")))
    return all(struct.pack(">d", element) == struct.pack(">d", rounded) for element in found[1])


def is_literal(value: SSAValue, wanted: Attribute) -> bool:
    from stepwell.dialects.graph.constants import ConstantOp

    type_ = getattr(wanted, "type")  # noqa: B009
    if value.type != type_:
        return False
    found, same = (
        elements(value),
        elements(ConstantOp.create(properties={"value": wanted}, result_types=[type_]).results[0]),
    )
    if found is None or same is None:
        return False
    bits = [[struct.pack(">d", each) for each in elements] for _, elements in (found, same)]
    return bits[0] == bits[1]


def argument_name(value: SSAValue) -> str | None:
    block: Any = value.owner
    holder = block.parent_op()
    given = None if holder is None else holder.properties.get("arg_attrs")
    if isinstance(given, ArrayAttr):
        dictionary: Any = given.data[value.index]  # type: ignore[attr-defined]
        if "stepwell.name" in dictionary.data:
            return dictionary.data["stepwell.name"].data
    return value.name_hint


# Tests and conditions


def holds(test: c.Test, value: SSAValue) -> bool:
    """Whether a test of one value holds."""
    match test:
        case c.HasDtype(dtype):
            element = value.type.get_element_type() if isinstance(value.type, ContainerType) else value.type
            return element == dtype or str(element) == dtype
        case c.HasShape(sizes):
            if not isinstance(value.type, ShapedType) or len(value.type.get_shape()) != len(sizes):
                return False
            pairs = zip(sizes, value.type.get_shape(), strict=True)
            return all(wanted is None or (wanted == found and found != DYNAMIC_INDEX) for wanted, found in pairs)
        case c.HasType(type_):
            return value.type == type_
        case c.HasAttr(wanted):
            op = value.op if isinstance(value, OpResult) else None
            return all(op is not None and has(op, name, each) for name, each in wanted)
        case c.HasKind(kinds):
            return isinstance(value, OpResult) and _kind(value.op) in kinds
        case c.Holds(condition):
            return condition_holds(condition, [value])
        case _:
            raise AssertionError(test)


def _kind(op: Operation) -> str:
    from stepwell.analysis.op_kind import kind_of_op

    return kind_of_op(op).name.lower().replace("_", "-")


def condition_holds(name: str, values: list[SSAValue]) -> bool:
    """The conditions of docs/rewrites.md that the fuzzer uses."""
    first, others = values[0], values[1:]
    element = str(first.type.get_element_type()) if isinstance(first.type, ContainerType) else str(first.type)
    match name:
        case "single-use":
            return first.uses.get_length() == 1
        case "single-user":
            return len({use.operation for use in first.uses}) == 1
        case "only-used-by":
            return all(any(use.operation is each.owner for each in others) for use in first.uses)
        case "same-shape":
            both = [each.type for each in (first, others[0])]
            if not all(isinstance(each, ShapedType) and DYNAMIC_INDEX not in each.get_shape() for each in both):
                return False
            return both[0].get_shape() == both[1].get_shape()  # type: ignore[attr-defined]
        case "not-same":
            return first is not others[0]
        case "same-type":
            static = not isinstance(first.type, ShapedType) or DYNAMIC_INDEX not in first.type.get_shape()
            return first.type == others[0].type and static
        case "block-argument":
            return not isinstance(first, OpResult)
        case "float":
            return element in ("f16", "bf16", "f32", "f64")
        case "integer":
            return element.lstrip("su")[0] == "i"
        case "boolean":
            return element == "i1"
        case "static":
            return not isinstance(first.type, ShapedType) or DYNAMIC_INDEX not in first.type.get_shape()
        case _:
            raise AssertionError(name)


def elements_match(one: SSAValue, other: SSAValue) -> bool:
    found = [elements(each) for each in (one, other)]
    if found[0] is None or found[1] is None:
        return False
    bits = [[struct.pack(">d", number) for number in each[1]] for each in found if each is not None]
    length = max(map(len, bits))
    return all(len(each) in (1, length) for each in bits) and all(
        each * (length // len(each)) == bits[0] * (length // len(bits[0])) for each in bits
    )


def values_between(child: Operation, parent: SSAValue) -> list[SSAValue] | None:
    """The values on the ways up from `child` to `parent`; `None` when one does not lead there or leaves them."""
    reached, found, ops = False, list[SSAValue](), [child]
    for op in ops:
        inner = [v for v in op.operands if v.owner.parent is child.parent and op_name(v) not in (None, *LEAVES)]  # type: ignore[union-attr]
        if not inner:
            return None
        for each in inner:
            if each is parent:
                reached = True
            elif each not in found:
                found.append(each)
                if each.owner not in ops:
                    ops.append(each.owner)  # type: ignore[arg-type]
    kept = all(use.operation in ops for each in (parent, *found) for use in each.uses)
    return found if reached and kept and parent.owner not in ops else None
