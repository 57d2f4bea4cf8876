"""The left side of an equation: patterns of values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    f64,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ..formulas import Formula
from .expansion import expand
from .loops import AXES, KINDS, LOAD, read_axis, read_indices, read_loops
from .numbers import formula_of, read_formula, read_size, require_equal
from .scope import Scope, Size, named, property_name

INFIX: Final = {"+": "graph.add", "-": "graph.subtract", "*": "graph.multiply", "/": "graph.divide"}
"""The ops that have a sign."""

NEGATION: Final = "graph.negative"

NUMBERS: Final = (MLIRTokenKind.INTEGER_LIT, MLIRTokenKind.FLOAT_LIT)
_PATTERNS_OF_PATTERNS: Final = {"assoc": (1, 1), "together": (2, None), "dominates": (3, 3)}
"""The ops of the pattern dialect that are written `pattern.name(…)`, with the least and the most patterns in them."""


Properties = dict[str, Attribute | str | Formula]
"""The properties in an equation: an attribute, the name that one gets, or the formula that one is equal to."""


def number_of(scope: Scope, negative: bool) -> FloatAttr | IntegerAttr:
    """Reads a number, of which the sign has been read."""
    tokens = scope.tokens
    at, end = tokens.position, tokens.position + len(tokens.text)
    number = tokens.parser.parse_number(allow_boolean=False)
    if tokens.position == end and tokens.is_kind(MLIRTokenKind.BARE_IDENT):
        tokens.fail("a number with an exponent has a point, as in 1.0e-3", at)
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
            return self._add("literal", at, value=self._tokens.attribute("a constant after 'literal'"))
        if self._tokens.take_if("argument"):
            return self._argument(at)
        if word in AXES:
            return read_axis(self._scope, at)
        if word in KINDS and self._tokens.is_kind(MLIRTokenKind.BARE_IDENT):
            return read_loops(self, self._scope, self._tokens.take(), at, unordered=False)
        prefix, _, name = word.partition(".")
        if prefix == "pattern" and name in _PATTERNS_OF_PATTERNS:
            self._tokens.take()
            values, properties = self.arguments(f"'{word}'")
            least, most = _PATTERNS_OF_PATTERNS[name]
            if properties or len(values) < least or (most is not None and len(values) > most):
                count = f"{least} pattern{'s' if least > 1 else ''}{'' if most else ' or more'}"
                found = "an attribute" if properties else len(values)
                self._tokens.fail(f"'{word}' takes {count}, found {found}", at)
            return self._add(name, at, *values)
        return self._call(at)

    def _defined(self, at: int) -> SSAValue:
        """Reads `@twice(%x)`, a pattern that the file defines above, and `@twice+(%x)`, a chain of it."""
        name = self._tokens.symbol()
        least = self._repetition()
        arguments, properties = self.arguments(f"'@{name}'")
        if properties:
            self._tokens.fail(f"the pattern '{name}' takes patterns only, no attributes", at)
        if least is None:
            return expand(self._scope, name, arguments, at)
        if not arguments:
            self._tokens.fail(f"a chain goes through the first parameter of '{name}', found none", at)
        link = self._add("any", at)
        return self._linked(at, expand(self._scope, name, [link, *arguments[1:]], at), link, arguments[0], least)

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
        is_optional = self._tokens.take_if("?") is not None
        least = None if is_optional else self._repetition()
        values, properties = self.arguments(f"'{' or '.join(names)}'")
        if least is not None:
            return self._chain(at, names, values, properties, least)
        value = self._op(at, names, *values, properties=properties)
        if unordered:
            value.owner.properties["unordered"] = UnitAttr()  # pyright: ignore
        if not is_optional:
            return value
        if len(values) != 1:
            self._tokens.fail(f"an op that may be absent has one operand, found {len(values)}", at)
        return self._add("or", at, value, values[0])

    def _repetition(self) -> int | None:
        """Reads `+`, `*` or `{2,}` behind a step of a chain, and returns the least number of steps."""
        tokens = self._tokens
        if mark := tokens.take_if("+", "*"):
            return 1 if mark == "+" else 0
        if tokens.take_if("{") is None:
            return None
        least = tokens.integer("the least number of steps")
        tokens.expect(",", "after the least number of steps: a chain has no most")
        tokens.expect("}", "after the least number of steps: a chain has no most")
        return least

    def _chain(self, at: int, names: list[str], values: list[SSAValue], properties: Properties, least: int) -> SSAValue:
        """Makes a chain of ops, of which the first operand stands for the one before."""
        if not values:
            self._tokens.fail("a chain goes through the first operand of each op, found none", at)
        link = self._add("any", at)
        return self._linked(at, self._op(at, names, link, *values[1:], properties=properties), link, values[0], least)

    def _chain_of_steps(self, at: int, step: SSAValue) -> SSAValue:
        """Reads `%l)+(%x)` behind `(relu(%l) * 2 through`: a chain of steps, where `%l` is the value before one."""
        tokens, here = self._tokens, self._tokens.position
        name = tokens.variable("the name of the value before a step")
        link = self._scope.bound(name, here)
        if getattr(link.owner, "name", "") != "pattern.any":
            tokens.fail(f"a chain goes through any value, found a pattern for %{name}", here)
        tokens.expect(")", "after a step of a chain")
        if (least := self._repetition()) is None:
            tokens.fail(f"expected '+', '*' or a number in braces after a step of a chain, found {tokens.found()}")
        tokens.expect("(", "before the pattern that a chain begins with")
        start = self.read()
        tokens.expect(")", "after the pattern that a chain begins with")
        return self._linked(at, step, link, start, least)

    def _linked(self, at: int, step: SSAValue, link: SSAValue, start: SSAValue, least: int) -> SSAValue:
        given: dict[str, Attribute] = {} if least == 1 else {"least": IntegerAttr(least, i64)}
        return self._add("chain", at, step, link, start, **given)

    def _call_of_function(self, name: str, at: int) -> SSAValue:
        values, properties = self.arguments(f"'%{name}'")
        value = self._op(at, self._scope.functions[name], *values, properties=properties)
        self._scope.matched.setdefault(name, []).append(value)
        return value

    def arguments(self, of: str) -> tuple[list[SSAValue], Properties]:
        """Reads operands and properties in parentheses. A property that is captured is the name of the capture."""
        self._tokens.expect("(", f"after {of}")
        values: list[SSAValue] = []
        properties: Properties = {}
        while not self._tokens.take_if(")"):
            if values or properties:
                self._tokens.expect(",", f"or ')' between the operands of {of}")
            if (name := property_name(self._scope)) is None:
                values.append(self.read())
            else:
                properties[name] = self.property_value()
        return values, properties

    def property_value(self) -> Attribute | str | Formula:
        """Reads the value of a property, the name that it gets, or a formula over other names that it is equal to."""
        found = formula_of(self._scope)
        if found is not None:
            if found.kind == "name" and found.text not in self._scope.sizes:
                return self._tokens.variable("a name")
            if any(found.names()) or self._tokens.is_variable():
                return read_formula(self._scope)
        return self._tokens.attribute("an attribute or a name")

    def _op(self, at: int, names: list[str], *operands: SSAValue, properties: Properties | None = None) -> SSAValue:
        given = properties or {}
        fixed = {name: value for name, value in given.items() if isinstance(value, Attribute)}
        op = self._scope.add("op", at, operands, named(names, fixed))
        self.capture(op.results[0], given, at)
        return op.results[0]

    def capture(self, value: SSAValue, properties: Mapping[str, Attribute | str | Formula], at: int) -> None:
        """Gives names to the properties of an op that have one, and compares those that a formula is for."""
        for name, given in properties.items():
            if isinstance(given, Attribute):
                continue
            captured = self._add("attribute", at, value, attribute_name=StringAttr(name))
            known = self._scope.names.get(given) if isinstance(given, str) else None
            if known is not None and self._scope.is_attribute(known):
                given = Formula("name", text=str(given))
            if isinstance(given, str):
                self._scope.bind(given, captured, at)
            else:
                captured.name_hint = captured.name_hint or name.rpartition(".")[2]
                require_equal(self._scope, Formula("name", text="0"), captured, given, at)

    def _tested(self, value: SSAValue, at: int) -> SSAValue:
        """Reads what follows `has`: a test of the type, the properties or the kind of what is before it."""
        parser = self._tokens.parser
        match self._tokens.word("dtype, type, shape, kind or attributes in braces") if self._tokens.text != "{" else "":
            case "dtype":
                return self._add("has_dtype", at, value, dtype=self._tokens.attribute("an element type"))
            case "type":
                return self._add("has_type", at, value, type=self._tokens.attribute("a type"))
            case "shape":
                return self._shaped(value, at)
            case "kind":
                return self._add("has_kind", at, value, kinds=StringAttr(self._tokens.string("kinds")))
            case "":
                wanted = DictionaryAttr(parser.parse_optional_attr_dict())
                return self._add("has_attr", at, value, wanted=wanted)
            case other:
                self._tokens.fail(f"expected dtype, type, shape, kind or attributes in braces, found '{other}'", at)

    def _shaped(self, value: SSAValue, at: int) -> SSAValue:
        """Reads a shape. A name in it stands for a size, the same one wherever it stands, and never for `?` twice."""
        sizes: list[int] = []

        def read() -> None:
            known = None if self._tokens.take_if("?") else read_size(self._scope, Size("size", value, len(sizes)), at)
            sizes.append(DYNAMIC_INDEX if known is None else known)

        if self._tokens.take_if("["):
            while not self._tokens.take_if("]"):
                if sizes:
                    self._tokens.expect(",", "or ']' between sizes")
                read()
        else:
            self._tokens.fail(f"expected '[' before sizes, found {self._tokens.found()}")
        return self._add("has_shape", at, value, sizes=DenseArrayBase.from_list(i64, sizes))

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
