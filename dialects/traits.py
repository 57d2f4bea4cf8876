"""
Interfaces that passes use instead of op names. A dialect of another package joins CSE, folding, fusion, lowering and
the reference checks by implementing them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Operation, SSAValue
from xdsl.traits import IsTerminator, MemoryEffect, MemoryEffectKind, NoMemoryEffect, OpTrait, get_effects

from ..core.ir.kinds import is_kind
from ..lazy_dataclass import dataclass

if TYPE_CHECKING:
    from .. import te


class Commutative(OpTrait):
    """
    Means that `op(a, b)` computes the same bits as `op(b, a)`, so operands may be compared and matched in any order.
    """


ConstantKind = Literal["literal", "splat", "weight", "scalar"]


@dataclass(frozen=True)
class ConstantLike(OpTrait):
    """Means that the one result of the op is known before the program runs. The op has no operands."""

    kind: ConstantKind
    """
    The kind of constant. A literal lists its elements, a splat repeats one, and a weight has them in a file, not in the
    program.
    """


IN_PROGRAM: frozenset[ConstantKind | None] = frozenset({"literal", "splat", "scalar"})
"""The kinds of constants whose property `value` is their result."""


class ClosedToLoops(OpTrait):
    """
    Means that the regions of the op see the values of the enclosing function, but none of the loops and blocks in
    between.
    """


@dataclass(frozen=True)
class BoxAccess:
    """The box `buffer[indices[d] : sizes[d], ...]`, loaded or stored as a whole."""

    buffer: SSAValue
    indices: tuple[SSAValue, ...]
    sizes: tuple[int, ...]
    is_store: bool


@dataclass(frozen=True)
class ElementAccess:
    """
    The elements `buffer[indices + sum of m * step * e(dimension)]`, for each of the `moves` (dimension, step, count)
    with a number `m` from 0 to `count - 1`.
    """

    buffer: SSAValue
    indices: tuple[SSAValue, ...]
    moves: tuple[tuple[int, int, int], ...]
    is_store: bool


class AccessesBoxes(ABC):
    """
    An op that loads and stores boxes of buffers, and touches no other memory. It is mixed into an operation class.
    """

    @abstractmethod
    def box_accesses(self) -> tuple[BoxAccess, ...]:
        """Returns the boxes that it loads and stores, loads first."""

    def elements(self) -> tuple[ElementAccess, ...]:
        """Returns the elements whose values it uses or sets. Padding that it loads as well is not among them."""
        boxes = ((box, tuple((d, 1, size) for d, size in enumerate(box.sizes))) for box in self.box_accesses())
        return tuple(ElementAccess(box.buffer, box.indices, moves, box.is_store) for box, moves in boxes)


class LoopSemantics(ABC):
    """
    The meaning of an op, element by element, written once as a tensor expression.

    It is mixed into an operation class. Fusion kind, constant evaluation, cost and lowering all derive from `te`.
    """

    @abstractmethod
    def te(self, *operands: te.Tensor) -> tuple[te.Tensor, ...]:
        """
        Returns the results of this op as tensor expressions over `operands`.

        There is one operand tensor per operand, in order, with the operand's shape and element type. The results have
        the shapes and element types of the op's results.
        """


class LoopTemplate(ABC):
    """
    The meaning of an op, as a loop function, where no formula per element gives it (running sums, sorting, scattering).

    It is mixed into an operation class. Such an op is opaque to fusion, and is not evaluated at compile time.
    """

    @abstractmethod
    def loop_function(self) -> str:
        """
        Returns the text of one `tensor_loop.func`, whose name is a base for that of the kernel.

        It has a buffer per operand, in order, and in `outs` a buffer per result. They have the shapes of the op and
        signless integers.
        """


class MayFail:
    """
    An op that can fail at run time.

    It has no memory effect, so it may be merged and, if unused, removed. But it is never speculated, never moved into
    or out of a branch, and never folded when it would fail.

    It is mixed into an operation class. `may_fail` narrows it down by types or properties (integer division, say).
    """

    def may_fail(self) -> bool:
        """Returns whether this op can fail with the types and properties that it has."""
        return True


def may_fail(op: Operation) -> bool:
    """Returns whether executing `op` can fail at run time."""
    return isinstance(op, MayFail) and op.may_fail()


def is_pure(op: Operation) -> bool:
    """
    Returns whether `op` neither reads nor writes memory and has no other effect.

    Equal operands then give equal results, and an unused op can go. An op that may fail can be pure. Unknown effects
    count as impure.
    """
    known = _pure_as_a_class(op.__class__, _traits_of(op))
    if known is not None:
        return known
    effects = get_effects(op)
    return effects is not None and not effects


@lru_cache(maxsize=4096)
def _pure_as_a_class(kind: type[Operation], traits: frozenset[OpTrait]) -> bool | None:
    """
    Returns what `is_pure` says of every op of a class with these traits. It is `None` where that depends on the op, for
    example on its regions.
    """
    if issubclass(kind, UnregisteredOp) or any(isinstance(each, IsTerminator) for each in traits):
        return False
    if kind.name in PURE_OUTSIDE_OPS:
        return True
    found = [type(each).get_effects for each in traits if isinstance(each, MemoryEffect)]
    without = NoMemoryEffect.get_effects.__func__
    return True if found and all(getattr(each, "__func__", None) is without for each in found) else None


def only_reads(op: Operation) -> bool:
    """Returns whether the only effects of `op` are reads."""
    effects = get_effects(op)
    return effects is not None and all(effect.kind == MemoryEffectKind.READ for effect in effects)


def is_commutative(op: Operation) -> bool:
    """Returns whether the operands of `op` may be taken in any order."""
    return _has_commutative(_traits_of(op)) or op.name in COMMUTATIVE_OUTSIDE_OPS


def constant_kind(op: object) -> ConstantKind | None:
    """
    Returns the kind of constant that `op` is, or `None` for any other op and for a block.

    An `arith.constant` is a scalar. xDSL's own dialects do not carry the trait.
    """
    if not is_kind(op.__class__, Operation):
        return None
    known: Any = op
    return "scalar" if known.name == "arith.constant" else _constant_kind(_traits_of(known))


@lru_cache(maxsize=4096)
def _constant_kind(traits: frozenset[OpTrait]) -> ConstantKind | None:
    return next((each.kind for each in traits if isinstance(each, ConstantLike)), None)


def _traits_of(op: Operation) -> frozenset[OpTrait]:
    """Returns the traits of the class of `op`, as they are now. An op that is not registered has none."""
    traits = getattr(op.__class__, "traits", None)
    return frozenset() if traits is None else traits.traits


@lru_cache(maxsize=4096)
def _has_commutative(traits: frozenset[OpTrait]) -> bool:
    return any(isinstance(each, Commutative) for each in traits)


PURE_OUTSIDE_OPS = frozenset({"arith.extsi", "arith.remui"})
"""Ops of xDSL's own dialects without effects, which carry no such trait upstream though the ops like them do."""

COMMUTATIVE_OUTSIDE_OPS = frozenset(
    {
        "arith.addi",
        "arith.muli",
        "arith.andi",
        "arith.ori",
        "arith.xori",
        "arith.maxsi",
        "arith.maxui",
        "arith.minsi",
        "arith.minui",
        "arith.addf",
        "arith.mulf",
        "arith.maximumf",
        "arith.minimumf",
    }
)
"""Commutative ops of xDSL's own dialects, which carry no such trait upstream."""
