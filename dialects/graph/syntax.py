"""The one printed form of graph ops: operands, `, name = value` properties, and types."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from xdsl.context import Context
from xdsl.dialects.builtin import NoneAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, OpDef, OptPropertyDef
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span

from ...core.ir.attribute_names import wrong_attribute
from ...core.ir.element_types import ATTRIBUTES
from ...core.messages.diagnostics import did_you_mean
from ...core.text.limits import MOST_DIMENSIONS, holds_too_much
from ...core.text.parsing import HintedParseError, StepwellParser
from ...core.text.plain_ops import VALUE
from .properties import PropertyKind
from .shapes import Shaped
from .signature import operand_signature, operands_text, tensor_type

if TYPE_CHECKING:
    from xdsl.parser import Parser, UnresolvedOperand
    from xdsl.printer import Printer


def parse_arguments(
    op_type: type[IRDLOperation], definition: OpDef, parser: Parser
) -> tuple[list[UnresolvedOperand], dict[str, Attribute]]:
    """Parses operands, then properties, all separated by commas."""
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
        parser.raise_error(f"{op_type.name} takes {operands_text(op_type)}, found {len(operands)}", wrong.span)
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
    properties[name] = kind.parse(parser, name) if isinstance(kind, PropertyKind) else parser.parse_attribute()


_TENSOR_TEXT = re.compile(rf"tensor<((?:(?:[0-9]{{1,15}}|\?)x){{0,{MOST_DIMENSIONS}}})({'|'.join(ATTRIBUTES)})>")


def parse_type(parser: Parser) -> Attribute:
    """
    Parses a type.

    The usual spellings of tensor types are recognised in one step. Parsed token by token, types take two thirds of the
    time that a graph takes to parse.
    """
    found = _TENSOR_TEXT.match(parser.lexer.input.content, parser.pos)
    type_ = None if found is None else _type_of_text(found[1], found[2])
    if found is None or type_ is None:
        return parser.parse_type()
    parser._resume_from(found.end())  # pyright: ignore[reportPrivateUsage]
    return type_


@lru_cache(maxsize=4096)
def _type_of_text(dims: str, dtype: str) -> TensorType | None:
    """Returns a type, or `None` for one that is too large, of which the parser tells."""
    type_ = tensor_type(Shaped(tuple(None if dim == "?" else int(dim) for dim in dims.split("x")[:-1]), dtype))
    return None if holds_too_much(type_) else type_


# Ops in their usual spelling

_PLAIN_REST = re.compile(
    (
        rf"({VALUE}(?:, {VALUE})*+)((?:, [a-z_]\w*+ = [\w.+\-\[\], ]{{0,200}})?) : \(([\w<>?, ]*+)\) -> "
        rf"{_TENSOR_TEXT.pattern}"
    ),
    re.ASCII,
)


def parse_plain_arguments(
    op_type: type[IRDLOperation], parser: StepwellParser, offset: int
) -> tuple[list[SSAValue], TensorType, Mapping[str, Attribute], int] | None:
    """
    Returns the operands, result type, properties and end of an op with one result.

    The text of the op goes on at `offset`, after its name. Returns `None` where anything is unusual or wrong. Types and
    properties of the same text are the same attributes.
    """
    found = _PLAIN_REST.match(parser.lexer.input.content, offset)
    if found is None:
        return None
    names, types = found[1].split(", "), _types_of_text(found[3])
    properties = _properties_of_text(op_type, found[2])
    if properties is None or types is None or len(types) != len(names):
        return None
    signature = operand_signature(op_type)
    if not signature[0][2] and len(names) != len(signature):
        return None
    values: list[SSAValue] = []
    for name, type_ in zip(names, types, strict=True):
        known = parser.ssa_values.get(name[1:])
        if known is None or (known[0].type is not type_ and known[0].type != type_):
            return None
        values.append(known[0])
    result = _type_of_text(found[4], found[5])
    return None if result is None else (values, result, properties, found.end())


_PLAIN_WEIGHT = re.compile(rf'"([^"\\\n\v\f]++)" : {_TENSOR_TEXT.pattern}')


def parse_plain_weight(parser: StepwellParser, offset: int) -> tuple[str, TensorType, int] | None:
    """
    Returns the key, type and end of a weight.

    The text of the weight goes on at `offset`, after its name. Returns `None` where anything is unusual or wrong.
    """
    found = _PLAIN_WEIGHT.match(parser.lexer.input.content, offset)
    if found is None or "?" in found[2]:
        return None
    type_ = _type_of_text(found[2], found[3])
    return None if type_ is None else (found[1], type_, found.end())


@lru_cache(maxsize=1024)
def _types_of_text(text: str) -> tuple[TensorType, ...] | None:
    found = [_TENSOR_TEXT.fullmatch(each) for each in text.split(", ")]
    types = [_type_of_text(each[1], each[2]) for each in found if each is not None]
    known = tuple(type_ for type_ in types if type_ is not None)
    return known if len(known) == len(found) else None


@lru_cache(maxsize=1024)
def _properties_of_text(op_type: type[IRDLOperation], text: str) -> Mapping[str, Attribute] | None:
    """
    Returns the properties of an op, or `None` where one is wrong.

    They are given as `, name = value, …` without symbols, strings or dialects' attributes.
    """
    definition = op_type.get_irdl_definition()
    properties: dict[str, Attribute] = {}
    try:
        parser = StepwellParser(Context(), text)
        while parser.parse_optional_punctuation(",") is not None:
            parse_property(parser, definition, properties)
        require_properties(parser, definition, properties, 0)
    except ParseError:  # the usual parser meets the error again, and says where it is
        return None
    return MappingProxyType(properties) if parser.pos == len(text) else None


def parse_attributes(
    op_type: type[IRDLOperation], parser: Parser, properties: Mapping[str, Attribute], start: int
) -> dict[str, Attribute]:
    """
    Parses `{name = attribute}`.

    A wrong name is an error here already: a property that is ignored would lead to errors about types and uses first.
    """
    attributes = parser.parse_optional_attr_dict()
    wrong = wrong_attribute(op_type, attributes, properties) if attributes else None
    if wrong is not None:
        start = getattr(parser, "op_start", start)
        raise HintedParseError(Span(start, start + 1, parser.lexer.input), f"'{op_type.name}': {wrong[0]}", wrong[1])
    return attributes


def parse_types(parser: Parser, operands: Sequence[UnresolvedOperand]) -> tuple[list[SSAValue], list[Attribute] | None]:
    """
    Parses `: (types) -> types`.

    Returns the resolved operands and the result types, where `None` says that the result types are left out.
    """
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


def require_properties(parser: Parser, definition: OpDef, properties: Mapping[str, Attribute], start: int) -> None:
    """Raises the parse error for a property that is missing and has no default."""
    for name, property_definition in definition.properties.items():
        missing = name not in properties and property_definition.default_value is None
        if missing and not is_optional(definition, name):
            start = getattr(parser, "op_start", start)
            parser.raise_error(f"{definition.name} needs the property '{name}'", start, start + 1)


def print_property(printer: Printer, name: str, kind: Any, attribute: Attribute) -> None:
    """Prints `, name = value`. An attribute that is not legal for its kind is printed in its own syntax."""
    printer.print_string(f", {name} = ")
    if isinstance(kind, PropertyKind) and kind.reason(attribute) is None:
        kind.print(printer, attribute)
    else:
        printer.print_attribute(attribute)


def print_types(printer: Printer, op: Operation) -> None:
    """Prints ` : (types) -> types`."""
    printer.print_string(" : ")
    inputs, outputs = [operand.type for operand in op.operands], [result.type for result in op.results]
    if not all(map(_is_plain, (*inputs, *outputs))):
        printer.print_function_type(inputs, outputs)
        return
    left, right = ", ".join(map(_text, inputs)), ", ".join(map(_text, outputs))
    printer.print_string(f"({left}) -> {right if len(outputs) == 1 else f'({right})'}")


def _is_plain(type_: Attribute) -> bool:
    """Returns whether a type is a tensor without an encoding. Such types are equal only where their texts are."""
    return isinstance(type_, TensorType) and isinstance(type_.encoding, NoneAttr)


@lru_cache(maxsize=4096)
def _text(type_: Attribute) -> str:
    """Returns the text of a tensor type. Equal types have one text, and most ops of a program have few."""
    return str(type_)


def is_optional(definition: OpDef, name: str) -> bool:
    """Returns whether property `name` may be absent."""
    return isinstance(definition.properties[name], OptPropertyDef)
