"""The scf, arith and memref ops that loops become: a cursor, constants, affine expressions, loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, LocationAttr, StringAttr, UnitAttr, UnknownLoc
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr

from ...analysis.affine import Interval, bounds
from ...core.ir.appending import add_new
from ...core.ir.literals import index_attribute
from ...core.roles import LOOP, PARALLEL, UNCHECKED
from ...dialects.tensor_loop import Extent

OpT = TypeVar("OpT", bound=Operation)

HINTS = {"vectorized": "vectorize", "unrolled": "unroll"}
"""The attribute `stepwell.loop` of the `scf.for` for each kind of loop. The levels below read it."""


class LoopNest:
    """
    Adds ops at the end of a current block. Index constants are made once and stand at the start of the function.

    Ops without a location get `location`, that of the op being lowered.
    """

    def __init__(self, entry: Block, location: LocationAttr):
        self._entry = entry
        self.block = entry
        self.location = location
        self._constants: dict[int, arith.ConstantOp] = {}

    @contextmanager
    def inside(self, block: Block) -> Iterator[None]:
        """Puts ops at the end of `block` for a while."""
        outer, self.block = self.block, block
        yield
        self.block = outer

    @contextmanager
    def at(self, op: Operation) -> Iterator[None]:
        """Gives ops the location of `op`, for which they stand, for a while."""
        outer, self.location = self.location, op.location
        yield
        self.location = outer

    def add(self, op: OpT) -> OpT:
        if isinstance(op.location, UnknownLoc):
            op.location = self.location
        add_new(self.block, op)
        return op

    def constant(self, value: int) -> SSAValue:
        """Returns an `index` constant."""
        op = self._constants.get(value)
        if op is None:
            op = arith.ConstantOp(index_attribute(value))
            op.result.name_hint = f"c{value}" if value >= 0 else "negative"
            op.location = self.location
            self._constants[value] = op
        return op.result

    def place_constants(self) -> None:
        """Puts the constants made so far at the start of the function. This is the last thing to do."""
        ops = [self._constants[value] for value in sorted(self._constants)]
        first = self._entry.first_op
        if first is None:
            self._entry.add_ops(ops)
        else:
            self._entry.insert_ops_before(ops, first)

    def extent(self, extent: Extent) -> SSAValue:
        return self.constant(extent) if isinstance(extent, int) else extent

    def compare(self, predicate: str, lhs: SSAValue, rhs: int | SSAValue) -> SSAValue:
        right = self.constant(rhs) if isinstance(rhs, int) else rhs
        return self.add(arith.CmpiOp(lhs, right, predicate)).result

    def fold(self, combine: type[arith.AndIOp] | type[arith.OrIOp], conditions: Sequence[SSAValue]) -> SSAValue | None:
        """Tests whether all (`AndIOp`) or any (`OrIOp`) of `conditions` hold. Returns None when there are none."""
        total: SSAValue | None = None
        for condition in conditions:
            total = condition if total is None else self.add(combine(total, condition)).result
        return total

    @contextmanager
    def where(self, condition: SSAValue | None) -> Iterator[None]:
        """Makes the ops emitted inside run only where `condition` holds. Without a condition they always run."""
        if condition is None:
            yield
            return
        block = Block()
        with self.inside(block):
            yield
            self.add(scf.YieldOp())
        self.add(scf.IfOp(condition, [], Region(block)))

    @contextmanager
    def loop(
        self,
        extent: Extent,
        name: str | None,
        kind: str,
        carried: Sequence[SSAValue] = (),
        carried_names: Sequence[str | None] = (),
        unchecked: bool = False,
    ) -> Iterator[Loop]:
        """
        Emits an `scf.for` from 0 to `extent` around the ops emitted inside.

        Inside, `loop.variable` and `loop.carried` hold the values of the iteration. Set `loop.yielded` to the next
        values. Afterwards `loop.results` are the final ones.
        """
        body = Block(arg_types=[IndexType(), *(value.type for value in carried)])
        body.args[0].name_hint = name
        for argument, hint in zip(body.args[1:], carried_names, strict=True):
            argument.name_hint = hint
        state = Loop(body)
        with self.inside(body):
            yield state
            self.add(scf.YieldOp(*state.yielded))
        op = scf.ForOp(self.constant(0), self.extent(extent), self.constant(1), carried, body)
        if kind in HINTS:
            op.attributes[LOOP] = StringAttr(HINTS[kind])
            if kind == "vectorized" and any(isinstance(inner, scf.ForOp) for inner in body.ops):
                # LLVM writes out loops of few iterations before it looks for vectors, and finds none then.
                op.attributes[LOOP] = StringAttr(f"{HINTS[kind]},no-unroll")
        if kind == "parallel":
            op.attributes[PARALLEL] = UnitAttr()
        if unchecked:
            op.attributes[UNCHECKED] = UnitAttr()
        state.results = tuple(self.add(op).results)


class AffineScope:
    """
    Emits affine expressions over `operands`, of which `ranges` tells the values where they are known.

    Each expression is emitted once. The scope may be used where its first use dominates.
    """

    def __init__(self, emitter: LoopNest, operands: Sequence[SSAValue], ranges: Sequence[Interval | None]):
        self._emitter = emitter
        self._operands = operands
        self._ranges = ranges
        self._known: dict[AffineExpr, SSAValue] = {}

    def value(self, expr: AffineExpr) -> SSAValue:
        found = self._known.get(expr)
        if found is None:
            found = self._known[expr] = self._emit(expr)
        return found

    def _emit(self, expr: AffineExpr) -> SSAValue:
        if isinstance(expr, AffineConstantExpr):
            return self._emitter.constant(expr.value)
        if isinstance(expr, AffineDimExpr):
            return self._operands[expr.position]
        assert isinstance(expr, AffineBinaryOpExpr)
        lhs, rhs = self.value(expr.lhs), self.value(expr.rhs)
        if expr.kind is AffineBinaryOpKind.Add:
            return self._emitter.add(arith.AddiOp(lhs, rhs)).result
        if expr.kind is AffineBinaryOpKind.Mul:
            return self._emitter.add(arith.MuliOp(lhs, rhs)).result
        found = bounds(expr.lhs, self._ranges)
        return self._divide(expr.kind, lhs, rhs, found is not None and found[0] >= 0)

    def _divide(self, kind: AffineBinaryOpKind, lhs: SSAValue, rhs: SSAValue, non_negative: bool) -> SSAValue:
        """Divides by a positive constant, or takes the remainder, which is never negative."""
        add = self._emitter.add
        if kind is AffineBinaryOpKind.CeilDiv:
            return add(arith.CeilDivSIOp(lhs, rhs)).result
        if kind is AffineBinaryOpKind.FloorDiv:
            return add((arith.DivUIOp if non_negative else arith.FloorDivSIOp)(lhs, rhs)).result
        if non_negative:
            return add(arith.RemUIOp(lhs, rhs)).result
        quotient = add(arith.FloorDivSIOp(lhs, rhs)).result
        return add(arith.SubiOp(lhs, add(arith.MuliOp(quotient, rhs)).result)).result


class Loop:
    """A loop being emitted, see `LoopNest.loop`."""

    def __init__(self, body: Block):
        self.variable: SSAValue = body.args[0]
        self.carried: tuple[SSAValue, ...] = tuple(body.args[1:])
        self.yielded: tuple[SSAValue, ...] = self.carried
        self.results: tuple[SSAValue, ...] = ()
