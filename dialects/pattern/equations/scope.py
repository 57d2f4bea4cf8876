"""What an equation has named and made so far, and the tokens that it is made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NoReturn, TypeVar

from xdsl.dialects.builtin import DenseArrayBase, DictionaryAttr, StringAttr, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ....lazy_dataclass import dataclass
from ..formulas import Formula, placed_text
from ..values import VALUE

OWN_DIALECT: Final = "pattern."

DEFAULT_DIALECT: Final = "graph"
"""The dialect of a name without a dot: `add` is `graph.add`."""

T = TypeVar("T")

COMPARE: Final = "compare"
"""The condition that a comparison stands for."""

_AFTER_NAME: Final = re.compile(r"(?:-[A-Za-z0-9_]+)+")


class Tokens:
    """The tokens of an equation. Values are names here, never values of the program around the rule."""

    def __init__(self, parser: Parser):
        self.parser = parser

    @property
    def position(self) -> int:
        return self.parser.pos

    def is_kind(self, kind: MLIRTokenKind) -> bool:
        return self.parser._current_token.kind is kind  # pyright: ignore[reportPrivateUsage]

    @property
    def text(self) -> str:
        return self.parser._current_token.text  # pyright: ignore[reportPrivateUsage]

    def take(self) -> str:
        """Returns the text of the current token, and goes to the next one."""
        text = self.text
        self.parser._consume_token()  # pyright: ignore[reportPrivateUsage]
        return text

    def take_if(self, *texts: str) -> str | None:
        """Returns the text of the current token if it is one of `texts`, and goes to the next one then."""
        return self.take() if self.text in texts and not self.is_kind(MLIRTokenKind.STRING_LIT) else None

    def take_word(self, word: str) -> bool:
        """Goes to the next token if the current one is `word`, and not the beginning of a name with hyphens."""
        is_name = _AFTER_NAME.match(self.parser.lexer.input.content, self.position + len(word)) is not None
        return not is_name and self.take_if(word) is not None

    def expect(self, text: str, where: str) -> None:
        if self.take_if(text) is None:
            self.fail(f"expected '{text}' {where}, found {self.found()}")

    def found(self) -> str:
        """Returns the current token as messages show it."""
        return "the end of the text" if self.is_kind(MLIRTokenKind.EOF) else f"'{self.text}'"

    def fail(self, message: str, start: int | None = None) -> NoReturn:
        """Raises an error at the current token, or from `start` up to it."""
        span = self.parser._current_token.span  # pyright: ignore[reportPrivateUsage]
        if start is None or start >= span.start:
            raise ParseError(span, message)
        content = span.input.content
        raise ParseError(Span(start, start + len(content[start : span.start].rstrip()), span.input), message)

    def listed(self, opening: str, closing: str, read: Callable[[], T], what: str) -> list[T]:
        """Reads `what` in brackets, separated by commas. There is at least one."""
        self.expect(opening, f"before {what}")
        found = [read()]
        while not self.take_if(closing):
            self.expect(",", f"or '{closing}' between {what}")
            found.append(read())
        return found

    def string(self, what: str) -> str:
        """Returns a string in quotes."""
        found = self.parser.parse_optional_str_literal()
        return self.fail(f"expected {what} in quotes, found {self.found()}") if found is None else found

    def integer(self, what: str) -> int:
        """Returns an integer that is not negative."""
        found = None
        if self.is_kind(MLIRTokenKind.INTEGER_LIT):
            found = self.parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
        return self.fail(f"expected {what}, found {self.found()}") if found is None else found

    def attribute(self, what: str) -> Attribute:
        """Returns an attribute or a type."""
        found = self.parser.parse_optional_attribute()
        return self.fail(f"expected {what}, found {self.found()}") if found is None else found

    def word(self, what: str) -> str:
        """Returns a name of letters, digits, dots and hyphens. A hyphen belongs to it where no space is around."""
        if not self.is_kind(MLIRTokenKind.BARE_IDENT):
            self.fail(f"expected {what}, found {self.found()}")
        end = self.position + len(self.text)
        name = self.take()
        rest = _AFTER_NAME.match(self.parser.lexer.input.content, end)
        if rest is None:
            return name
        self.parser._resume_from(rest.end())  # pyright: ignore[reportPrivateUsage]
        return name + rest[0]

    def is_variable(self) -> bool:
        return self.is_kind(MLIRTokenKind.PERCENT_IDENT)

    def variable(self, what: str) -> str:
        """Returns a name such as `%x`, without the percent sign."""
        if not self.is_variable():
            self.fail(f"expected {what}, found {self.found()}")
        start, name = self.position, self.take()[1:]
        if name.endswith("-"):
            self.fail(f"'%{name}' is one name; write a space before '-' to subtract", start)
        return name

    def symbol(self) -> str:
        """Returns a name such as `@full`, without the sign and with hyphens."""
        start = self.position
        self.parser._resume_from(start + 1)  # pyright: ignore[reportPrivateUsage]
        return self.word("the name of a builder after '@'")

    def op_name(self, what: str = "the name of an op") -> str:
        """Returns the full name of an op. Fails for a form of the pattern language that equations do not have."""
        at = self.position
        name = self.word(what)
        if name.startswith(OWN_DIALECT):
            self.fail(f"'{name}' has no place in an equation; the normal form has functions, calls and branches", at)
        return name if "." in name else f"{DEFAULT_DIALECT}.{name}"

    def op_names(self) -> list[str]:
        """Returns the full name of an op, or those of several in brackets, of which each will do."""
        return self.op_list() if self.is_kind(MLIRTokenKind.L_SQUARE) else [self.op_name("a pattern")]

    def op_list(self) -> list[str]:
        """Returns the full names of several ops in brackets."""
        names: list[str] = []

        def read() -> None:
            at = self.position
            if (name := self.op_name()) in names:
                self.fail(f"'{name}' stands twice in one list", at)
            names.append(name)

        self.listed("[", "]", read, "the names of ops")
        return names


@dataclass(frozen=True)
class Size:
    """What a name of a size stands for: `size(value, dimension)`, or the `extent(value)` of an axis."""

    function: str
    value: SSAValue
    dimension: int | None = None

    def at(self, place: str) -> Formula:
        """Returns the formula of the size, in which the value stands at `place`."""
        parts = (Formula("name", text=place),)
        if self.dimension is not None:
            parts = (*parts, Formula("number", text=str(self.dimension)))
        return Formula(self.function, parts)


class Scope:
    """The names of an equation, and the ops of its normal form."""

    def __init__(self, tokens: Tokens, block: Block | None = None):
        self.tokens = tokens
        self.block = Block() if block is None else block
        self.names: dict[str, SSAValue] = {}
        self.sizes: dict[str, Size] = {}
        """The names of sizes, each with what it stands for where it was met first."""
        self.functions: dict[str, list[str]] = {}
        """The ops that a name after `for` stands for."""
        self.matched: dict[str, list[SSAValue]] = {}
        """The ops of the match that are of such a name."""
        self._required: list[tuple[int, Sequence[SSAValue], Formula]] = []

    def add(
        self,
        name: str,
        at: int,
        operands: Sequence[SSAValue] = (),
        properties: dict[str, Attribute] | None = None,
        *,
        into: Block | None = None,
        results: int = 1,
        regions: Sequence[Region] = (),
    ) -> Operation:
        """Adds the op `name` of the pattern dialect, for what stands at the position `at`, to the end of `into`."""
        kind = self.tokens.parser.ctx.get_op(f"pattern.{name}")
        op = kind.create(
            operands=operands, properties=properties or {}, result_types=[VALUE] * results, regions=regions
        )
        location_at = getattr(self.tokens.parser, "location_at", None)  # xDSL's own parser knows no places.
        if location_at is not None:
            op.location = location_at(at)
        (self.block if into is None else into).add_op(op)
        return op

    def add_segments(
        self, name: str, at: int, segments: Sequence[Sequence[SSAValue]], properties: dict[str, Attribute]
    ) -> Operation:
        """Adds an op whose operands are in several groups."""
        sizes = DenseArrayBase.from_list(i32, [len(segment) for segment in segments])
        values = [value for segment in segments for value in segment]
        return self.add(name, at, values, {**properties, "operandSegmentSizes": sizes})

    def bind_size(self, name: str, size: Size, at: int) -> None:
        """Calls a size by `name`. Where the name has been met before, both sizes must be equal."""
        if name in self.names or name in self.functions:
            self.tokens.fail(f"%{name} has been bound before", at)
        if size.value.name_hint is None:  # Messages about the size say of what it is one.
            size.value.name_hint = _word_of(size.value)
        known = self.sizes.setdefault(name, size)
        if known != size:
            things = list(dict.fromkeys((known.value, size.value)))
            one, other = known.at("0"), size.at(str(things.index(size.value)))
            self.require_later(at, things, Formula("==", (one, other)))

    def require_later(self, at: int, things: Sequence[SSAValue], formula: Formula) -> None:
        """Requires that two numbers compare, behind the pattern that is being read."""
        self._required.append((at, things, formula))

    def add_required(self) -> None:
        """Adds the conditions that the pattern has, which is read."""
        for at, things, formula in self._required:
            parameters: dict[str, Attribute] = {"formula": StringAttr(placed_text(formula))}
            self.add("require", at, things, named([COMPARE], parameters), results=0)
        self._required.clear()

    def bind(self, name: str, value: SSAValue, at: int) -> None:
        """Calls `value` by `name`. Fails where something else is called so."""
        if name in self.names or name in self.functions or name in self.sizes:
            self.tokens.fail(f"%{name} has been bound before", at)
        self.names[name] = value
        if value.name_hint is None:
            value.name_hint = name

    @staticmethod
    def is_attribute(value: SSAValue) -> bool:
        """Returns whether a name of the match stands for an attribute."""
        return getattr(value.owner, "name", "") == "pattern.attribute"

    def not_bound(self, name: str) -> str:
        """Returns the message about a name that stands for nothing."""
        known = [f"%{each}" for each in (*self.names, *self.sizes)]
        longer = next((each for each in known if each.startswith(f"%{name}-")), None)
        advice = "" if longer is None else f"; '{longer}' is one name, write spaces around '-' to subtract"
        return f"%{name} is not bound by the match; bound are {', '.join(known) or 'none'}{advice}"

    def bound(self, name: str, at: int) -> SSAValue:
        """Returns what `name` is bound to. Fails where that is nothing."""
        if name in self.sizes:
            self.tokens.fail(f"%{name} is a size, where a value stands", at)
        if name not in self.names:
            self.tokens.fail(self.not_bound(name), at)
        return self.names[name]


def _word_of(value: SSAValue) -> str:
    """Returns the last word of the name of an op that a pattern matches, or a word for a value."""
    target = getattr(value.owner, "properties", {}).get("target")
    words = re.findall(r"[A-Za-z_]\w*", target.data) if isinstance(target, StringAttr) else []
    return words[-1] if words else "value"


def end_of_equation(tokens: Tokens, what: str) -> None:
    """Fails where something stands behind an equation that cannot begin the next op of a file."""
    text = tokens.text
    is_word = tokens.is_kind(MLIRTokenKind.BARE_IDENT) and "." not in text and text != "loc"
    if is_word or (text and not tokens.is_kind(MLIRTokenKind.EOF) and text[0] in ",)]{=<>+*/-:?|" and text != "{-#"):
        hint = "; alternatives of conditions are several rules" if tokens.text == "or" else ""
        tokens.fail(f"expected the end of the {what}, found {tokens.found()}{hint}")


def defined_patterns(parser: Parser) -> dict[str, Block]:
    """Returns the bodies of the patterns that the text of `parser` has defined so far, by name."""
    return vars(parser).setdefault("_stepwell_patterns", {})


def named(target: Sequence[str], parameters: Mapping[str, Attribute]) -> dict[str, Attribute]:
    """Returns the properties of an op that stands for an op, a condition or a builder."""
    found: dict[str, Attribute] = {"target": StringAttr(" | ".join(target))}
    if parameters:
        found["parameters"] = DictionaryAttr(dict(parameters))
    return found


def property_name(scope: Scope) -> str | None:
    """Reads `name =` if that is what stands here."""
    tokens = scope.tokens
    if not tokens.is_kind(MLIRTokenKind.BARE_IDENT):
        return None
    content, end = tokens.parser.lexer.input.content, tokens.position + len(tokens.text)
    rest = content[end:].lstrip()[:2]
    if not rest.startswith("=") or rest == "=>":
        return None
    name = tokens.take()
    tokens.take()
    return name
