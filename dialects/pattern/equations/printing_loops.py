"""Blocks, loops, loop functions and decisions as equations have them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Operation, SSAValue

from .loops import KINDS, LOAD, STORE

Write = Callable[[SSAValue], str]


def axis_text(op: Operation, name: str | None) -> str:
    """Returns `spatial %i in 16`. An axis of any kind and extent has a text only in the brackets of loops."""
    kind, extent = op.properties.get("kind"), op.properties.get("extent")
    words = [kind.data] if kind is not None else []  # pyright: ignore
    words += [name] if name is not None else ["%_"] if kind is None else []
    words += [f"in {extent.value.data}"] if extent is not None else []  # pyright: ignore
    return " ".join(words)


def loops_text(op: Operation, write: Write, properties: Sequence[str]) -> str:
    """Returns `unordered block(…) {…}`."""
    kind = op.name.removeprefix("pattern.")
    assert kind in KINDS
    count = op.properties["operandSegmentSizes"].get_values()[0]  # pyright: ignore
    arguments = ", ".join([*map(write, op.operands[:count]), *properties])
    inside = ", ".join(map(write, op.operands[count:]))
    return f"{'unordered ' if 'unordered' in op.properties else ''}{kind}({arguments}) {{{inside}}}"


def is_element(op: Operation) -> bool:
    """Returns whether an op of a match is written as an element of a buffer, `%x[%i]`."""
    target = op.properties["target"].data  # pyright: ignore
    place = {LOAD: 0, STORE: 1}.get(target)
    if place is None or len(op.operands) <= place or "parameters" in op.properties or "unordered" in op.properties:
        return False
    buffer = op.operands[place]
    values = op.operands if place else ()
    is_rest = any(isinstance(each.owner, Operation) and each.owner.name == "pattern.rest" for each in values[:1])
    return isinstance(buffer.owner, Operation) and buffer.owner.name == "pattern.any" and not is_rest


def element_text(op: Operation, buffer: Write, write: Write) -> str:
    """Returns `%x[%i]` of a load and `%x[%i] = …` of a store, in the order in which it is read."""
    is_store = op.properties["target"].data == STORE  # pyright: ignore
    place = 1 if is_store else 0
    element = f"{buffer(op.operands[place])}[{', '.join(map(write, op.operands[place + 1 :]))}]"
    return f"{element} = {write(op.operands[0])}" if is_store else element


def root_of_loops(match: Sequence[Operation]) -> tuple[SSAValue, ...]:
    """Returns the pattern of loops that no other holds."""
    loops = [op for op in match if op.name.removeprefix("pattern.") in KINDS]
    inside = {value for op in loops for value in op.operands}
    return tuple(op.results[0] for op in loops if op.results[0] not in inside)
