"""Patterns of loop functions, loops and blocks of `tensor_loop`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, ClassVar, Final, Literal

from xdsl.ir import BlockArgument, Operation, SSAValue

from ...analysis.loop_nests import body_ops
from ...core.ir.kinds import is_kind
from ...dialects.pattern.loops import AXIS_KINDS
from ...dialects.tensor_loop import BlockOp, Extent, InitOp, LoopOp
from ...lazy_dataclass import dataclass
from .patterns import Op, Pattern, Rest, fresh_key, frozen
from .registry import RuleError

AXES_OF: Final = {"block": ("spatial", "reduce"), "nest": ("serial", "parallel", "vectorized", "unrolled")}
"""The kinds of axes that the arguments of each kind of loops have."""

LoopsKind = Literal["block", "nest", "kernel"]

OP_NAMES: Final[Mapping[str, frozenset[str]]] = {
    "block": frozenset({"tensor_loop.block"}),
    "nest": frozenset({"tensor_loop.grid", "tensor_loop.for"}),
    "kernel": frozenset({"tensor_loop.func"}),
}
"""The names of the ops that each kind of `Loops` matches."""

INNER: Final[Mapping[str, tuple[str, ...]]] = {"block": (), "nest": ("nest", "block"), "kernel": ("nest", "block")}
"""The kinds of `Loops` that each kind may hold."""


@dataclass(frozen=True, repr=False)
class Axis(Pattern):
    """
    An axis of a block, or the variable of a loop.

    `kind` is `spatial` or `reduce` for blocks, `serial`, `parallel`, `vectorized` or `unrolled` for loops. `None` is
    any kind, and an `extent` of `None` is any extent. The formula `extent($0)` is the extent of an axis.
    """

    kind: str | None = None
    extent: int | None = None
    key: str = field(default_factory=fresh_key)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind is not None and self.kind not in AXIS_KINDS:
            raise RuleError(f"unknown kind of axis '{self.kind}', expected one of {', '.join(AXIS_KINDS)}")

    def why_not(self, value: SSAValue) -> str | None:
        """Returns why a value is not this axis, or `None` when it is."""
        found = axis_of(value)
        if found is None:
            return "expected an axis of a block or a loop variable"
        kind, extent = found
        if self.kind not in (None, kind):
            return f"expected a {self.kind} axis, found a {kind} one"
        if self.extent is not None and extent != self.extent:
            return (
                f"expected an extent of {self.extent}, found {extent if isinstance(extent, int) else 'an unknown one'}"
            )
        return None


_WITH_AXES: Final = (BlockOp, LoopOp)


def axis_of(value: SSAValue) -> tuple[str, Extent] | None:
    """Returns the kind and the extent of an axis or loop variable, and `None` for any other value."""
    if value.__class__ is not BlockArgument:
        return None
    argument: Any = value
    region = argument.block.parent
    holder: Any = None if region is None else region.parent
    if not is_kind(holder.__class__, _WITH_AXES):
        return None
    index = argument.index
    if holder.__class__ is BlockOp:
        return holder.axis(index)
    return holder.kinds[index], holder.extents[index]


@dataclass(frozen=True, repr=False)
class Loops(Pattern):
    """
    A block, loops or a loop function, as `kind` says, by its arguments and by what it does.

    The arguments are the axes of a `block`, the variables of the loops of a `nest`, and the buffers of a `kernel`. A
    last `Rest` takes those that are left, and `is_unordered` ones match in any order.

    The parts are the stores of a block without those of its init, and the loops and blocks inside the innermost loop of
    a nest or in a kernel. All of them match, in their order. A `Rest` among them stands for any number of others.
    `attributes` are those of `Op`.
    """

    levels: ClassVar[int] = 1
    far_reaching: ClassVar[bool] = True

    kind: LoopsKind
    arguments: tuple[Pattern, ...]
    inside: tuple[Pattern, ...]
    attributes: tuple[tuple[str, Any], ...] = ()
    key: str = field(default_factory=fresh_key)
    is_unordered: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(isinstance(each, Rest) for each in self.arguments[:-1]):
            raise RuleError(f"a rest of arguments must be the last one of a {self.kind}")
        for each in self.inside:
            if not isinstance(each, Loops | Op | Rest):
                raise RuleError(f"a part of a {self.kind} is an op, not a value")
            if isinstance(each, Loops) and each.kind not in INNER[self.kind]:
                raise RuleError(f"a {each.kind} cannot be inside a {self.kind}")
            if isinstance(each, Rest) and each.each is not None:
                raise RuleError(f"the parts of a {self.kind} are ops, of which 'each' says nothing")

    def parts(self) -> tuple[Pattern, ...]:
        return (*self.arguments, *self.inside)

    def unordered(self) -> Loops:
        """Returns the pattern whose arguments stand in any order."""
        return replace(self, is_unordered=True)

    @property
    def single_arguments(self) -> tuple[Pattern, ...]:
        """Returns the patterns of one argument each."""
        return tuple(each for each in self.arguments if not isinstance(each, Rest))

    @property
    def rest(self) -> Rest | None:
        """Returns the pattern of the arguments that are left."""
        last = self.arguments[-1] if self.arguments else None
        return last if isinstance(last, Rest) else None


def block(*axes: Pattern, of: tuple[Pattern, ...], **attributes: Any) -> Loops:
    """Returns the pattern of a `tensor_loop.block` with these axes that does the stores `of` it."""
    return _loops("block", axes, of, attributes)


def nest(*variables: Pattern, of: tuple[Pattern, ...], **attributes: Any) -> Loops:
    """Returns the pattern of loops with these variables, outermost first, around the blocks and loops `of` them."""
    return _loops("nest", variables, of, attributes)


def kernel(*buffers: Pattern, of: tuple[Pattern, ...], **attributes: Any) -> Loops:
    """Returns the pattern of a `tensor_loop.func` with these buffers that runs the loops and blocks `of` it."""
    return _loops("kernel", buffers, of, attributes)


def _loops(kind: LoopsKind, arguments: tuple[Pattern, ...], of: tuple[Pattern, ...], attributes: Any) -> Loops:
    return Loops(kind, arguments, of, tuple((name, frozen(value)) for name, value in attributes.items()))


# What programs have


def parts_of(op: Operation) -> tuple[Operation, ...]:
    """
    Returns what an op with a body does, in order: its ops without results or with regions, but not its init.

    A choice between two stores is one such part, and no `memref.store`.
    """
    return tuple(
        each
        for each in body_ops(op.regions[0].block)
        if (not each.results or each.regions) and not isinstance(each, InitOp)
    )


def arguments_of(op: Operation, kind: str, count: int, more: bool) -> tuple[tuple[SSAValue, ...], Operation] | None:
    """
    Returns the arguments of an op that is matched by a pattern of this kind, and the op whose body counts.

    Loops are followed inwards as long as one holds nothing but the next, up to `count` variables, and on where `more`
    may be. It is `None` where the op is of another kind or the numbers differ.
    """
    if op.name not in OP_NAMES[kind]:
        return None
    arguments = tuple(op.regions[0].block.args)
    while kind == "nest" and (len(arguments) < count or more):
        inner = parts_of(op)
        if len(inner) != 1 or not isinstance(inner[0], LoopOp) or len(body_ops(op.regions[0].block)) != 1:
            break
        op = inner[0]
        arguments = (*arguments, *op.regions[0].block.args)
    fits = len(arguments) >= count if more else len(arguments) == count
    return (arguments, op) if fits else None


__all__ = [
    "OP_NAMES",
    "Axis",
    "Loops",
    "arguments_of",
    "axis_of",
    "block",
    "kernel",
    "nest",
    "parts_of",
]
