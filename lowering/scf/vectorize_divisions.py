"""
Integer divisions on vectors: pass `vectorize-divisions`.

Processors divide one pair of integers at a time, but vectors of floats. A quotient of integers of up to 16 bits is that
of f32, rounded towards zero, and one of up to 32 bits that of f64. Two different quotients `a / b` are at least `1 / b`
apart, so a float that is rounded to nearest never reaches the next whole number. Quotients of 64 bits are found in two
steps, each of which gives about 50 bits, and a last correction by one.

A check in a loop keeps it from running on vectors. So the checks of divisors wait until the end of the innermost loop.
"""

from __future__ import annotations

from typing import cast

from xdsl.context import Context
from xdsl.dialects import arith, cf, math, memref, scf
from xdsl.dialects.builtin import (
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    f32,
    f64,
    i1,
    i32,
    i64,
)
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...core.ir.kinds import is_kind
from ...core.ir.literals import constant_of
from ...core.ir.walk import ops_in, ops_of
from ...core.messages.locations import copy_location
from ...core.passes.applications import allowed
from ...core.passes.base import StepwellPass
from ...core.roles import LOOP
from ...lazy_dataclass import dataclass
from ...machine.named import chosen_machine
from .guard_divisions import excluded_values

Division = arith.DivSIOp | arith.DivUIOp | arith.RemSIOp | arith.RemUIOp | arith.FloorDivSIOp

SIGNED = (arith.DivSIOp, arith.RemSIOp, arith.FloorDivSIOp)
REMAINDERS = (arith.RemSIOp, arith.RemUIOp)

IN_F32 = 16
"""The most bits of integers whose quotients f32 tells apart."""

IN_F64 = 32
"""The same for f64."""

BELOW_2_64 = 18446744073709549568.0
"""The greatest f64 below `2^64`."""


@dataclass(frozen=True)
class VectorizeDivisionsPass(StepwellPass):
    """
    Divides integers in innermost loops as floats, so that LLVM runs these loops on vectors.

    Before:

        scf.for %j … { … cf.assert %ok, "…"; %q = arith.divsi %a, %b : i32 … }

    After:

        %all = scf.for %j … iter_args(%so_far = %true) { … %f = arith.divf %a_f64, %b_f64 : f64
          %q = arith.fptosi %f : f64 to i32 … scf.yield <%so_far and %ok> }
        cf.assert %all, "…"

    Loops with calls, with several checks, or with accesses at places that are loaded stay as they are. So do divisors
    that are constants or may be 0. Divisions of 64 bits need a machine with vector registers of 64 bytes, which `wide`
    tells, or the target.
    """

    name = "vectorize-divisions"

    target: str | None = None
    wide: bool | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        wide = chosen_machine(self.target).has_wide_registers if self.wide is None else self.wide
        for loop in ops_of(op, scf.ForOp):
            divisions = [each for each in ops_in(loop.body.block) if is_kind(each.__class__, Division)]
            found = [each for each in cast(list[Division], divisions) if _is_taken(each, wide)]
            if not found or not _is_free(loop) or not allowed("loops", self.name, loop):
                continue
            for division in found:
                _replace(division)
                self.count("divisions of floats")
            if any(isinstance(each, cf.AssertOp) for each in loop.body.block.ops):
                _check_afterwards(loop)
                self.count("checks after loops")


def _is_taken(op: Division, wide: bool) -> bool:
    """Returns whether `op` divides integers that floats can divide, by what is neither a constant nor 0."""
    if not isinstance(op.result.type, IntegerType):
        return False
    width = op.result.type.width.data
    if width not in (8, 16, 32) and not (width == 64 and wide and isinstance(op, SIGNED)):
        return False
    excluded = excluded_values(op.rhs)
    return constant_of(op.rhs) is None and 0 in excluded and (-1 in excluded or not isinstance(op, SIGNED))


def _is_free(loop: scf.ForOp) -> bool:
    """
    Returns whether the iterations of a loop may run on after a check that fails: nothing but stores has an effect, and
    no access depends on data.
    """
    block = loop.body.block
    checks = [op for op in block.ops if isinstance(op, cf.AssertOp)]
    for op in block.ops:
        if op.regions or op.dialect_name() not in ("arith", "math", "memref", "scf", "cf"):
            return False
        if isinstance(op, arith.IndexCastOp) and isinstance(op.result.type, IndexType):
            return False
        if op.dialect_name() == "memref" and not isinstance(op, memref.LoadOp | memref.StoreOp):
            return False
        if isinstance(op, memref.LoadOp) and isinstance(op.res.type, IndexType):
            return False
    return len(checks) <= 1


def _check_afterwards(loop: scf.ForOp) -> None:
    """Replaces a loop by one that carries whether its check has held so far, and checks that after it."""
    body = loop.body.block
    check = next(op for op in body.ops if isinstance(op, cf.AssertOp))
    true = arith.ConstantOp(IntegerAttr(1, i1))
    block = Block(arg_types=[*(argument.type for argument in body.args), i1])
    for old, new in zip(body.args, block.args, strict=False):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    for op in list(body.ops):
        op.detach()
        block.add_op(op)
    both = arith.AndIOp(block.args[-1], check.arg)
    last = block.last_op
    assert last is not None
    end = scf.YieldOp(*last.operands, both.result)
    copy_location(last, end)
    Rewriter.replace_op(last, [both, end])
    Rewriter.erase_op(check)
    result = scf.ForOp(loop.lb, loop.ub, loop.step, [*loop.iter_args, true.result], Region(block))
    result.attributes.update(loop.attributes)
    result.attributes.setdefault(LOOP, StringAttr("vectorize"))
    after = cf.AssertOp(result.results[-1], check.msg)
    for op in (true, both, result):
        copy_location(loop, op)
    copy_location(check, after)
    Rewriter.replace_op(loop, [true, result, after], list(result.results[:-1]))


def _replace(op: Division) -> None:
    """Replaces a division by what computes the same with floats."""
    type_ = op.result.type
    assert isinstance(type_, IntegerType)
    writer = _Writer(op, type_)
    Rewriter.replace_op(op, [], [writer.narrow() if type_.width.data <= IN_F64 else writer.wide()])


class _Writer:
    """Writes the ops in the place of a division."""

    def __init__(self, op: Division, type_: IntegerType):
        self.op = op
        self.type = type_
        self.point = InsertPoint.before(op)

    def add(self, op: Operation) -> SSAValue:
        copy_location(self.op, op)
        Rewriter.insert_op(op, self.point)
        return op.results[0]

    def number(self, value: int) -> SSAValue:
        return self.add(arith.ConstantOp(IntegerAttr(value, self.type)))

    def where(self, condition: SSAValue, then: SSAValue, otherwise: SSAValue) -> SSAValue:
        return self.add(arith.SelectOp(condition, then, otherwise))

    def compare(self, lhs: SSAValue, rhs: SSAValue, predicate: str) -> SSAValue:
        return self.add(arith.CmpiOp(lhs, rhs, predicate))

    def less_product(self, x: SSAValue, y: SSAValue, z: SSAValue) -> SSAValue:
        """Returns `x - y * z`."""
        return self.add(arith.SubiOp(x, self.add(arith.MuliOp(y, z))))

    def narrow(self) -> SSAValue:
        """Divides integers of up to 32 bits."""
        op, width = self.op, self.type.width.data
        signed = isinstance(op, SIGNED)
        real = f32 if width <= IN_F32 else f64
        to_float = arith.SIToFPOp if signed else arith.UIToFPOp
        to_integer = arith.FPToSIOp if signed or width < IN_F64 else arith.FPToUIOp
        dividend, divisor = (self.add(to_float(operand, real)) for operand in (op.lhs, op.rhs))
        quotient = self.add(arith.DivfOp(dividend, divisor))
        if isinstance(op, arith.FloorDivSIOp):
            quotient = self.add(math.FloorOp(quotient))
        whole = self.add(to_integer(quotient, i32))
        result = whole if width == IN_F64 else self.add(arith.TruncIOp(whole, self.type))
        return self.less_product(op.lhs, result, op.rhs) if isinstance(op, REMAINDERS) else result

    def wide(self) -> SSAValue:
        """Divides the sizes of signed integers of 64 bits, and gives the result its sign."""
        op, zero = self.op, self.number(0)
        below, divisor_below = (self.compare(operand, zero, "slt") for operand in (op.lhs, op.rhs))
        a = self.where(below, self.add(arith.SubiOp(zero, op.lhs)), op.lhs)
        b = self.where(divisor_below, self.add(arith.SubiOp(zero, op.rhs)), op.rhs)
        quotient, rest = self.sizes(a, b)
        if isinstance(op, arith.RemSIOp):
            return self.where(below, self.add(arith.SubiOp(zero, rest)), rest)
        differ = self.add(arith.XOrIOp(below, divisor_below))
        if isinstance(op, arith.FloorDivSIOp):
            more = self.add(arith.AndIOp(differ, self.compare(rest, zero, "ne")))
            quotient = self.where(more, self.add(arith.AddiOp(quotient, self.number(1))), quotient)
        return self.where(differ, self.add(arith.SubiOp(zero, quotient)), quotient)

    def sizes(self, a: SSAValue, b: SSAValue) -> tuple[SSAValue, SSAValue]:
        """
        Returns the quotient and the rest of two integers from 0 to `2^63`.

        The rest of the first step is at most `2^12` divisors. The second step rounds to the nearest number, so that the
        rest is about half a divisor at most and may be negative.
        """
        divisor = self.add(arith.UIToFPOp(b, f64))
        first = self.add(arith.DivfOp(self.add(arith.UIToFPOp(a, f64)), divisor))
        limit = self.add(arith.ConstantOp(FloatAttr(BELOW_2_64, f64)))
        first = self.where(self.add(arith.CmpfOp(first, limit, "olt")), first, limit)
        quotient = self.add(arith.FPToUIOp(first, i64))
        rest = self.less_product(a, quotient, b)
        second = self.add(arith.DivfOp(self.add(arith.SIToFPOp(rest, f64)), divisor))
        step = self.add(arith.FPToSIOp(self.add(math.RoundEvenOp(second)), i64))
        quotient, rest = self.add(arith.AddiOp(quotient, step)), self.less_product(rest, step, b)
        low, one = self.compare(rest, self.number(0), "slt"), self.number(1)
        quotient = self.where(low, self.add(arith.SubiOp(quotient, one)), quotient)
        return quotient, self.where(low, self.add(arith.AddiOp(rest, b)), rest)
