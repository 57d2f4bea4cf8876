"""
Writes loop nests op by op.

Outside blocks an index is an affine expression of the loop variables around. A block takes such expressions as the
bindings of its axes. Inside it, index arithmetic is ops on the axes, with known values folded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain, count
from typing import NamedTuple, TypeVar

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, StringAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ...analysis.affine import linear_terms
from ...core.ir.appending import add_new, new_op
from ...core.ir.literals import index_attribute
from ...core.ir.walk import ops_of
from ...core.roles import LOOP
from ...dialects.tensor_loop import BlockOp, ForOp, FuncOp, InitOp
from ...dialects.tensor_loop.loops import loop_body

Index = SSAValue | int
"""An `index` value inside a block, or a known number."""

AnyOp = TypeVar("AnyOp", bound=Operation)

ZERO = AffineExpr.constant(0)

_INDEX = IndexType()
_NO_FLAGS = {"overflowFlags": arith.IntegerOverflowAttr("none")}


class Bound(NamedTuple):
    """An axis of a block to be, with what it is bound to."""

    kind: str
    binding: AffineExpr
    """The binding, over the loop variables of the nest."""
    extent: int
    name: str


class ScheduledNest:
    """A loop nest that grows at the end of a block. Its ops take the location of `origin`."""

    def __init__(self, block: Block, origin: Operation):
        self.block = block
        self.origin = origin
        self._variables: list[SSAValue] = []
        self._known: dict[tuple[Block, object, Index, Index], SSAValue] = {}
        """Index arithmetic by the IR block that it stands in, op and operands. Each is done once."""
        self._names = _names_of_others(origin)

    @property
    def variables(self) -> list[SSAValue]:
        """Returns the variables of all loops that were made, which the dimensions of affine expressions number."""
        return self._variables

    def add(self, op: AnyOp) -> AnyOp:
        """Appends `op`, before the terminator where there is one."""
        op.location = self.origin.location
        last = self.block.last_op
        add_new(self.block, op, last if last is not None and last.name == "tensor_loop.yield" else None)
        return op

    @contextmanager
    def inside(self, block: Block) -> Iterator[None]:
        """Moves the cursor into `block` for a while."""
        outer, self.block = self.block, block
        try:
            yield
        finally:
            self.block = outer

    # Loops and blocks

    @contextmanager
    def loop(self, extent: int, name: str, kind: str = "serial") -> Iterator[AffineExpr]:
        """Emits a `tensor_loop.for` and yields its variable. A loop that runs once is left out."""
        if extent == 1:
            yield ZERO
            return
        region = loop_body([name])
        self._variables.append(region.block.args[0])
        with self.inside(region.block):
            yield AffineDimExpr(len(self._variables) - 1)
        self.add(ForOp(extent, region, kind))

    @contextmanager
    def nest(self, extents: Sequence[int], names: Sequence[str], kind: str = "serial") -> Iterator[list[AffineExpr]]:
        """Emits loops around each other, of which the innermost one is of that kind."""
        with ExitStack() as stack:
            last = len(extents) - 1
            yield [
                stack.enter_context(self.loop(extent, name, kind if number == last else "serial"))
                for number, (extent, name) in enumerate(zip(extents, names, strict=True))
            ]

    @contextmanager
    def blocked(self, name: str, axes: Sequence[Bound]) -> Iterator[list[Index]]:
        """
        Emits a `tensor_loop.block` and yields the values of its axes, 0 for those of extent 1, which are left out. What
        it reads and writes is inferred at the end.
        """
        kept = [axis for axis in axes if axis.extent > 1]
        body = Block(arg_types=[IndexType()] * len(kept))
        for argument, axis in zip(body.args, kept, strict=True):
            argument.name_hint = axis.name
        arguments = iter(body.args)
        with self.inside(body):
            yield [next(arguments) if axis.extent > 1 else 0 for axis in axes]
        axes = kept
        used = sorted({dim for axis in axes for dim in axis.binding.used_dims()})
        renamed = [AffineDimExpr(used.index(d)) if d in used else ZERO for d in range(len(self._variables))]
        self.add(
            BlockOp(
                self.fresh(name),
                [axis.kind for axis in axes],
                [axis.extent for axis in axes],
                [axis.binding.replace_dims_and_symbols(renamed, ()) for axis in axes],
                [self._variables[dim] for dim in used],
                Region(body),
            )
        )

    def fresh(self, name: str) -> str:
        """Returns `name`, with a number when another block has it."""
        fresh = next(n for n in chain((name,), (f"{name}_{number}" for number in count(1))) if n not in self._names)
        self._names.add(fresh)
        return fresh

    @contextmanager
    def init(self) -> Iterator[None]:
        """Emits the `init` of the block around the cursor. It comes first and computes its own indices."""
        block = Block()
        with self.inside(block):
            yield
        op = InitOp(Region(block))
        op.location = self.origin.location
        first = self.block.first_op
        if first is None:
            self.block.add_op(op)
        else:
            self.block.insert_op_before(op, first)

    # Inside blocks

    def value(self, index: Index) -> SSAValue:
        """Returns `index` as a value."""
        if isinstance(index, SSAValue):
            return index
        key = (self.block, None, index, 0)
        if (found := self._known.get(key)) is None:
            attribute = index_attribute(index)
            op = new_op(arith.ConstantOp, (), (attribute.type,), {"value": attribute})
            found = self._known[key] = self.add(op).result
        return found

    def _arithmetic(self, kind: type[arith.AddiOp | arith.MuliOp], first: Index, second: Index) -> SSAValue:
        key = (self.block, kind, first, second)
        if (found := self._known.get(key)) is None:
            operands = (self.value(first), self.value(second))
            op = new_op(kind, operands, (_INDEX,), _NO_FLAGS)
            found = self._known[key] = self.add(op).result
        return found

    def scaled(self, index: Index, factor: int) -> Index:
        if isinstance(index, int):
            return index * factor
        return index if factor == 1 else self._arithmetic(arith.MuliOp, index, factor)

    def sum(self, first: Index, second: Index) -> Index:
        if isinstance(first, int) and isinstance(second, int):
            return first + second
        if first == 0:
            return second
        if second == 0:
            return first
        return self._arithmetic(arith.AddiOp, first, second)

    def affine(self, expr: AffineExpr, axes: Mapping[int, Index]) -> SSAValue:
        """Returns the value of a linear expression, dimension i being `axes[i]`."""
        terms, total = linear_terms(expr)
        result: Index = total
        for atom, factor in terms.items():
            assert isinstance(atom, AffineDimExpr)
            result = self.sum(self.scaled(axes[atom.position], factor), result)
        return self.value(result)

    def constant(self, attribute: Attribute) -> SSAValue:
        """Returns a number or a splat as a value."""
        return self.add(arith.ConstantOp(attribute)).result  # pyright: ignore[reportArgumentType]

    def counted(
        self,
        extent: int,
        step: int,
        carried: SSAValue,
        body: Callable[[Index, SSAValue], SSAValue],
        name: str,
        unroll: bool = True,
    ) -> SSAValue:
        """
        Emits an `scf.for` over the whole steps below `extent` with one carried value. Returns the value that is carried
        out of it. Without `unroll`, LLVM makes no longer iterations of several.
        """
        whole = extent - extent % step
        if whole <= step:
            return body(0, carried) if whole else carried
        block = Block(arg_types=[IndexType(), carried.type])
        block.args[0].name_hint = name
        block.args[1].name_hint = "acc"
        with self.inside(block):
            self.add(scf.YieldOp(body(block.args[0], block.args[1])))
        first, last, by = (self.value(number) for number in (0, whole, step))
        loop = self.add(scf.ForOp(first, last, by, [carried], Region(block)))
        if not unroll:
            loop.attributes[LOOP] = StringAttr("no-unroll")
        return loop.results[0]


def _names_of_others(origin: Operation) -> set[str]:
    """Returns the names of the blocks of the function around `origin` except its own."""
    function: Operation | None = origin
    while function is not None and not isinstance(function, FuncOp):
        function = function.parent_op()
    if function is None:
        return set()
    return {op.block_name.data for op in ops_of(function, BlockOp) if op is not origin}
