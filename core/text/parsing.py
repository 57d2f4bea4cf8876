"""Parsing of IR text: every op and block argument gets its place in the source, every error its line."""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any, Final, NoReturn, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyVectorType,
    FileLineColLoc,
    FloatAttr,
    FusedLoc,
    LocationAttr,
    ModuleOp,
    NoneAttr,
    TensorType,
    UnitAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Block, BlockArgument, Dialect, Operation, SSAValue
from xdsl.parser import AttrParser, Parser, ParserState, UnresolvedOperand
from xdsl.utils.exceptions import MultipleSpansParseError, ParseError
from xdsl.utils.lexer import Input, Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ..ir.verification import verify_module
from ..messages.diagnostics import Diagnostic, StepwellError, did_you_mean
from ..messages.files import cannot
from ..messages.locations import UNNAMED_TEXT, LocationFactory, end_of_text_before
from ..messages.points import SourcePoint
from ..messages.texts import NESTED_TOO_DEEPLY, no_text, other_content, other_format
from ..plugins import registry
from ..roles import FLAGS, NAMES, PREFIXES
from .lexing import StepwellLexer
from .limits import LARGEST_EXTENT, MOST_ALIASES, MOST_DIMENSIONS, MOST_INLINE_ELEMENTS, holds_too_much
from .numbers import LiteralElement, number_out_of_range
from .plain_ops import PlainOps
from .unknown import unknown_op


class HintedParseError(ParseError):
    """A parse error with a line of advice."""

    def __init__(self, span: Span, message: str, hint: str | None):
        super().__init__(span, message)
        self.hint = hint


class _Aliases(dict[str, Attribute]):
    """The attributes and types by alias. It counts what they stand for as they are used."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: dict[str, int] = {}
        self.used = 0

    def __getitem__(self, name: str) -> Attribute:
        self.used += self.sizes[name]
        return super().__getitem__(name)


class StepwellParser(Parser):
    """
    xDSL's parser, plus locations and sharper errors.

    Ops and block arguments without a written `loc(...)` get the `FileLineColLoc` of their first character.
    An undefined value is reported where it is used, an unknown op at its name.
    `line_offset` is added to line numbers: the number of lines before this text in its file.
    """

    def __init__(self, ctx: Context, text: str, name: str = UNNAMED_TEXT, line_offset: int = 0):
        # As Parser.__init__, with another lexer.
        AttrParser.__init__(self, ParserState(StepwellLexer(Input(text, name))), ctx)
        self.attribute_aliases = self._aliases = _Aliases()
        self._dimensions = 0
        self.ssa_values = {}
        self.blocks = {}
        self.forward_block_references = defaultdict(list)
        self.forward_ssa_references = {}
        self._locations = LocationFactory(name, text, line_offset)
        self._first_use: dict[str, Span] = {}
        self._defined_names: set[str] = set()
        self._plain_ops = PlainOps[StepwellParser](self._locations)
        self.op_start = 0
        """Offset of the op whose parsing began last."""
        self.op_name = ""
        """Its name, once it has been read."""

    def _parse_attribute_entry(self) -> tuple[str, Attribute]:
        start = self.pos
        name, value = super()._parse_attribute_entry()
        if name.startswith(PREFIXES) and name not in NAMES and not self.ctx.allow_unregistered:
            near = did_you_mean(name, NAMES)
            message = f"there is no attribute '{name}'"
            self.raise_error(message if near is None else f"{message}, {near}", start, start + len(name))
        if name in FLAGS and not isinstance(value, UnitAttr):
            message = f"attribute '{name}' takes no value, found {value}: leave it out where it does not hold"
            self.raise_error(message, start, start + len(name))
        return name, value

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        start = self.pos
        if self._current_token.kind is MLIRTokenKind.EOF:
            self.raise_error("the program is empty: expected an operation")
        try:
            module = super().parse_module(allow_implicit_module)
        except ParseError as error:
            if self.forward_ssa_references and self._current_token.kind is MLIRTokenKind.EOF:
                self._raise_undefined_value()
            if error.msg.startswith("Could not parse entire input"):
                span = self._current_token.span
                raise ParseError(span, f"expected an operation, found '{span.text}'") from None
            raise
        if isinstance(module.location, UnknownLoc):
            module.location = self._locations.at(start)
        return module

    def _raise_undefined_value(self) -> NoReturn:
        name = min(self.forward_ssa_references, key=lambda name: self._first_use[name].start)
        if name in self._defined_names:
            hint = f"%{name} is defined elsewhere, but not visible here"
        else:
            hint = did_you_mean(f"%{name}", (f"%{known}" for known in self._defined_names))
        raise HintedParseError(self._first_use[name], f"value %{name} is used but never defined", hint)

    def parse_operation(self) -> Operation:
        start = self.op_start = self.pos
        self.op_name = ""
        op = self._parse_plainly(start) or super().parse_operation()
        if isinstance(op.location, UnknownLoc):
            op.location = self._locations.at(start)
        return op

    def location_at(self, position: int) -> FileLineColLoc:
        """Returns the place of a position in the text, for ops that stand for a part of what an op is written as."""
        return self._locations.at(position)

    def _parse_plainly(self, start: int) -> Operation | None:
        """The op that begins at `start` if it is written in the usual way; nothing is consumed otherwise."""
        made = self._plain_ops.read(self, start)
        if made is None:
            return None
        op, result, end = made
        self.op_name = op.name
        self._resume_from(end)
        if self._current_token.text == "loc" and (location := self.parse_optional_location()) is not None:
            op.location = location
        self._register_ssa_definition(result.text[1:], op.results, result)
        return op

    def raise_error(
        self,
        msg: str,
        at_position: Span[str] | int | None = None,
        end_position: int | None = None,
    ) -> NoReturn:
        """
        Ends parsing as xDSL's method does, but what is missing at the end of a line is not blamed on the next line.
        """
        if at_position is None or at_position is self._current_token.span:
            start = self._current_token.span.start
            end = end_of_text_before(self.lexer.input.content, start)
            if "\n" in self.lexer.input.content[end:start]:
                at_position = Span(end, end, self.lexer.input)
        if end_position is None:
            super().raise_error(msg, at_position)
        super().raise_error(msg, cast(int, at_position), end_position)

    def _parse_location(self) -> LocationAttr:
        """Reads the metadata of fused locations too, which xDSL prints and does not read: `fused<["a-rule"]>[...]`."""
        token = self._current_token
        if token.text != "fused":
            return super()._parse_location()
        self._consume_token(token.kind)
        metadata: Attribute = NoneAttr()
        if self.parse_optional_punctuation("<") is not None:
            metadata = self.parse_attribute()
            self.parse_punctuation(">")
        parts = self.parse_comma_separated_list(self.Delimiter.SQUARE, self._parse_location)
        return FusedLoc(tuple(parts), metadata)

    def source_point_at(self, offset: int) -> SourcePoint:
        location = self._locations.at(offset)
        return SourcePoint(location.filename.data, location.line.data, location.column.data)

    def _parse_block(self) -> Block:
        token = self._current_token
        if token.kind is MLIRTokenKind.EOF:
            self.raise_error("the text ends inside a region, expected '}'")
        if token.kind is not MLIRTokenKind.CARET_IDENT:
            raise ParseError(token.span, f"expected an operation, a block label or '}}', found '{token.text}'")
        name = token.text[1:]
        if name in self.blocks and name not in self.forward_block_references:
            raise ParseError(token.span, f"re-declaration of block '{name}'")
        return super()._parse_block()

    def resolve_operand(self, operand: UnresolvedOperand, type: Attribute) -> SSAValue:
        name = operand.operand_name
        if name not in self.ssa_values:
            self._first_use.setdefault(name, operand.span)
        return super().resolve_operand(operand, type)

    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: Span) -> None:
        super()._register_ssa_definition(name, values, span)
        self._defined_names.add(name)
        for value in values:
            if isinstance(value, BlockArgument) and isinstance(value.location, UnknownLoc):
                value.location = self._locations.at(span.start)

    def _get_op_by_name(self, name: str) -> type[Operation]:
        op_type = self.ctx.get_optional_op(name, dialect_stack=self._parser_state.dialect_stack)
        if op_type is not None:
            self.op_name = name
            return op_type
        raise HintedParseError(self._span_before_token(name), *unknown_op(self.ctx, name))

    def _span_before_token(self, name: str) -> Span:
        """The span of `name`, which has just been consumed."""
        text = self.lexer.input.content
        start = text.rfind(name, 0, self.pos)
        return self._current_token.span if start < 0 else Span(start, start + len(name), self.lexer.input)

    def _parse_alias_def(self) -> None:
        name = self._current_token
        self._aliases.used = 0
        super()._parse_alias_def()
        self._aliases.sizes[name.text] = size = 1 + self._aliases.used
        if size > MOST_ALIASES:
            message = f"alias '{name.text}' stands for {size} aliases, expected at most {MOST_ALIASES}"
            raise ParseError(name.span, message)

    def parse_dimension_list(self) -> list[int]:
        self._dimensions = 0
        return super().parse_dimension_list()

    def _parse_vector_attrs(self) -> AnyVectorType:
        self._dimensions = 0
        return super()._parse_vector_attrs()

    def _parse_tensor_literal_element(self) -> AttrParser._TensorLiteralElement:
        element = super()._parse_tensor_literal_element()
        return LiteralElement(element.is_negative, element.value, element.span)

    def parse_optional_builtin_int_or_float_attr(self) -> Any:
        start, spelled = self.pos, self._current_token.text
        number = super().parse_optional_builtin_int_or_float_attr()
        if isinstance(number, FloatAttr) and spelled[:2] not in ("0x", "0X") and not isfinite(number.value.data):
            digits = self.lexer.input.content[start : self.pos].partition(":")[0].strip()
            self.raise_error(f"{digits} is too large for {number.type}", start, start + len(digits))
        return number

    def parse_shape_dimension(self, allow_dynamic: bool = True) -> int:
        self._dimensions += 1
        if self._dimensions > MOST_DIMENSIONS:
            self.raise_error(f"a type has at most {MOST_DIMENSIONS} dimensions")
        start = self.pos
        extent = super().parse_shape_dimension(allow_dynamic)
        if extent > LARGEST_EXTENT:
            self.raise_error(f"an extent is at most {LARGEST_EXTENT}, found {extent}", start, self.pos)
        return extent

    def _parse_tensor_attrs(self) -> Any:
        start = self.pos
        type = super()._parse_tensor_attrs()
        if isinstance(type, TensorType) and holds_too_much(type):
            self.raise_error(f"a tensor spans fewer than 2**63 bytes, which {type} exceeds", start, self.pos)
        return type

    def _parse_dense_literal_type(self) -> Any:
        start = self.pos
        type = super()._parse_dense_literal_type()
        elements = 1
        for extent in type.get_shape():
            elements *= extent
        if elements > MOST_INLINE_ELEMENTS:
            self.raise_error(
                f"a dense attribute holds at most {MOST_INLINE_ELEMENTS} elements, {type} has {elements}",
                start,
                self.pos,
            )
        return type


# Whole programs


def make_context(*, allow_unregistered: bool = False) -> Context:
    """A context with every dialect of xDSL, of Stepwell and of installed packages, each loaded on first use."""
    ctx = Context(allow_unregistered=allow_unregistered)
    for name, factory in registry().dialects.items():
        ctx.register_dialect(name, partial(_load_dialect, name, factory))
    return ctx


def _load_dialect(name: str, factory: Callable[[], Dialect]) -> Dialect:
    """Loads a dialect; a package that cannot be imported is told apart from a fault of the program."""
    try:
        return factory()
    except Exception as error:
        message = f"dialect '{name}' cannot be loaded: {type(error).__name__}: {error}"
        raise StepwellError(Diagnostic(message)) from error


def parse_text(
    ctx: Context,
    text: str,
    name: str = UNNAMED_TEXT,
    *,
    line_offset: int = 0,
    allow_implicit_module: bool = True,
    source: str | None = None,
) -> ModuleOp:
    """
    Parses a program. Whatever goes wrong is raised as a `StepwellError` with its place.

    `source` is the text of the whole file when `text` is a piece of it that `line_offset` lines precede.
    """
    parser: StepwellParser | None = None
    try:
        parser = StepwellParser(ctx, text, name, line_offset)
        return parser.parse_module(allow_implicit_module)
    except ParseError as error:
        diagnostic = diagnostic_of_parse_error(error, line_offset)
    except StepwellError as error:
        diagnostic = _failure_at_op(parser, error.diagnostic.message)
    except RecursionError:
        diagnostic = _failure_at_op(parser, NESTED_TOO_DEEPLY)
    except MemoryError:
        diagnostic = _failure_at_op(parser, "the program does not fit in memory")
    except Exception as error:
        # Constructors of attributes and ops check their arguments with exceptions of every kind.
        diagnostic = _failure_at_op(parser, _message_of(error))
        if parser is not None and (found := number_out_of_range(error, text[parser.op_start : parser.pos])) is not None:
            message, start, end = found
            point = parser.source_point_at(parser.op_start + start)
            diagnostic = Diagnostic(message, point=point, length=end - start)
        raise StepwellError(diagnostic, {name: text if source is None else source}) from error
    raise StepwellError(diagnostic, {name: text if source is None else source})


def _failure_at_op(parser: StepwellParser | None, message: str) -> Diagnostic:
    if parser is None:
        return Diagnostic(message)
    subject = f"'{parser.op_name}': " if parser.op_name else ""
    return Diagnostic(subject + message, point=parser.source_point_at(parser.op_start))


def _message_of(error: Exception) -> str:
    message = str(error)
    if message.startswith("Unexpected attribute "):  # what xDSL says of a type that an op does not take
        return f"type {message.removeprefix('Unexpected attribute ')} is not one that this op takes"
    if "integer string conversion" in message:
        return f"an integer has more than {sys.get_int_max_str_digits()} digits"
    return message or type(error).__name__


def diagnostic_of_parse_error(error: ParseError, line_offset: int = 0) -> Diagnostic:
    """The diagnostic that says what an xDSL parse error says."""
    notes: list[Diagnostic] = []
    if isinstance(error, MultipleSpansParseError):
        for span, message in error.refs:
            notes.append(Diagnostic(message or error.ref_text or "see here", "note", _point(span, line_offset)))
    return Diagnostic(
        error.msg.replace("{first_char}", f"'{error.span.text[:1]}'"),
        point=_point(error.span, line_offset),
        length=max(1, error.span.len),
        hint=getattr(error, "hint", None),
        notes=tuple(notes),
    )


def _point(span: Span[Any], line_offset: int) -> SourcePoint:
    file, line, column = span.get_location()
    return SourcePoint(file, line + line_offset, column)


_STARTS_LIKE_IR: Final = re.compile(r"\s*([%\"#!{]|//|module\b|[A-Za-z_][\w$]*(\.[\w$]+)+[\s({])")


def is_program_text(path_or_text: str) -> bool:
    """Returns whether a string is IR rather than a path. IR has a newline, is empty, or starts with an op."""
    return "\n" in path_or_text or not path_or_text or _STARTS_LIKE_IR.match(path_or_text) is not None


def parse(path_or_text: str | Path, *, ctx: Context | None = None, verify: bool = True) -> ModuleOp:
    """
    Reads a program from a file, or from text when given a string with a newline or one that starts with an op.

    Raises `StepwellError` when it cannot be read or parsed, `VerificationError` when it is not valid IR.
    """
    name, text = named_text(path_or_text)
    module = parse_text(make_context() if ctx is None else ctx, text, name)
    if verify:
        verify_module(module, sources={name: text})
    return module


def named_text(path_or_text: str | Path) -> tuple[str, str]:
    """
    Returns what locations call a program, and its text, read from its file unless given. Errors are those of
    `read_source`.
    """
    if isinstance(path_or_text, str) and is_program_text(path_or_text):
        return UNNAMED_TEXT, path_or_text
    return str(path_or_text), read_source(path_or_text)


def read_source(path: str | Path) -> str:
    """
    Returns the text of a file, or of standard input for `-`. Raises `StepwellError` when it is not readable UTF-8.
    """
    name = str(path)
    if name == "-" and sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
        raise StepwellError(Diagnostic("cannot read '-': standard input is closed"))
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(path).read_bytes()
    except IsADirectoryError:
        raise StepwellError(Diagnostic(f"cannot read '{name}': it is a directory, expected a file")) from None
    except (OSError, ValueError) as error:
        raise cannot("read", name, error) from None
    return decode_source(data, name)


def decode_source(data: bytes, name: str) -> str:
    """Returns `data` as text without a byte order mark. Anything that is not UTF-8 is an error at its place."""
    if (error := other_format(name) or other_content(name, data)) is not None:
        raise error
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        if b"\0" in data:
            raise no_text(name) from None
        before = data[: error.start].decode("utf-8", "replace")
        point = SourcePoint(name, before.count("\n") + 1, len(before) - before.rfind("\n"))
        text = data.decode("utf-8", "replace")
        message = f"byte 0x{data[error.start]:02x} is not valid UTF-8"
        raise StepwellError(Diagnostic(message, point=point), {name: text}) from None
