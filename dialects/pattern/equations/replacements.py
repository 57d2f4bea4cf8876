"""The right side of an equation: new ops, names of the match, and what builders make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, FloatAttr, IntegerAttr, StringAttr, i32
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ....lazy_dataclass import dataclass
from .matches import INFIX, NEGATION, NUMBERS, number_of
from .numbers import computed_property
from .scope import Scope, named, property_name

SAME_OP: Final = ("with-operands", "with-other-operands")
"""The builders that make the op again that a name after `for` stands for: as the root, and inside of an op."""

ALONE: Final = "full"
INSIDE: Final = "scalar"
"""The builders of numbers: of the type of the root, and of rank 0 to be stretched."""


@dataclass(frozen=True)
class Number:
    """A number of which the place decides what it becomes."""

    value: FloatAttr | IntegerAttr
    at: int


@dataclass(frozen=True)
class Again:
    """The op of a name after `for` on other operands. The place decides what its type is."""

    arguments: tuple[SSAValue, ...]
    at: int


Made = SSAValue | Number | Again


class Replacements:
    """Reads replacements, each into ops of `block`."""

    def __init__(self, scope: Scope):
        self._scope = scope
        self._tokens = scope.tokens
        self.block = Block()
        self._names: dict[str, SSAValue] = {}

    def read(self) -> SSAValue:
        """Returns the value that replaces a result of a root."""
        return self._placed(self._sum(), 0)

    def _placed(self, made: Made, inside: int) -> SSAValue:
        """Returns the value of what stands alone, or as an operand where `inside` is 1."""
        if isinstance(made, Number):
            return self._add(made.at, "build", (), named([(ALONE, INSIDE)[inside]], {"value": made.value}))
        return (
            self._add(made.at, "build", made.arguments, named([SAME_OP[inside]], {}))
            if isinstance(made, Again)
            else made
        )

    def _add(self, at: int, name: str, operands: Sequence[SSAValue], properties: dict[str, Attribute]) -> SSAValue:
        return self._scope.add(name, at, operands, properties, into=self.block).results[0]

    def _sum(self) -> Made:
        at, value = self._tokens.position, self._product()
        while sign := self._tokens.take_if("+", "-"):
            value = self._op(at, INFIX[sign], [value, self._product()])
        return value

    def _product(self) -> Made:
        at, value = self._tokens.position, self._signed()
        while sign := self._tokens.take_if("*", "/"):
            value = self._op(at, INFIX[sign], [value, self._signed()])
        return value

    def _signed(self) -> Made:
        at, tokens = self._tokens.position, self._tokens
        if tokens.take_if("-") is None:
            return self._primary(at, False)
        if any(tokens.is_kind(kind) for kind in NUMBERS):
            return self._primary(at, True)
        return self._op(at, NEGATION, [self._signed()])

    def _primary(self, at: int, negative: bool) -> Made:
        tokens = self._tokens
        if any(tokens.is_kind(kind) for kind in NUMBERS):
            return Number(number_of(self._scope, negative), at)
        if tokens.is_variable():
            name = tokens.variable("a name")
            if name in self._scope.functions:
                return self._again(name, at)
            return self._names[name] if name in self._names else self._scope.bound(name, at)
        if tokens.take_if("("):
            value = self._sum()
            if tokens.take_if("as"):
                value = self._called(value, tokens.variable("a name after 'as'"), at)
            tokens.expect(")", "after the replacement in parentheses")
            return value
        if tokens.is_kind(MLIRTokenKind.AT_IDENT):
            return self._built(at)
        name = tokens.op_name("a replacement")
        operands, properties = self._arguments(f"'{name}'")
        return self._op(at, name, operands, properties)

    def _called(self, value: Made, name: str, at: int) -> SSAValue:
        if isinstance(value, Number):
            self._tokens.fail("a number needs no name", at)
        if name in self._names or name in self._scope.names:
            self._tokens.fail(f"%{name} has been bound before", at)
        made = self._names[name] = self._placed(value, 1)
        made.name_hint = made.name_hint or name
        return made

    def _arguments(self, of: str) -> tuple[list[Made], dict[str, Attribute | SSAValue]]:
        self._tokens.expect("(", f"after {of}")
        values: list[Made] = []
        properties: dict[str, Attribute | SSAValue] = {}
        while not self._tokens.take_if(")"):
            if values or properties:
                self._tokens.expect(",", f"or ')' between the operands of {of}")
            if (name := property_name(self._scope)) is None:
                values.append(self._sum())
            elif (computed := computed_property(self._scope)) is not None:
                properties[name] = computed
            else:
                properties[name] = self._tokens.attribute("an attribute, a name or a formula")
        return values, properties

    def _op(
        self, at: int, name: str, operands: list[Made], properties: dict[str, Attribute | SSAValue] | None = None
    ) -> SSAValue:
        values = [self._placed(each, 1) for each in operands]
        given = properties or {}
        found = named([name], {key: each for key, each in given.items() if isinstance(each, Attribute)})
        captured = {key: each for key, each in given.items() if isinstance(each, SSAValue)}
        if captured:
            found["captured_names"] = ArrayAttr(StringAttr(key) for key in captured)
        found["operandSegmentSizes"] = DenseArrayBase.from_list(i32, [len(values), len(captured)])
        return self._add(at, "create", [*values, *captured.values()], found)

    def _built(self, at: int) -> SSAValue:
        """Reads `@compose-permutations(%outer, %inner)`."""
        name = self._tokens.symbol()
        operands, properties = self._arguments(f"'@{name}'")
        parameters = {key: each for key, each in properties.items() if isinstance(each, Attribute)}
        if len(parameters) != len(properties):
            self._tokens.fail(f"the parameters of the builder '{name}' are attributes, not names", at)
        return self._add(at, "build", [self._placed(each, 1) for each in operands], named([name], parameters))

    def _again(self, name: str, at: int) -> Again:
        """Reads `%f(%x, %y)`, the op of the match that `%f` stands for on other operands."""
        matched = self._scope.matched.get(name)
        if not matched:
            self._tokens.fail(f"%{name} is not an op of the match", at)
        operands, properties = self._arguments(f"'%{name}'")
        if properties:
            self._tokens.fail(f"%{name} has the properties that it has in the match", at)
        return Again((matched[0], *(self._placed(each, 1) for each in operands)), at)
