"""What the definition of an op says about its operands, results and properties."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.ir import Attribute, Operation
from xdsl.irdl import (
    AttrConstraint,
    IRDLOperation,
    OptOperandDef,
    OptPropertyDef,
    OptResultDef,
    VarOperandDef,
    VarResultDef,
)

from ...core.messages.diagnostics import closest, did_you_mean
from ...dialects.graph.base import TensorOp
from ...dialects.graph.properties import BoolKind, PropertyKind
from ...dialects.graph.signature import operand_signature, operands_text
from ...lazy_dataclass import dataclass
from ..language.constraints import described, same_attribute
from ..language.patterns import Capture
from ..language.signatures import RuleError

MANY: Final = 1 << 30


@dataclass(frozen=True)
class Definition:
    """What one kind of op may have."""

    name: str
    operands: tuple[int, int]
    """The least and the most operands."""
    results: tuple[int, int]
    properties: dict[str, AttrConstraint | None]
    """The constraint of each property, `None` for an attribute without one."""
    needed: frozenset[str]
    """The properties that must be given."""
    strict: bool
    """True for an op whose attributes without a dot in their names are all properties."""
    operands_text: str
    classes: tuple[Any, ...]
    """The name, constraint and variadicity of each operand of a graph op."""


@cache
def definition_of(op_type: type[Operation]) -> Definition | None:
    """Returns what the class of an op says, or `None` when it says nothing."""
    if not issubclass(op_type, IRDLOperation):
        return None
    definition = op_type.get_irdl_definition()
    is_graph = issubclass(op_type, TensorOp)
    least, most = _range([each for _, each in definition.operands], VarOperandDef, OptOperandDef)
    if is_graph and most >= MANY:
        least = 1
    properties: dict[str, Any] = {name: each.constr for name, each in definition.properties.items()}
    properties |= dict.fromkeys(definition.attributes)
    optional = {name for name, each in definition.properties.items() if isinstance(each, OptPropertyDef)}
    default = {name for name, each in definition.properties.items() if each.default_value is not None}
    count = str(least) if least == most else f"at least {least}" if most >= MANY else f"{least} to {most}"
    return Definition(
        definition.name,
        (least, most),
        _range([each for _, each in definition.results], VarResultDef, OptResultDef),
        properties,
        frozenset(definition.properties) - optional - default,
        is_graph,
        operands_text(op_type) if is_graph else f"{count} operand{'' if count == '1' else 's'}",
        operand_signature(op_type) if is_graph else (),
    )


def _range(parts: list[Any], several: type, optional: type) -> tuple[int, int]:
    least = sum(not isinstance(each, several) for each in parts)
    most = sum(MANY if isinstance(each, several) and not isinstance(each, optional) else 1 for each in parts)
    return least, min(most, MANY)


# Properties


def checked_property(definition: Definition, name: str, wanted: Any, at: object, *, exact: bool) -> Any:
    """
    Returns the value of a property as the op stores it.

    Raises `RuleError` for a name that the op does not have, and for a value that the property never holds. With `exact`
    a value that only converts to one is refused too, since it equals none.
    """
    if name not in definition.properties:
        known = list(definition.properties)
        near = closest(name, known)
        if "." in name or not (definition.strict or near is not None):
            return wanted
        hint = did_you_mean(name, known) or f"its properties: {', '.join(known) or 'none'}"
        raise RuleError(f"'{definition.name}' has no property '{name}'", at=at, hint=hint)
    kind = definition.properties[name]
    if wanted is None or isinstance(wanted, Capture) or not isinstance(kind, PropertyKind):
        return wanted
    stored = _stored(kind, wanted)
    if stored is None or (exact and not same_attribute(stored, wanted)):
        found = described(wanted) if isinstance(wanted, Attribute) else repr(wanted)
        choices = getattr(kind, "choices", ())
        hint = (
            did_you_mean(wanted.data if isinstance(wanted, StringAttr) else str(wanted), choices) if choices else None
        )
        message = f"'{name}' of '{definition.name}' takes {kind.word}, found {found}"
        raise RuleError(message, at=at, hint=hint)
    return stored


def _stored(kind: PropertyKind, wanted: Any) -> Attribute | None:
    """Returns the legal attribute for `wanted`, where 0 and 1 of any width are truth values, or `None`."""
    stored = kind.legal(wanted)
    if stored is None and isinstance(kind, BoolKind) and isinstance(wanted, IntegerAttr):
        value = wanted.value.data
        return kind.legal(bool(value)) if value in (0, 1) else None
    return stored


# Types


@cache
def can_infer_types(op_type: type[Operation]) -> bool:
    """Returns whether the types of the results of an op follow from those of its operands."""
    if issubclass(op_type, TensorOp):
        return True
    definition = definition_of(op_type)
    if definition is None or definition.operands[1] >= MANY or definition.operands[0] != definition.operands[1]:
        return False
    own = op_type.get_irdl_definition()  # pyright: ignore[reportAttributeAccessIssue]
    known: set[str] = set().union(*(each.constr.variables() for _, each in own.operands))
    return definition.results[0] == definition.results[1] and all(
        each.constr.can_infer(known, length_known=True) for _, each in own.results
    )


__all__ = ["MANY", "Definition", "can_infer_types", "checked_property", "definition_of"]
