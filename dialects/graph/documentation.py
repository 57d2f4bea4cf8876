"""
Makes the reference page of the graph ops, docs/graph.md, from their definitions.

`python -m stepwell.dialects.graph.documentation > docs/graph.md` brings it up to date. A test fails when it is not.
"""

from __future__ import annotations

import inspect
from io import StringIO
from types import ModuleType

from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation, OptPropertyDef
from xdsl.printer import Printer

from ..traits import Commutative, MayFail
from . import FAMILIES, TensorOp, ops_of
from .element_types import class_members
from .properties import ElementTypeKind, PropertyKind
from .signature import operand_signature

HEADER = """# Graph ops

You write programs on whole tensors with graph ops. This page has each op with its element types, properties and an
example. [semantics.md](semantics.md) fixes what each op computes, element type by element type, and [ir.md](ir.md) has
the grammar. Operands of one op have one element type unless a row says otherwise. This prints the part of one op:

    stepwell-opt --explain-op graph.softmax

`python -m stepwell.dialects.graph.documentation` makes this page from the definitions in `dialects/graph/`.
"""


def title(family: ModuleType) -> str:
    """Returns the heading of a family: the first words of its docstring."""
    return inspect.cleandoc(family.__doc__ or "").split("\n")[0].split(":")[0].removesuffix(".")


def types_text(classes: str) -> str:
    """Returns the element types of a string of class letters, with whole classes given by their range."""
    whole = {"S": "i8 … i64", "U": "ui8 … ui64", "F": " ".join(class_members("F"))}
    whole |= {letter: " ".join(class_members(letter)) for letter in "QBE"}
    return ", ".join(whole[letter] for letter in classes if class_members(letter))


def explain(op_type: type[Operation]) -> str | None:
    """
    Returns the element types of the operands and the kinds of the properties of a graph op, or `None` for any other op.
    """
    rows = [*operand_rows(op_type), *property_rows(op_type)]
    return None if not rows else "\n".join(["types:", *(f"  {name}: {text}" for name, text in rows)])


def operand_rows(op_type: type[Operation]) -> list[tuple[str, str]]:
    """Returns the name and element types of every operand of a graph op."""
    if not issubclass(op_type, TensorOp):
        return []
    return [
        (f"{name}{' (one or more)' if variadic else ''}", types_text(constraint.classes))
        for name, constraint, variadic in operand_signature(op_type)
    ]


def property_rows(op_type: type[Operation]) -> list[tuple[str, str]]:
    """Returns the name, kind and default of every property of a graph op."""
    rows: list[tuple[str, str]] = []
    if not issubclass(op_type, IRDLOperation) or not op_type.name.startswith("graph."):
        return rows
    for name, definition in op_type.get_irdl_definition().properties.items():
        kind = definition.constr
        if not isinstance(kind, PropertyKind):
            continue
        text = kind.word
        if isinstance(definition, OptPropertyDef):
            text += ", may be absent"
        elif definition.default_value is not None:
            text += f", default {default_text(kind, op_type, name)}"
        rows.append((name, text))
    return rows


def default_text(kind: PropertyKind, op_type: type[IRDLOperation], name: str) -> str:
    """Returns the default of a property as it is written in IR."""
    default = op_type.get_irdl_definition().properties[name].default_value
    assert default is not None and not isinstance(kind, ElementTypeKind)
    stream = StringIO()
    kind.print(Printer(stream), default)
    return stream.getvalue()


def link(op_type: type[Operation]) -> str:
    """Returns a link to the section of an op."""
    return f"[{op_type.name.partition('.')[2]}](#{op_type.name.replace('.', '')})"


def section(op_type: type[Operation]) -> str:
    """Returns the section of one op."""
    lines = [f"### {op_type.name}", "", inspect.cleandoc(op_type.__doc__ or ""), ""]
    if operands := operand_rows(op_type):
        lines += [
            "| operand | element types |",
            "|---|---|",
            *(f"| `{name}` | {text} |" for name, text in operands),
            "",
        ]
    if properties := property_rows(op_type):
        lines += [
            "| property | value |",
            "|---|---|",
            *(f"| `{name}` | {text} |" for name, text in properties),
            "",
        ]
    notes: list[str] = []
    if op_type.has_trait(Commutative):
        notes.append("The operands may be exchanged.")
    if issubclass(op_type, MayFail):
        notes.append("The op may fail at run time, so it is never speculated.")
    if notes:
        lines += [" ".join(notes), ""]
    return "\n".join(lines)


def reference_page() -> str:
    """Returns the text of docs/graph.md."""
    parts = [HEADER, "| family | ops |\n|---|---|"]
    parts += [f"| {title(family)} | {' '.join(map(link, ops_of(family)))} |" for family in FAMILIES]
    parts.append("")
    for family in FAMILIES:
        parts.append(f"## {title(family)}\n")
        parts += [section(op_type) for op_type in ops_of(family)]
    return "\n".join(parts)


if __name__ == "__main__":
    print(reference_page(), end="")
