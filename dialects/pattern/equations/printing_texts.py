"""The texts of the parts of an equation that need no other part: names, numbers, attributes, conditions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import StringIO
from itertools import groupby
from typing import Any, Final

from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.printer import Printer

from ..sizes import sizes_text
from .loops import AXES, KINDS
from .matches import INFIX, NEGATION
from .numbers import written_formula
from .rule import NOT
from .scope import COMPARE, DEFAULT_DIALECT

_SIGNS: Final = {name: sign for sign, name in INFIX.items()}
SUFFIX, OR, AND, NEGATED, SUM, PRODUCT, SIGN, PRIMARY = range(8)
"""The strength with which the parts of an equation bind."""

STORE: Final = -1
"""What a store binds with, which stands alone."""

_RANK: Final = {"+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT}
_OWN_WORDS: Final = ("constant", "any_op", "literal", "argument", "not", "partition", "unordered", *AXES, *KINDS)
NAME: Final = re.compile(r"[A-Za-z_][\w.]*(?:-\w+)*")


class NoEquation(Exception):
    """A rule has a part that equations cannot say."""


def conditions_text(required: Sequence[Operation], write: Callable[[SSAValue], str]) -> str:
    """Returns `where` and conditions, or nothing. Those in a row that have one remark stand in braces."""
    texts: list[str] = []
    for remark, group in groupby(required, lambda op: op.properties.get("remark")):
        found = [_condition_text(op, [write(value) for value in op.operands]) for op in group]
        if remark is not None:
            together = found[0] if len(found) == 1 else f"{{{', '.join(found)}}}"
            found = [f"{together} remark {attribute_text(remark)}"]
        texts += found
    return f" where {', '.join(texts)}" if texts else ""


def _condition_text(op: Operation, arguments: Sequence[str]) -> str:
    name = string_of(op.properties["target"])
    given: dict[str, Attribute] = dict(getattr(op.properties.get("parameters"), "data", {}))
    negated = name == NOT and "condition" in given
    if negated:
        name = string_of(given.pop("condition"))
    if not NAME.fullmatch(name):
        raise NoEquation
    if name == COMPARE and "formula" in given:
        text = written_formula(string_of(given["formula"]), arguments)
    else:
        text = f"{name}({', '.join([*arguments, *named_texts(given)])})"
    return f"not {text}" if negated else text


def is_target(op: Operation, *names: str) -> bool:
    """Returns whether an op stands for a condition or builder of one of these names."""
    return string_of(op.properties["target"]) in names


def application(
    target: str, operands: Sequence[SSAValue], named: Sequence[str], write: Callable[..., str]
) -> tuple[str, int]:
    """Returns an op on operands with a sign where it has one, and else as a call."""
    sign = _SIGNS.get(target)
    if sign and len(operands) == 2 and not named and not any(_is_rest(each) for each in operands):
        rank = _RANK[sign]
        return f"{write(operands[0], rank)} {sign} {write(operands[1], rank + 1)}", rank
    if target == NEGATION and len(operands) == 1 and not named and not _is_rest(operands[0]):
        text = write(operands[0], PRIMARY)
        return (f"negative({text})", PRIMARY) if text[0].isdigit() else (f"-{text}", SIGN)
    head = heads(target)
    return f"{head}({', '.join([*(write(each, SUFFIX) for each in operands), *named])})", PRIMARY


def heads(target: str) -> str:
    """Returns the name of an op as equations have it, or several in brackets."""
    names = [short_name(each.strip()) for each in target.split("|")]
    return names[0] if len(names) == 1 else f"[{', '.join(names)}]"


def _is_rest(value: SSAValue) -> bool:
    return isinstance(value.owner, Operation) and value.owner.name == "pattern.rest"


def short_name(name: str) -> str:
    dialect, _, rest = name.partition(".")
    return rest if dialect == DEFAULT_DIALECT and rest not in _OWN_WORDS and "." not in rest else name


def string_of(attribute: Attribute) -> str:
    return attribute.data  # pyright: ignore


def parameters_of(op: Operation) -> list[str]:
    found: Any = op.properties.get("parameters")
    return [] if found is None else named_texts(found.data)


def named_texts(given: Mapping[str, Attribute]) -> list[str]:
    return [f"{name} = {attribute_text(value)}" for name, value in given.items()]


def attribute_text(attribute: Attribute) -> str:
    """Returns the text of an attribute, without the types that numbers have where none is written."""
    if isinstance(attribute, FloatAttr | IntegerAttr) and str(attribute.type) in ("i64", "f64"):
        text = number_text(attribute)
        return f"{text} : f64" if str(attribute.type) == "f64" else text
    stream = StringIO()
    Printer(stream).print_attribute(attribute)
    return re.sub(r"(?<![\w.])(-?\d+) : i64", r"\1", stream.getvalue())


def number_text(attribute: Attribute) -> str:
    """Returns the text of a number, which has a point where it has an exponent, as the reader asks for."""
    text = repr(attribute.value.data)  # pyright: ignore
    return text if "." in text else text.replace("e", ".0e")


def splat_text(text: str) -> str:
    """Returns a number as an equation has it. The sign of zero is read only where the zero has a point."""
    return text if text == "-0.0" else text.removesuffix(".0")


def wanted_texts(op: Operation) -> Iterator[str]:
    wanted: Any = op.properties.get("wanted")
    for name, value in () if wanted is None else wanted.data.items():
        yield f"{name} = {attribute_text(value)}"


TESTS: Final[dict[str, Callable[[Operation], str]]] = {
    "has_dtype": lambda op: f"dtype {attribute_text(op.properties['dtype'])}",
    "has_type": lambda op: f"type {attribute_text(op.properties['type'])}",
    "has_shape": lambda op: f"shape {sizes_text(op.properties['sizes'])}",  # pyright: ignore
    "has_kind": lambda op: f"kind {attribute_text(op.properties['kinds'])}",
    "has_attr": lambda op: f"{{{', '.join(wanted_texts(op))}}}",
}
"""What `has` says for each op that tests a value."""
