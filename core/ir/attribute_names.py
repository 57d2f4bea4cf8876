"""
The names that discardable attributes may have.

An attribute in `{…}` that no pass knows is carried along without a word, so a misspelt property would be ignored. The
ops of our dialects, and those that ask for it, have declared names only, and names with a prefix (`mypkg.tag`).
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from functools import cache
from typing import Final

from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation

from ...universe import DIALECTS
from ..messages.diagnostics import closest

DECLARES: Final = "DECLARES_ATTRIBUTES"
"""The class attribute by which an op of another dialect asks for the check. Every graph op has it."""


def wrong_attribute(
    kind: type[IRDLOperation], attributes: Mapping[str, Attribute], properties: Container[str]
) -> tuple[str, str | None] | None:
    """
    Returns what is wrong with the name of an attribute of an op, and a hint. It is `None` when nothing is wrong.

    `kind` is the class of the op. `properties` holds the names of the properties that it has.
    """
    known, declared = _names(kind)
    for name, attribute in attributes.items():
        if declared is None:
            if name in known and name not in properties:
                return f"'{name}' is a property of this op but stands among its attributes", None
        elif "." not in name and name not in declared:
            return _undeclared(kind, name, attribute, known)
    return None


@cache
def _names(kind: type[IRDLOperation]) -> tuple[frozenset[str], frozenset[str] | None]:
    """Returns the properties of a class, and the attributes it declares, or `None` where any may be given."""
    definition = kind.get_irdl_definition()
    # The custom syntax of xDSL for `llvm.func` writes properties among the attributes. emit_llvm_text reads both.
    properties = frozenset(() if kind.name == "llvm.func" else definition.properties)
    closed = kind.name.partition(".")[0] in DIALECTS or getattr(kind, DECLARES, False)
    return properties, frozenset(definition.attributes) if closed else None


def _undeclared(
    kind: type[IRDLOperation], name: str, attribute: Attribute, properties: frozenset[str]
) -> tuple[str, str]:
    if name in properties:
        message = f"'{name}' is a property of this op but stands among its attributes"
        return message, f"write {_spelling(kind, name, attribute)}"
    message = f"the op has no attribute '{name}'"
    near = closest(name, properties)
    if near is not None:
        return message, f"did you mean the property '{near}'? Write {_spelling(kind, near, attribute)}"
    names = ", ".join(sorted(properties))
    known = f"it has the {'property' if len(properties) == 1 else 'properties'} {names}; " if properties else ""
    return message, f"{known}an attribute of your own needs a prefix, as in 'mypkg.{name}'"


def _spelling(kind: type[IRDLOperation], name: str, attribute: Attribute) -> str:
    """Returns how property `name` is written."""
    text_of = getattr(kind, "property_text", None)
    text = None if text_of is None else text_of(name, attribute)
    return f"'{text}'" if text else f"<{{{name} = …}}> in the generic form"
