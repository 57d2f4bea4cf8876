"""
What all graph ops share: one printed form, builders that take plain Python values, type inference and verification.

```
%y = graph.softmax %x, axis = -1 {tag = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
```

An op gives its operands with their element type classes, its properties with their kinds, and `infer`; parser, printer,
builder and verifier are driven by those (assembly formats cannot express named optional properties in any order).
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Self

from typing_extensions import TypeVar
from xdsl.dialects.builtin import DYNAMIC_INDEX, NoneAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrConstraint,
    IntConstraint,
    IRDLOperation,
    OpDef,
    OptPropertyDef,
    VarOperandDef,
    VerificationContext,
    operand_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import NoMemoryEffect, Pure
from xdsl.utils.exceptions import VerifyException

from ...core.diagnostics import did_you_mean
from ...core.parsing import HintedParseError
from ..traits import LoopSemantics
from .element_types import ATTRIBUTES, CLASSES, class_members, class_text, dtype_name, rejection
from .properties import PropertyKind
from .shapes import Shaped, ShapeError, compatible, text

if TYPE_CHECKING:
    from xdsl.parser import Parser, UnresolvedOperand
    from xdsl.printer import Printer

    from ... import te


# Types


@lru_cache(maxsize=4096)
def tensor_type(shaped: Shaped) -> TensorType:
    """The tensor type of a shape and element type; types are shared because making one costs 50 µs."""
    dims = [DYNAMIC_INDEX if dim is None else dim for dim in shaped.shape]
    return TensorType(ATTRIBUTES[shaped.dtype], dims)


def shaped_of(type_: Attribute, what: str) -> Shaped:
    """Shape and element type of a tensor type; raises `VerifyException` naming `what` for any other type."""
    if not isinstance(type_, TensorType):
        raise VerifyException(f"{what} has type {type_}, expected a ranked tensor")
    if not isinstance(type_.encoding, NoneAttr):
        raise VerifyException(f"{what} has type {type_}, expected a tensor without an encoding")
    name = dtype_name(type_.element_type)
    if name is None or name not in ATTRIBUTES:
        raise VerifyException(f"{what}: {rejection(type_.element_type)}")
    dims = tuple(None if dim.data == DYNAMIC_INDEX else dim.data for dim in type_.shape.data)
    for dim in dims:
        if dim is not None and dim < 0:
            raise VerifyException(f"{what} has a negative extent {dim}")
    return Shaped(dims, name)


# Definitions of operands and results


@dataclass(frozen=True)
class TensorOf(AttrConstraint[Attribute]):
    """
    A tensor whose element type is of one of `classes`; operands of one `group` have the same element type.

    As an irdl constraint it accepts everything: `GraphOp.verify_` gives better messages than irdl would.
    """

    classes: str
    group: str = ""

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        """Nothing: see the class."""

    def mapping_type_vars(
        self, type_var_mapping: Mapping[TypeVar, AttrConstraint | IntConstraint]
    ) -> TensorOf:
        return self

    def __str__(self) -> str:
        return f"tensor of {class_text(self.classes)}"


ANY = "".join(CLASSES)
"""Every element type."""

NUMBERS = "FSU"
"""Every element type but `i1`."""


def tensor_operand(classes: str = ANY, group: str = "") -> Any:
    """An operand that is a tensor of `classes`, of the same element type as the others of its group."""
    return operand_def(TensorOf(classes, group))


def tensor_operands(classes: str = ANY) -> Any:
    """One or more such operands."""
    return var_operand_def(TensorOf(classes))


def tensor_result() -> Any:
    """A result; its type is what `infer` says."""
    return result_def(TensorOf(ANY))


def tensor_results() -> Any:
    """Results whose number `infer` says."""
    return var_result_def(TensorOf(ANY))


class GraphOp(IRDLOperation, LoopSemantics, ABC):
    """
    An op on whole tensors.

    The builder takes operands by position and properties by name as plain Python values, and infers the result types:
    `SoftmaxOp(x, axis=-1)`.
    """

    traits = traits_def(NoMemoryEffect())

    def __init__(
        self,
        *operands: SSAValue | Operation,
        result_types: Sequence[Attribute] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        **properties: Any,
    ):
        values = [SSAValue.get(operand) for operand in operands]
        stored = python_properties(type(self), properties)
        if result_types is None:
            result_types = [tensor_type(shaped) for shaped in infer_from(type(self), values, stored)]
        Operation.__init__(
            self, operands=values, result_types=result_types, properties=stored, attributes=attributes or {}
        )

    @classmethod
    @abstractmethod
    def infer(cls, *operands: Any, **properties: Any) -> tuple[Shaped, ...]:
        """
        Shapes and element types of the results, from those of the operands and the plain values of all properties
        (`None` for an absent one). Raises `ShapeError` when they do not fit together.
        """

    def te(self, *operands: te.Tensor) -> tuple[te.Tensor, ...]:
        """The function of `te.library` that has the name of the op."""
        from ...te import library

        result: Any = getattr(library, self.name.partition(".")[2])(*operands, **plain_properties(self))
        return result if isinstance(result, tuple) else (result,)

    def verify_(self) -> None:
        definition = self.get_irdl_definition()
        for name, attribute in self.properties.items():
            kind = definition.properties[name].constr
            if isinstance(kind, PropertyKind) and (wanted := kind.reason(attribute)) is not None:
                raise VerifyException(f"'{name}' is {attribute}, expected {wanted}")
        expected = infer_from(type(self), self.operands, self.properties)
        if len(expected) != len(self.results):
            raise VerifyException(f"the op has {len(self.results)} results, expected {len(expected)}")
        for number, (result, wanted_type) in enumerate(zip(self.results, expected, strict=True)):
            what = f"result {number}" if len(expected) > 1 else "the result"
            found = shaped_of(result.type, what)
            if found.dtype != wanted_type.dtype or not compatible(found.shape, wanted_type.shape):
                raise VerifyException(f"{what} has type {result.type}, expected {wanted_type}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        start = parser.pos
        definition = cls.get_irdl_definition()
        operands, properties = _parse_arguments(cls, definition, parser)
        attributes = parser.parse_optional_attr_dict()
        values, result_types = parse_types(parser, operands)
        _require_properties(parser, definition, properties, start)
        if result_types is None:
            result_types = _parse_inferred_types(cls, parser, values, properties, start)
        return cls.create(
            operands=values, result_types=result_types, properties=properties, attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_operand)
        definition = self.get_irdl_definition()
        for name, property_definition in definition.properties.items():
            attribute = self.properties.get(name)
            if attribute is not None and attribute != property_definition.default_value:
                print_property(printer, name, property_definition.constr, attribute)
        for name, attribute in self.properties.items():
            if name not in definition.properties:  # invalid, but still to be shown
                print_property(printer, name, None, attribute)
        printer.print_op_attributes(self.attributes)
        print_types(printer, self)


class PureGraphOp(GraphOp, ABC):
    """A graph op that cannot fail: it may be merged, removed, moved and speculated."""

    traits = traits_def(Pure())


# Properties in Python


def plain_properties(op: Operation) -> dict[str, Any]:
    """Every property of a graph op as a plain Python value; `None` for an absent one."""
    assert isinstance(op, IRDLOperation)
    return _plain_values(op.get_irdl_definition(), op.properties)


def _plain_values(definition: OpDef, properties: Mapping[str, Attribute]) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for name, property_definition in definition.properties.items():
        attribute = properties.get(name, property_definition.default_value)
        kind = property_definition.constr
        plain[name] = (
            kind.to_python(attribute) if attribute is not None and isinstance(kind, PropertyKind) else None
        )
    return plain


def python_properties(op_type: type[IRDLOperation], values: Mapping[str, Any]) -> dict[str, Attribute]:
    """The properties of an op given as plain values or attributes; raises `TypeError` for one that does not fit."""
    definition = op_type.get_irdl_definition()
    stored: dict[str, Attribute] = {}
    for name, value in values.items():
        property_definition = definition.properties.get(name)
        if property_definition is None:
            raise TypeError(f"{op_type.name} has no property '{name}'{_suggestion(name, definition)}")
        kind = property_definition.constr
        if value is None:
            continue
        try:
            fits = isinstance(value, Attribute) and (
                not isinstance(kind, PropertyKind) or kind.reason(value) is None
            )
            stored[name] = value if fits or not isinstance(kind, PropertyKind) else kind.from_python(value)
        except TypeError as error:
            raise TypeError(f"'{name}' of {op_type.name} {error}") from None
    for name, property_definition in definition.properties.items():
        if name not in stored and property_definition.default_value is not None:
            stored[name] = property_definition.default_value
        elif name not in stored and not is_optional(definition, name):
            raise TypeError(f"{op_type.name} needs the property '{name}'")
    return {name: stored[name] for name in definition.properties if name in stored}


def is_optional(definition: OpDef, name: str) -> bool:
    """Whether property `name` may be absent."""
    return isinstance(definition.properties[name], OptPropertyDef)


def _suggestion(name: str, definition: OpDef) -> str:
    hint = did_you_mean(name, definition.properties)
    return "" if hint is None else f", {hint}"


# Inference


def infer_result_types(op: Operation) -> list[Attribute]:
    """
    The result types of a graph op from the types its operands have now. Raises `VerifyException`.

    Result types with a `?` where something more is known, and those left over after operand types changed, are
    brought up to date with it.
    """
    assert isinstance(op, GraphOp)
    return [tensor_type(shaped) for shaped in infer_from(type(op), op.operands, op.properties)]


def infer_from(
    op_type: type[GraphOp], operands: Sequence[SSAValue], properties: Mapping[str, Attribute]
) -> tuple[Shaped, ...]:
    """Shapes and element types of the results of an op of `op_type`; raises `VerifyException`."""
    shaped = checked_operands(op_type, operands)
    try:
        return op_type.infer(*shaped, **_plain_values(op_type.get_irdl_definition(), properties))
    except ShapeError as error:
        raise VerifyException(str(error)) from None


@cache
def operand_signature(op_type: type[IRDLOperation]) -> tuple[tuple[str, TensorOf, bool], ...]:
    """Name and constraint of each operand of an op, and whether any number of values may stand there."""
    signature: list[tuple[str, TensorOf, bool]] = []
    for name, operand_definition in op_type.get_irdl_definition().operands:
        constraint: Any = operand_definition.constr
        while not isinstance(constraint, TensorOf):  # irdl wraps it in its constraints of ranges
            constraint = getattr(constraint, "constr", None) or constraint.constraint
        signature.append((name, constraint, isinstance(operand_definition, VarOperandDef)))
    return tuple(signature)


def operand_names(op_type: type[IRDLOperation], count: int) -> list[tuple[str, TensorOf]]:
    """Name and constraint of each of `count` operands; raises `VerifyException` for a wrong number of them."""
    signature = operand_signature(op_type)
    if signature[0][2] and count:
        return [(f"operand {number}", signature[0][1]) for number in range(count)]
    if len(signature) != count:
        raise VerifyException(f"the op takes {operands_text(op_type)}, found {count}")
    return [(name, constraint) for name, constraint, _ in signature]


def operands_text(op_type: type[IRDLOperation]) -> str:
    """The operands of an op in words: `2 operands (lhs, rhs)`."""
    signature = operand_signature(op_type)
    if signature[0][2]:
        return "at least 1 operand"
    names = ", ".join(name for name, _, _ in signature)
    return f"{len(signature)} operand{'' if len(signature) == 1 else 's'} ({names})"


def checked_operands(op_type: type[IRDLOperation], operands: Sequence[SSAValue]) -> list[Shaped]:
    """Shapes and element types of `operands`; raises `VerifyException` when they are not of the classes wanted."""
    result: list[Shaped] = []
    group_leader: dict[str, tuple[str, str]] = {}
    for value, (name, constraint) in zip(operands, operand_names(op_type, len(operands)), strict=True):
        shaped = shaped_of(value.type, name)
        if shaped.dtype not in class_members(constraint.classes):
            raise VerifyException(
                f"{name} has element type {shaped.dtype}, expected {class_text(constraint.classes)}"
            )
        leader, dtype = group_leader.setdefault(constraint.group, (name, shaped.dtype))
        if dtype != shaped.dtype:
            raise VerifyException(
                f"{leader} has element type {dtype} but {name} has {shaped.dtype}; convert with graph.astype"
            )
        result.append(shaped)
    return result


def te_operands(op: Operation) -> list[te.Tensor]:
    """
    A placeholder for each operand, named after its value. Every `?` is a size of its own, named after the operand
    and the dimension.
    """
    from ... import te

    tensors: list[te.Tensor] = []
    for number, operand in enumerate(op.operands):
        name = operand.name_hint or f"arg{number}"
        shape, dtype = shaped_of(operand.type, name)
        dims = [te.var(f"{name}_d{i}") if dim is None else dim for i, dim in enumerate(shape)]
        tensors.append(te.placeholder(dims, dtype, name))
    return tensors


# Parsing and printing


def _parse_arguments(
    op_type: type[GraphOp], definition: OpDef, parser: Parser
) -> tuple[list[UnresolvedOperand], dict[str, Attribute]]:
    """Operands, then properties, all separated by commas."""
    operands: list[UnresolvedOperand] = []
    properties: dict[str, Attribute] = {}
    first = parser.parse_optional_unresolved_operand()
    if first is None:
        parser.raise_error(f"{op_type.name} takes {operands_text(op_type)}")
    operands.append(first)
    while parser.parse_optional_punctuation(",") is not None:
        operand = None if properties else parser.parse_optional_unresolved_operand()
        if operand is None:
            parse_property(parser, definition, properties)
        else:
            operands.append(operand)
    signature = operand_signature(op_type)
    if not signature[0][2] and len(operands) != len(signature):
        wrong = operands[min(len(operands) - 1, len(signature))]
        parser.raise_error(
            f"{op_type.name} takes {operands_text(op_type)}, found {len(operands)}", wrong.span
        )
    return operands, properties


def parse_property(parser: Parser, definition: OpDef, properties: dict[str, Attribute]) -> None:
    """Parses `name = value` into `properties`."""
    span = parser._current_token.span  # pyright: ignore[reportPrivateUsage]
    name = parser.parse_optional_identifier()
    if name is None:
        what = "a property" if properties else "an operand or a property"
        parser.raise_error(f"expected {what} after ','", span)
    property_definition = definition.properties.get(name)
    if property_definition is None:
        known = ", ".join(definition.properties) or "none"
        hint = did_you_mean(name, definition.properties) or f"its properties: {known}"
        raise HintedParseError(span, f"{definition.name} has no property '{name}'", hint)
    if name in properties:
        parser.raise_error(f"property '{name}' is given twice", span)
    parser.parse_punctuation("=", f" after property '{name}'")
    kind = property_definition.constr
    properties[name] = (
        kind.parse(parser, name) if isinstance(kind, PropertyKind) else parser.parse_attribute()
    )


_TENSOR_TEXT = re.compile(rf"tensor<((?:(?:[0-9]{{1,15}}|\?)x)*)({'|'.join(ATTRIBUTES)})>")


def parse_type(parser: Parser) -> Attribute:
    """
    Parses a type. The usual spellings of tensor types are recognised in one step: token by token, types are two thirds
    of the time that a graph takes to parse.
    """
    found = _TENSOR_TEXT.match(parser.lexer.input.content, parser.pos)
    if found is None:
        return parser.parse_type()
    parser._resume_from(found.end())  # pyright: ignore[reportPrivateUsage]
    return _type_of_text(found[1], found[2])


@lru_cache(maxsize=4096)
def _type_of_text(dims: str, dtype: str) -> TensorType:
    return tensor_type(Shaped(tuple(None if dim == "?" else int(dim) for dim in dims.split("x")[:-1]), dtype))


def parse_types(
    parser: Parser, operands: Sequence[UnresolvedOperand]
) -> tuple[list[SSAValue], list[Attribute] | None]:
    """Parses `: (types) -> types`; the resolved operands and the result types, `None` where they are left out."""
    parser.parse_punctuation(":", " before the types of the operands")
    types_start = parser.pos
    types = parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, lambda: parse_type(parser), " around operand types"
    )
    if len(types) != len(operands):
        parser.raise_error(f"{len(operands)} operands have {len(types)} types", types_start, parser.pos)
    values: list[SSAValue] = [
        parser.resolve_operand(operand, type_) for operand, type_ in zip(operands, types, strict=True)
    ]
    if parser.parse_optional_punctuation("->") is None:
        return values, None
    results = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, lambda: parse_type(parser))
    return values, [parse_type(parser)] if results is None else list(results)


def _require_properties(
    parser: Parser, definition: OpDef, properties: Mapping[str, Attribute], start: int
) -> None:
    """Raises the parse error for a property without a default that is not there."""
    for name, property_definition in definition.properties.items():
        missing = name not in properties and property_definition.default_value is None
        if missing and not is_optional(definition, name):
            start = getattr(parser, "op_start", start)
            parser.raise_error(f"{definition.name} needs the property '{name}'", start, start + 1)


def _parse_inferred_types(
    op_type: type[GraphOp],
    parser: Parser,
    values: Sequence[SSAValue],
    properties: Mapping[str, Attribute],
    start: int,
) -> list[Attribute]:
    try:
        return [tensor_type(shaped) for shaped in infer_from(op_type, values, properties)]
    except VerifyException as error:
        start = getattr(parser, "op_start", start)
        parser.raise_error(f"the result types cannot be inferred: {error}", start, start + 1)


def print_property(printer: Printer, name: str, kind: Any, attribute: Attribute) -> None:
    """Prints `, name = value`; an attribute that is not legal for its kind in its own syntax."""
    printer.print_string(f", {name} = ")
    if isinstance(kind, PropertyKind) and kind.reason(attribute) is None:
        kind.print(printer, attribute)
    else:
        printer.print_attribute(attribute)


def print_types(printer: Printer, op: Operation) -> None:
    """Prints ` : (types) -> types`."""
    printer.print_string(" : ")
    printer.print_function_type(
        [operand.type for operand in op.operands], [result.type for result in op.results]
    )


__all__ = [
    "ANY",
    "NUMBERS",
    "GraphOp",
    "PureGraphOp",
    "TensorOf",
    "infer_result_types",
    "plain_properties",
    "shaped_of",
    "te_operands",
    "tensor_operand",
    "tensor_operands",
    "tensor_result",
    "tensor_results",
    "tensor_type",
    "text",
]
