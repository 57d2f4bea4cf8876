"""A program on the graph level as boxes and arrows, for `stepwell-show`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ...core.messages.diagnostics import Diagnostic, StepwellError, did_you_mean
from ...core.messages.locations import location_string
from ...dialects.traits import constant_kind
from ...lazy_dataclass import dataclass
from .plans import group_of

MOST_LINES = 6
"""Ops of a group that a box names."""

INPUT, OP, GROUP, RESULT = "input", "op", "group", "result"


@dataclass(frozen=True)
class Box:
    """One box: the lines in it, and all that is known about it, which does not fit."""

    kind: str
    title: str
    lines: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    place: str = ""
    kernels: tuple[str, ...] = ()
    """Names that kernels made of it may begin with."""
    ops: int = 1
    microseconds: float | None = None
    share: float = 0.0
    group: int | None = None
    """The number that a fusion plan gives the op."""


@dataclass
class Boxes:
    """All boxes, by number, and arrows from box to box, each once."""

    boxes: list[Box] = field(default_factory=list)
    arrows: list[tuple[int, int]] = field(default_factory=list)


def boxes_of(module: ModuleOp, entry: str) -> Boxes:
    """
    The function `entry`: a box per argument, per op, and one for the results; a group (a call of a private function, an
    op with regions) is one box that names what is in it. Weights and constants are lines of the boxes that use them.

    Raises StepwellError where there is no such function of one block.
    """
    functions = {each.sym_name.data: each for each in module.ops if isinstance(each, func.FuncOp)}
    function = functions.get(entry)
    if function is None or len(function.body.blocks) != 1:
        known = ", ".join(f"@{name}" for name in functions) or "none"
        hint = did_you_mean(entry, functions) or f"its functions are: {known}"
        raise StepwellError(Diagnostic(f"there is no func.func @{entry} of one block to draw", hint=hint))
    made, sources = Boxes(), dict[SSAValue, int]()
    for index, argument in enumerate(function.body.block.args):
        sources[argument] = len(made.boxes)
        made.boxes.append(Box(INPUT, argument.name_hint or f"arg{index}", (type_text(argument.type),)))
    for op in function.body.block.ops:
        if constant_kind(op) is not None:  # What uses a constant names it, so it needs no box.
            continue
        number = len(made.boxes)
        made.boxes.append(_box(op, functions))
        sources.update(dict.fromkeys(op.results, number))
        used = (operand for inner in op.walk() for operand in inner.operands)
        befores = dict.fromkeys(sources[value] for value in used if value in sources)
        made.arrows += [(before, number) for before in befores if before != number]
    return made


def type_text(type_: Attribute) -> str:
    """`64x128xf32`."""
    text = str(type_)
    return text.removeprefix("tensor<").removesuffix(">") if isinstance(type_, TensorType) else text


def _box(op: Operation, functions: dict[str, func.FuncOp]) -> Box:
    place, results = location_string(op), [type_text(result.type) for result in op.results]
    constants = [_constant(operand.owner) for operand in op.operands if isinstance(operand.owner, Operation)]
    constants = [text for text in constants if text]
    if isinstance(op, func.ReturnOp):
        return Box(RESULT, "results", tuple(type_text(value.type) for value in op.operands), place=place)
    inside: list[Operation] = []
    callee = functions.get(op.callee.string_value()) if isinstance(op, func.CallOp) else None
    if callee is not None:
        inside = list(_ops(callee.walk()))
    elif op.regions:
        inside = list(_ops(each for region in op.regions for each in region.walk()))
    title = f"@{callee.sym_name.data}" if callee is not None else _short(op)
    lines = [*map(_short, inside[:MOST_LINES]), *_more(len(inside) - MOST_LINES)]
    shown = (*lines, *constants[:3], *_more(len(constants) - 3, "weights"), "→ " + ", ".join(results[:3]))
    kernels = (callee.sym_name.data,) if callee is not None else (op.name.rpartition(".")[2],)
    details = (str(op).splitlines()[0][:300], *(str(each).splitlines()[0][:300] for each in inside), place)
    kind = GROUP if inside else OP
    group = group_of(op)
    shown = shown if group is None else (*shown, f"group {group}")
    return Box(kind, title, shown, details, place, kernels, max(1, len(inside)), group=group)


def _ops(found: Iterable[Operation]) -> Iterator[Operation]:
    """Ops that compute."""
    for op in found:
        if constant_kind(op) is None and op.results and op.name.partition(".")[0] not in ("func", "builtin"):
            yield op


def _more(count: int, what: str = "more") -> list[str]:
    if count <= 0:
        return []
    return [f"… {count} more" if what == "more" else f"… {count} more {what}"]


def _short(op: Operation) -> str:
    """The name of an op, without the dialect `graph`."""
    return op.name.removeprefix("graph.")


def _constant(op: Operation) -> str:
    """A weight or constant as a line; empty for other ops."""
    if constant_kind(op) is None:
        return ""
    key = op.properties.get("key") or op.attributes.get("key")
    name = key.data if isinstance(key, StringAttr) else op.name.rpartition(".")[2]
    return f"{name}: {type_text(op.results[0].type)}"


def with_chains(given: Boxes) -> Boxes:
    """
    The same with each chain of ops as one box: ops of which each is the only one to use the one before, and uses
    nothing else. For programs whose single ops nobody could read.
    """
    after: dict[int, list[int]] = {}
    before: dict[int, list[int]] = {}
    for one, other in given.arrows:
        after.setdefault(one, []).append(other)
        before.setdefault(other, []).append(one)

    def joins(number: int) -> bool:
        """Whether a box goes into that of the only box before it."""
        sources = before.get(number, [])
        if len(sources) != 1 or len(after[sources[0]]) != 1:
            return False
        return all(given.boxes[each].kind in (OP, GROUP) for each in (number, sources[0]))

    made, place = Boxes(), dict[int, int]()
    members: list[list[Box]] = []
    for number, box in enumerate(given.boxes):  # what a box uses stands before it
        if joins(number):
            place[number] = place[before[number][0]]
            members[place[number]].append(box)
        else:
            place[number] = len(members)
            members.append([box])
    made.boxes = [_chain(each) for each in members]
    pairs = ((place[one], place[other]) for one, other in given.arrows)
    made.arrows = list(dict.fromkeys(pair for pair in pairs if pair[0] != pair[1]))
    return made


def _chain(boxes: Sequence[Box]) -> Box:
    if len(boxes) == 1:
        return boxes[0]
    names = [box.title for box in boxes]
    times = [box.microseconds for box in boxes if box.microseconds is not None]
    return replace(
        boxes[-1],
        kind=GROUP,
        title=f"{names[0]} … {names[-1]}" if len(names) > 2 else " ".join(names),
        lines=(*names[:MOST_LINES], *_more(len(names) - MOST_LINES), boxes[-1].lines[-1]),
        details=tuple(line for box in boxes for line in box.details),
        ops=sum(box.ops for box in boxes),
        microseconds=sum(times) if times else None,
        share=sum(box.share for box in boxes),
        group=boxes[0].group if len({box.group for box in boxes}) == 1 else None,
    )
