"""
The base classes of graph ops: one printed form, constructors from plain Python values, type inference and verification.

```
%y = graph.softmax %x, axis = -1 {my.tag = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
```

The class of an op gives its operands with their element type classes, its properties with their kinds, and `infer`.
These drive the parser, the printer, the constructor and the verifier. The assembly formats of irdl cannot express named
optional properties in any order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cache
from io import StringIO
from typing import TYPE_CHECKING, Any, ClassVar, Self

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, OpDef, traits_def
from xdsl.printer import Printer
from xdsl.traits import NoMemoryEffect, Pure
from xdsl.utils.exceptions import VerifyException

from ...core.ir.normal_form import with_defaults
from ...core.ir.reprs import op_repr
from ...core.messages.diagnostics import Diagnostic, did_you_mean
from ...core.messages.locations import python_caller
from ..traits import LoopSemantics, LoopTemplate
from .normal_form import has_normal_form
from .properties import PropertyKind
from .shapes import Shaped, ShapeError, compatible
from .signature import ANY as ANY
from .signature import NUMBERS as NUMBERS
from .signature import TensorOf as TensorOf
from .signature import checked_operands
from .signature import operand_signature as operand_signature
from .signature import shaped_of as shaped_of
from .signature import tensor_operand as tensor_operand
from .signature import tensor_operands as tensor_operands
from .signature import tensor_result as tensor_result
from .signature import tensor_results as tensor_results
from .signature import tensor_type as tensor_type
from .syntax import (
    is_optional,
    parse_arguments,
    parse_attributes,
    parse_plain_arguments,
    parse_types,
    print_property,
    print_types,
    require_properties,
)

if TYPE_CHECKING:
    from xdsl.dialects.builtin import LocationAttr
    from xdsl.parser import Parser

    from ... import te
    from ...core.text.parsing import StepwellParser


class ConstructionError(VerifyException):
    """The error of an op that is made in Python from operands that do not fit. It points at the Python line."""

    def __init__(self, name: str, message: str):
        super().__init__(f"'{name}': {message}")
        self.diagnostic = Diagnostic(str(self), point=python_caller(__file__))


def _ssa_value(op_type: type[Operation], number: int, operand: Any) -> SSAValue:
    """Returns the value that an operand stands for. Raises `TypeError` for what stands for none."""
    if not isinstance(operand, SSAValue | Operation):
        raise TypeError(f"operand {number} of {op_type.name} is {operand!r}, expected a value or an op")
    return SSAValue.get(operand)


class TensorOp(IRDLOperation, ABC):
    """
    An op on whole tensors: a `GraphOp`, whose meaning is a tensor expression, or a `TemplateOp`, whose meaning is a
    loop function.

    The constructor takes operands by position, and properties by name as plain Python values. It infers the result
    types: `SoftmaxOp(x, axis=-1)`.
    """

    traits = traits_def(NoMemoryEffect())
    DECLARES_ATTRIBUTES: ClassVar = True

    def __init__(
        self,
        *operands: SSAValue | Operation,
        result_types: Sequence[Attribute] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        **properties: Any,
    ):
        values = [_ssa_value(type(self), number, operand) for number, operand in enumerate(operands)]
        stored = python_properties(type(self), properties)
        if result_types is None:
            try:
                result_types = [tensor_type(shaped) for shaped in infer_from(type(self), values, stored)]
            except VerifyException as error:
                raise ConstructionError(type(self).name, str(error)) from None
        Operation.__init__(
            self, operands=values, result_types=result_types, properties=stored, attributes=attributes or {}
        )

    @classmethod
    @abstractmethod
    def infer(cls, *operands: Any, **properties: Any) -> tuple[Shaped, ...]:
        """
        Returns the shapes and element types of the results.

        The arguments are those of the operands, and the plain values of all properties (`None` for an absent one).
        Raises `ShapeError` when they do not fit together.
        """

    def __init_subclass__(cls, **arguments: Any) -> None:
        """
        Gives no key to a class with a verifier of its own, which may look at more than `verification_key` says.
        """
        super().__init_subclass__(**arguments)
        if "verify_" in cls.__dict__ and "verification_key" not in cls.__dict__:
            setattr(cls, "verification_key", _no_key)  # noqa: B010

    def __repr__(self) -> str:
        return op_repr(self)

    def verification_key(self) -> tuple[int, ...]:
        """
        Returns what verification depends on as long as the op does not change.

        These are the types of operands and results, and the properties.
        """
        key = [len(self._operands), len(self.results)]
        key += [id(operand.type) for operand in self._operands]
        key += [id(result.type) for result in self.results]
        for name, attribute in self.properties.items():
            key += id(name), id(attribute)
        return tuple(key)

    def normal_properties(self) -> Mapping[str, Attribute]:
        """Returns the properties in the form in which ops are compared. The op keeps what was written."""
        found = with_defaults(self)
        kinds = _kinds_with_normal_form(type(self))
        if not kinds:
            return found
        changed: dict[str, Attribute] = {}
        for name in kinds:
            before = found.get(name)
            after = self.normal_property(name, before)
            if after is not before:
                changed[name] = after
        return {**found, **changed} if changed else found

    def normal_property(self, name: str, value: Any) -> Any:
        """
        Returns the form in which property `name` is compared when it is `value`, which may be a plain Python value.

        `None` is an absent one. What is not legal stays as it is.
        """
        kind = _kinds_with_normal_form(type(self)).get(name)
        legal = None if kind is None or value is None else kind.legal(value)
        return value if kind is None or (legal is None and value is not None) else kind.normal(legal, self)

    def verify_(self) -> None:
        """
        Checks properties and result types.

        Raises `VerifyException` where a property is of the wrong kind, and where a result is not what `infer` says.
        """
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
        """
        Reads operands, properties, attributes and types, and returns the op.

        Where only operand types are written, the result types are inferred. Raises `ParseError`.
        """
        start = parser.pos
        definition = cls.get_irdl_definition()
        operands, properties = parse_arguments(cls, definition, parser)
        attributes = parse_attributes(cls, parser, properties, start)
        values, result_types = parse_types(parser, operands)
        require_properties(parser, definition, properties, start)
        if result_types is None:
            result_types = _parse_inferred_types(cls, parser, values, properties, start)
        return cls.create(operands=values, result_types=result_types, properties=properties, attributes=attributes)

    @classmethod
    def parse_plain(cls, parser: StepwellParser, offset: int, location: LocationAttr) -> tuple[Self, int] | None:
        """Parses the op when it is spelled in the usual way, as `core.text.plain_ops.PlainReader` says."""
        found = parse_plain_arguments(cls, parser, offset)
        if found is None:
            return None
        values, result_type, properties, end = found
        op = cls.create(operands=values, result_types=[result_type], properties=properties, location=location)
        return op, end

    @classmethod
    def property_text(cls, name: str, attribute: Attribute) -> str | None:
        """Returns how the property is written, `, axis = 0`, or `None` where the op has a syntax of its own."""
        kind = cls.get_irdl_definition().properties[name].constr
        legal = kind.legal(attribute) if isinstance(kind, PropertyKind) else None
        if legal is None or cls.print is not TensorOp.print:
            return None
        output = StringIO()
        print_property(Printer(output), name, kind, legal)
        return output.getvalue()

    def print(self, printer: Printer) -> None:
        """Prints what `parse` reads. Properties that have their default value are left out."""
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_operand)
        definition = self.get_irdl_definition()
        for name, property_definition in definition.properties.items():
            attribute = self.properties.get(name)
            if attribute is not None and attribute != property_definition.default_value:
                print_property(printer, name, property_definition.constr, attribute)
        for name, attribute in self.properties.items():
            if name not in definition.properties:  # the property is invalid, but is shown
                print_property(printer, name, None, attribute)
        printer.print_op_attributes(self.attributes)
        print_types(printer, self)


class GraphOp(TensorOp, LoopSemantics, ABC):
    """An op whose tensor expression says what each element of its results is."""

    def te(self, *operands: te.Tensor) -> tuple[te.Tensor, ...]:
        """
        Returns the results as tensor expressions. The function of `te.library` that has the name of the op makes them.
        """
        from ...te import library

        result: Any = getattr(library, self.name.partition(".")[2])(*operands, **plain_properties(self))
        return result if isinstance(result, tuple) else (result,)


class PureGraphOp(GraphOp, ABC):
    """A graph op that cannot fail: it may be merged, removed, moved and speculated."""

    traits = traits_def(Pure())


class TemplateOp(TensorOp, LoopTemplate, ABC):
    """An op that gives its loops as text, because no formula per element says what it computes."""


class PureTemplateOp(TemplateOp, ABC):
    """A template op that cannot fail: it may be merged, removed, moved and speculated."""

    traits = traits_def(Pure())


def _no_key(_: Operation) -> None:
    """Returns no key. It is the `verification_key` of ops that are each checked by themselves."""


@cache
def _kinds_with_normal_form(op_type: type[IRDLOperation]) -> dict[str, PropertyKind]:
    kinds = {name: each.constr for name, each in op_type.get_irdl_definition().properties.items()}
    return {name: kind for name, kind in kinds.items() if isinstance(kind, PropertyKind) and has_normal_form(kind)}


# Properties in Python


def plain_properties(op: Operation) -> dict[str, Any]:
    """Returns every property of a graph op as a plain Python value, and `None` for an absent one."""
    assert isinstance(op, IRDLOperation)
    return _plain_values(op.get_irdl_definition(), op.properties)


def _plain_values(definition: OpDef, properties: Mapping[str, Attribute]) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for name, property_definition in definition.properties.items():
        attribute = properties.get(name, property_definition.default_value)
        kind = property_definition.constr
        plain[name] = kind.to_python(attribute) if attribute is not None and isinstance(kind, PropertyKind) else None
    return plain


def python_properties(op_type: type[IRDLOperation], values: Mapping[str, Any]) -> dict[str, Attribute]:
    """
    Returns the properties of an op that are given as plain values or attributes.

    Raises `TypeError` for one that does not fit.
    """
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
            fits = isinstance(value, Attribute) and (not isinstance(kind, PropertyKind) or kind.reason(value) is None)
            stored[name] = value if fits or not isinstance(kind, PropertyKind) else kind.from_python(value)
        except TypeError as error:
            raise TypeError(f"'{name}' of {op_type.name} {error}") from None
    for name, property_definition in definition.properties.items():
        if name not in stored and property_definition.default_value is not None:
            stored[name] = property_definition.default_value
        elif name not in stored and not is_optional(definition, name):
            raise TypeError(f"{op_type.name} needs the property '{name}'")
    return {name: stored[name] for name in definition.properties if name in stored}


def _suggestion(name: str, definition: OpDef) -> str:
    hint = did_you_mean(name, definition.properties)
    return "" if hint is None else f", {hint}"


# Inference


def infer_result_types(op: Operation) -> list[Attribute]:
    """
    Returns the result types of a graph op for the types that its operands have now. Raises `VerifyException`.

    The result types of the op may have a `?` where more is known, or may be left from before its operand types changed.
    The types that are returned bring them up to date.
    """
    assert isinstance(op, TensorOp)
    return [tensor_type(shaped) for shaped in infer_from(type(op), op.operands, op.properties)]


def infer_from(
    op_type: type[TensorOp], operands: Sequence[SSAValue], properties: Mapping[str, Attribute]
) -> tuple[Shaped, ...]:
    """Returns the shapes and element types of the results of an op of `op_type`. Raises `VerifyException`."""
    shaped = checked_operands(op_type, operands)
    try:
        found = op_type.infer(*shaped, **_plain_values(op_type.get_irdl_definition(), properties))
    except ShapeError as error:
        raise VerifyException(str(error)) from None
    if not isinstance(found, tuple | list) or not all(isinstance(each, Shaped) for each in found):
        hint = "; is the comma of (x,) missing?" if isinstance(found, Shaped) else ""
        raise VerifyException(f"'infer' of {op_type.__name__} returns {found}, expected a tuple of Shaped{hint}")
    return tuple(found)


def te_operands(op: Operation) -> list[te.Tensor]:
    """
    Returns a placeholder for each operand, named after its value.

    Every `?` is a size of its own, named after the operand and the dimension.
    """
    from ... import te

    tensors: list[te.Tensor] = []
    for number, operand in enumerate(op.operands):
        name = operand.name_hint or f"arg{number}"
        shape, dtype = shaped_of(operand.type, name)
        dims = [te.var(f"{name}_d{i}") if dim is None else dim for i, dim in enumerate(shape)]
        tensors.append(te.placeholder(dims, dtype, name))
    return tensors


def _parse_inferred_types(
    op_type: type[TensorOp],
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
