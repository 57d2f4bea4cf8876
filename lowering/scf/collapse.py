"""Parallel loops that stand directly inside each other become one loop."""

from __future__ import annotations

from math import prod

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import Rewriter

from ...analysis.work import CHUNKS, trip_count
from ...core.ir.literals import constant_of
from ...core.ir.walk import ops_of
from ...core.roles import PARALLEL


def collapsed(loop: scf.ForOp) -> scf.ForOp:
    """
    Returns one loop in place of `loop` and the marked loops that are all that is in it, as long as there are less than
    `CHUNKS` iterations. All marks of parallel loops inside go.

    Before:

        scf.for %i = %c0 to %c4 step %c1 { scf.for %j = %c0 to %c6 step %c1 { <body> } {stepwell.parallel} }

    After:

        scf.for %n = %c0 to %c24 step %c1 {
          %j = arith.remui %n, %c6
          %i = arith.divui %n, %c6
          <body>
        }
    """
    nest = _nest(loop)
    for each in ops_of(loop, scf.ForOp):
        each.attributes.pop(PARALLEL, None)
    return loop if len(nest) == 1 else _Collapsing(nest).run()


def _nest(loop: scf.ForOp) -> list[scf.ForOp]:
    """Returns `loop` and the marked loops in it that it is made one with."""
    nest = [loop]
    while _is_plain(nest[-1]) and prod(map(_trips, nest)) < CHUNKS:
        inside = [op for op in nest[-1].body.block.ops if not isinstance(op, arith.ConstantOp | scf.YieldOp)]
        if len(inside) != 1 or not isinstance(inner := inside[0], scf.ForOp):
            break
        if PARALLEL not in inner.attributes or not _is_plain(inner):
            break
        nest.append(inner)
    return nest


def _is_plain(loop: scf.ForOp) -> bool:
    """Returns whether a loop carries no values and its bounds are known."""
    return not loop.iter_args and trip_count(loop) is not None


def _trips(loop: scf.ForOp) -> int:
    trips = trip_count(loop)
    assert trips is not None
    return trips


class _Collapsing:
    """Loops on their way into one."""

    def __init__(self, nest: list[scf.ForOp]):
        self.nest = nest
        self.block = Block(arg_types=[IndexType()])
        self.block.args[0].name_hint = "".join(loop.body.block.args[0].name_hint or "" for loop in nest) or None

    def run(self) -> scf.ForOp:
        outermost, innermost = self.nest[0], self.nest[-1]
        variables = self._variables()
        for loop in self.nest:
            for op in list(loop.body.block.ops):
                if loop is innermost or isinstance(op, arith.ConstantOp):
                    op.detach()
                    self.block.add_op(op)
        for loop, variable in zip(self.nest, variables, strict=True):
            loop.body.block.args[0].replace_all_uses_with(variable)
        bounds = [_index(value) for value in (0, prod(map(_trips, self.nest)), 1)]
        lower, upper, step = (op.results[0] for op in bounds)
        result = scf.ForOp(lower, upper, step, [], self.block)
        result.attributes = dict(innermost.attributes)
        for op in (*bounds, result):
            op.location = outermost.location
        Rewriter.replace_op(outermost, [*bounds, result], [])
        return result

    def _add(self, op: Operation) -> SSAValue:
        op.location = self.nest[0].location
        self.block.add_op(op)
        return op.results[0]

    def _variables(self) -> list[SSAValue]:
        """Returns the variables of all loops as values of the new one, whose remainders they are."""
        rest: SSAValue = self.block.args[0]
        found: list[SSAValue] = []
        for loop in reversed(self.nest):
            number = rest
            if loop is not self.nest[0]:
                trips = self._add(_index(_trips(loop)))
                number = self._add(arith.RemUIOp(rest, trips))
                rest = self._add(arith.DivUIOp(rest, trips))
            found.append(self._variable(loop, number))
        return found[::-1]

    def _variable(self, loop: scf.ForOp, number: SSAValue) -> SSAValue:
        """Returns the variable of `loop` in its iteration `number`."""
        lower, step = constant_of(loop.lb), constant_of(loop.step)
        assert lower is not None and step is not None
        if step != 1:
            number = self._add(arith.MuliOp(number, self._add(_index(step))))
        if lower:
            number = self._add(arith.AddiOp(number, self._add(_index(lower))))
        if not isinstance(number, BlockArgument):
            number.name_hint = loop.body.block.args[0].name_hint
        return number


def _index(value: int) -> arith.ConstantOp:
    return arith.ConstantOp(IntegerAttr(value, IndexType()))
