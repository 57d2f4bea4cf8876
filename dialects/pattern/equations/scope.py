"""What an equation has named and made so far, and the tokens that it is made of."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NoReturn

from xdsl.dialects.builtin import DenseArrayBase, DictionaryAttr, StringAttr, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ....lazy_dataclass import dataclass
from ..formulas import Formula, placed_text
from ..values import VALUE

DEFAULT_DIALECT: Final = "graph"
"""The dialect of a name without a dot: `add` is `graph.add`."""

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

    def op_name(self) -> str:
        """Returns the full name of an op."""
        name = self.word("the name of an op")
        return name if "." in name else f"{DEFAULT_DIALECT}.{name}"

    def op_names(self) -> list[str]:
        """Returns the full name of an op, or those of several in brackets, of which each will do."""
        if not self.is_kind(MLIRTokenKind.L_SQUARE):
            return [self.op_name()]
        return self.parser.parse_comma_separated_list(Parser.Delimiter.SQUARE, self.op_name)


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
        known = self.sizes.setdefault(name, size)
        if known != size:
            things = list(dict.fromkeys((known.value, size.value)))
            one, other = known.at("0"), size.at(str(things.index(size.value)))
            formula = StringAttr(placed_text(Formula("==", (one, other))))
            self.add("require", at, things, named(["compare"], {"formula": formula}), results=0)

    def bind(self, name: str, value: SSAValue, at: int) -> None:
        """Calls `value` by `name`. Fails where something else is called so."""
        if name in self.names or name in self.functions or name in self.sizes:
            self.tokens.fail(f"%{name} has been bound before", at)
        self.names[name] = value
        if value.name_hint is None:
            value.name_hint = name

    def bound(self, name: str, at: int) -> SSAValue:
        """Returns what `name` is bound to. Fails where that is nothing."""
        if name in self.sizes:
            self.tokens.fail(f"%{name} is a size, where a value stands", at)
        if name not in self.names:
            known = ", ".join(f"%{each}" for each in self.names)
            self.tokens.fail(f"%{name} is not bound by the match; bound are {known}", at)
        return self.names[name]


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
