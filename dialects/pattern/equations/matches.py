"""The left side of an equation: patterns of values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from xdsl.dialects.builtin import DictionaryAttr, FloatAttr, IntegerAttr, StringAttr, UnitAttr, f64, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ..sizes import parse_sizes
from .expansion import expand
from .loops import AXES, KINDS, LOAD, read_axis, read_indices, read_loops
from .scope import Scope, Size, named, property_name

INFIX: Final = {"+": "graph.add", "-": "graph.subtract", "*": "graph.multiply", "/": "graph.divide"}
"""The ops that have a sign."""

NEGATION: Final = "graph.negative"

NUMBERS: Final = (MLIRTokenKind.INTEGER_LIT, MLIRTokenKind.FLOAT_LIT)
_PATTERNS_OF_PATTERNS: Final = ("assoc", "together", "dominates", "and")
"""The ops of the pattern dialect that are written `pattern.name(…)`."""


def number_of(scope: Scope, negative: bool) -> FloatAttr | IntegerAttr:
    """Reads a number, of which the sign has been read."""
    number = scope.tokens.parser.parse_number(allow_boolean=False)
    number = -number if negative else number
    return IntegerAttr(number, i64) if isinstance(number, int) else FloatAttr(number, f64)


class Matches:
    """
    Reads patterns, each into ops of the normal form.

    The precedence is that of Python, from the weakest: `as`, `has` and `holds`; `or`; `and`; `not`; `+` and `-`; `*`
    and `/`; the sign.
    """

    def __init__(self, scope: Scope):
        self._scope = scope
        self._tokens = scope.tokens

    def read(self) -> SSAValue:
        """Returns the value that stands for the pattern that begins here."""
        at = self._tokens.position
        value = self._alternatives()
        while word := self._tokens.take_if("as", "has", "holds"):
            if word == "as":
                self._scope.bind(self._tokens.variable("a name after 'as'"), value, at)
            elif word == "has":
                value = self._tested(value, at)
            else:
                value = self._held(value, at)
        return value

    def _alternatives(self) -> SSAValue:
        return self._several("or", self._all_of)

    def _all_of(self) -> SSAValue:
        return self._several("and", self._negated)

    def _several(self, word: str, part) -> SSAValue:
        at = self._tokens.position
        values = [part()]
        while self._tokens.take_if(word):
            values.append(part())
        return values[0] if len(values) == 1 else self._add(word, at, *values)

    def _negated(self) -> SSAValue:
        at = self._tokens.position
        return self._add("not", at, self._negated()) if self._tokens.take_if("not") else self._sum()

    def _sum(self) -> SSAValue:
        at, value = self._tokens.position, self._product()
        while sign := self._tokens.take_if("+", "-"):
            value = self._op(at, [INFIX[sign]], value, self._product())
        return value

    def _product(self) -> SSAValue:
        at, value = self._tokens.position, self._signed()
        while sign := self._tokens.take_if("*", "/"):
            value = self._op(at, [INFIX[sign]], value, self._signed())
        return value

    def _signed(self) -> SSAValue:
        at = self._tokens.position
        if self._tokens.take_if("-") is None:
            return self._primary(at, False)
        if any(self._tokens.is_kind(kind) for kind in NUMBERS):
            return self._primary(at, True)
        return self._op(at, [NEGATION], self._signed())

    def _primary(self, at: int, negative: bool) -> SSAValue:
        tokens = self._tokens
        if any(tokens.is_kind(kind) for kind in NUMBERS):
            number = number_of(self._scope, negative)
            return self._add("splat", at, number=FloatAttr(float(number.value.data), f64))
        if tokens.is_variable():
            return self._result(at, self._element(self.variable(at), at))
        if tokens.take_if("("):
            value = self.read()
            if tokens.take_if("through"):
                return self._result(at, self._chain_of_steps(at, value))
            tokens.expect(")", "after the pattern in parentheses")
            return self._result(at, value)
        if tokens.take_if("_"):
            return self._add("any", at)
        if tokens.is_kind(MLIRTokenKind.AT_IDENT):
            return self._result(at, self._defined(at))
        return self._result(at, self._word(at))

    def _result(self, at: int, value: SSAValue) -> SSAValue:
        """Reads the number of a result, as in `split(%x) #1`."""
        if not self._tokens.is_kind(MLIRTokenKind.HASH_IDENT):
            return value
        number = self._tokens.text[1:]
        if number == "any":
            self._tokens.take()
            return self._add("result", at, value)
        if not number.isdigit():
            self._tokens.fail(f"expected the number of a result after '#', found '{number}'")
        self._tokens.take()
        return self._add("result", at, value, index=IntegerAttr(int(number), i64))

    def _element(self, value: SSAValue, at: int) -> SSAValue:
        """Reads the indices of an element of a buffer, `%x[%i, %j]`, if they are there."""
        if not self._tokens.take_if("["):
            return value
        return self._op(at, [LOAD], value, *read_indices(self, self._scope))

    def variable(self, at: int) -> SSAValue:
        """Reads a name, which stands for any value where it has not been met before."""
        name = self._tokens.variable("a name")
        if name in self._scope.functions:
            return self._call_of_function(name, at)
        if name.endswith("..."):
            each = [self.read()] if self._tokens.take_if("each") else []
            value = self._add("rest", at, *each)
            self._scope.bind(name[:-3], value, at)
            return value
        if name in self._scope.sizes:
            self._tokens.fail(f"%{name} is a size, where a value stands", at)
        if name not in self._scope.names:
            self._scope.bind(name, self._add("any", at), at)
        return self._scope.names[name]

    def _word(self, at: int) -> SSAValue:
        """Reads what begins with a word: an op, or a pattern that has a word of its own."""
        word = self._tokens.text
        if word in ("constant", "any_op") and self._tokens.is_kind(MLIRTokenKind.BARE_IDENT):
            self._tokens.take()
            value = self._add(word, at)
            if self._tokens.is_variable():
                self._scope.bind(self._tokens.variable("a name"), value, at)
            return value
        if self._tokens.take_if("literal"):
            return self._add("literal", at, value=self._tokens.parser.parse_attribute())
        if self._tokens.take_if("argument"):
            return self._argument(at)
        if word in AXES:
            return read_axis(self._scope, at)
        if word in KINDS and self._tokens.is_kind(MLIRTokenKind.BARE_IDENT):
            return read_loops(self, self._scope, self._tokens.take(), at, unordered=False)
        prefix, _, name = word.partition(".")
        if prefix == "pattern" and name in _PATTERNS_OF_PATTERNS:
            self._tokens.take()
            values, _ = self.arguments(f"'{word}'")
            return self._add(name, at, *values)
        return self._call(at)

    def _defined(self, at: int) -> SSAValue:
        """Reads `@twice(%x)`, a pattern that the file defines above, and `@twice+(%x)`, a chain of it."""
        name = self._tokens.symbol()
        mark = self._tokens.take_if("+", "*")
        arguments, properties = self.arguments(f"'@{name}'")
        if properties:
            self._tokens.fail(f"the pattern '{name}' takes patterns only, no attributes", at)
        if mark is None:
            return expand(self._scope, name, arguments, at)
        if not arguments:
            self._tokens.fail(f"a chain goes through the first parameter of '{name}', found none", at)
        link = self._add("any", at)
        return self._linked(at, expand(self._scope, name, [link, *arguments[1:]], at), link, arguments[0], mark)

    def _argument(self, at: int) -> SSAValue:
        parser = self._tokens.parser
        number = parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
        if number is not None:
            return self._add("argument", at, index=IntegerAttr(number, i64))
        name = parser.parse_optional_str_literal()
        return self._add("argument", at) if name is None else self._add("argument", at, argument_name=StringAttr(name))

    def _call(self, at: int) -> SSAValue:
        """Reads `relu(%x)`, `[floor, ceil](%x)`, and `relu?(%x)`, which is `relu(%x) or %x`."""
        unordered = self._tokens.take_if("unordered") is not None
        if unordered and self._tokens.text in KINDS:
            return read_loops(self, self._scope, self._tokens.take(), at, unordered=True)
        names = self._tokens.op_names()
        mark = self._tokens.take_if("?", "+", "*")
        values, properties = self.arguments(f"'{' or '.join(names)}'")
        if mark in ("+", "*"):
            return self._chain(at, names, values, properties, mark)
        value = self._op(at, names, *values, properties=properties)
        if unordered:
            value.owner.properties["unordered"] = UnitAttr()  # pyright: ignore
        if mark is None:
            return value
        if len(values) != 1:
            self._tokens.fail(f"an op that may be absent has one operand, found {len(values)}", at)
        return self._add("or", at, value, values[0])

    def _chain(
        self,
        at: int,
        names: list[str],
        values: list[SSAValue],
        properties: dict[str, Attribute | str],
        mark: str,
    ) -> SSAValue:
        """Makes a chain of ops, of which the first operand stands for the one before."""
        if not values:
            self._tokens.fail("a chain goes through the first operand of each op, found none", at)
        link = self._add("any", at)
        return self._linked(at, self._op(at, names, link, *values[1:], properties=properties), link, values[0], mark)

    def _chain_of_steps(self, at: int, step: SSAValue) -> SSAValue:
        """Reads `%l)+(%x)` behind `(relu(%l) * 2 through`: a chain of steps, where `%l` is the value before one."""
        tokens, here = self._tokens, self._tokens.position
        name = tokens.variable("the name of the value before a step")
        link = self._scope.bound(name, here)
        if getattr(link.owner, "name", "") != "pattern.any":
            tokens.fail(f"a chain goes through any value, found a pattern for %{name}", here)
        tokens.expect(")", "after a step of a chain")
        if (mark := tokens.take_if("+", "*")) is None:
            tokens.fail(f"expected '+' or '*' after a step of a chain, found {tokens.found()}")
        tokens.expect("(", f"after '{mark}'")
        start = self.read()
        tokens.expect(")", "after the pattern that a chain begins with")
        return self._linked(at, step, link, start, mark)

    def _linked(self, at: int, step: SSAValue, link: SSAValue, start: SSAValue, mark: str) -> SSAValue:
        given: dict[str, Attribute] = {"least": IntegerAttr(0, i64)} if mark == "*" else {}
        return self._add("chain", at, step, link, start, **given)

    def _call_of_function(self, name: str, at: int) -> SSAValue:
        values, properties = self.arguments(f"'%{name}'")
        value = self._op(at, self._scope.functions[name], *values, properties=properties)
        self._scope.matched.setdefault(name, []).append(value)
        return value

    def arguments(self, of: str) -> tuple[list[SSAValue], dict[str, Attribute | str]]:
        """Reads operands and properties in parentheses. A property that is captured is the name of the capture."""
        self._tokens.expect("(", f"after {of}")
        values: list[SSAValue] = []
        properties: dict[str, Attribute | str] = {}
        while not self._tokens.take_if(")"):
            if values or properties:
                self._tokens.expect(",", f"or ')' between the operands of {of}")
            if (name := property_name(self._scope)) is None:
                values.append(self.read())
            else:
                properties[name] = self.property_value()
        return values, properties

    def property_value(self) -> Attribute | str:
        """Reads the value of a property, or the name that it gets."""
        if self._tokens.is_variable():
            return self._tokens.variable("a name")
        return self._tokens.parser.parse_attribute()

    def _op(
        self, at: int, names: list[str], *operands: SSAValue, properties: dict[str, Attribute | str] | None = None
    ) -> SSAValue:
        given = properties or {}
        fixed = {name: value for name, value in given.items() if isinstance(value, Attribute)}
        op = self._scope.add("op", at, operands, named(names, fixed))
        self.capture(op.results[0], given, at)
        return op.results[0]

    def capture(self, value: SSAValue, properties: Mapping[str, Attribute | str], at: int) -> None:
        """Gives names to the properties of an op that have one."""
        for name, given in properties.items():
            if isinstance(given, str):
                captured = self._add("attribute", at, value, attribute_name=StringAttr(name))
                self._scope.bind(given, captured, at)

    def _tested(self, value: SSAValue, at: int) -> SSAValue:
        """Reads what follows `has`: a test of the type, the properties or the kind of what is before it."""
        parser = self._tokens.parser
        match self._tokens.word("dtype, type, shape, kind or attributes in braces") if self._tokens.text != "{" else "":
            case "dtype":
                return self._add("has_dtype", at, value, dtype=parser.parse_attribute())
            case "type":
                return self._add("has_type", at, value, type=parser.parse_attribute())
            case "shape":
                return self._shaped(value, at)
            case "kind":
                return self._add("has_kind", at, value, kinds=StringAttr(parser.parse_str_literal("kinds")))
            case "":
                wanted = DictionaryAttr(parser.parse_optional_attr_dict())
                return self._add("has_attr", at, value, wanted=wanted)
            case other:
                self._tokens.fail(f"expected dtype, type, shape, kind or attributes in braces, found '{other}'", at)

    def _shaped(self, value: SSAValue, at: int) -> SSAValue:
        """Reads a shape. A name in it stands for a size, the same one wherever it stands, and never for `?` twice."""
        named_sizes: list[tuple[str, int]] = []

        def name_of(number: int) -> bool:
            if self._tokens.is_variable():
                named_sizes.append((self._tokens.variable("a size"), number))
                return True
            return False

        subject, value = value, self._add("has_shape", at, value, sizes=parse_sizes(self._tokens.parser, name_of))
        for name, dimension in named_sizes:
            self._scope.bind_size(name, Size("size", subject, dimension), at)
        return value

    def _held(self, value: SSAValue, at: int) -> SSAValue:
        """Reads what follows `holds`: a condition of what is before it, and of others."""
        name = self._tokens.word("the name of a condition")
        others, parameters = self.arguments(f"'{name}'") if self._tokens.text == "(" else ([], {})
        properties: dict[str, Attribute] = {"condition": StringAttr(name)}
        fixed = {key: each for key, each in parameters.items() if isinstance(each, Attribute)}
        if fixed:
            properties["parameters"] = DictionaryAttr(fixed)
        return self._scope.add("holds", at, [value, *others], properties).results[0]

    def _add(self, name: str, at: int, *operands: SSAValue, **properties: Attribute) -> SSAValue:
        return self._scope.add(name, at, operands, properties).results[0]
