"""
The guards of accesses, which then cannot leave their buffers: pass `guard-accesses`.

`analysis/ranges` proves the accesses whose indices follow from loops, sizes and conditions. This pass puts a check
before each of the others. Where a check stands already, its condition is one of the facts, so nothing is checked twice.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.context import Context
from xdsl.dialects import arith, cf, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerAttr, MemRefType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...analysis.ranges.accesses import Accesses, Missing
from ...analysis.ranges.spans import Number, Span, constant_number
from ...core.ir.walk import ops_of
from ...core.messages.diagnostics import emit_remark, fail, remarks_wanted
from ...core.passes.base import StepwellPass, count
from ...core.passes.config import register_config
from ...core.passes.context import config_value
from ...core.roles import ROLE
from ...dialects.tensor_loop import FuncOp as LoopFunction
from ...lazy_dataclass import dataclass
from .guard_reads import guard_reads

KEY = register_config("check-bounds", bool, True, "check the accesses of functions written on memrefs", "stepwell")


@dataclass(frozen=True)
class GuardAccessesPass(StepwellPass):
    """
    Makes accesses fail cleanly that are not proven to lie inside of their buffers.

    Before: `%a = memref.load %A[%i] : memref<8xf32>`, where `%i` comes from data
    After: `cf.assert` that `%i` is one of 0 to 7, then the load

    Loops, sizes, constants, conditions and earlier checks count as proofs. With `check-bounds=false` functions on
    memrefs (`func.func`) are left as they are, and only loop functions are guarded. A block with `stepwell.unchecked`
    gets no checks.

    A loop function is checked as well for reads of elements that nothing has written, where it is neither marked as
    `stepwell.written` nor proven.

    Raises an error for an op that can neither be proven nor checked.
    """

    name = "guard-accesses"

    check_bounds: bool | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [each for each in op.ops if isinstance(each, LoopFunction)]
        for function in functions:
            guard_reads(function)
        guard_functions(functions)
        if checks_bounds(self.check_bounds):
            guard_functions(each for each in op.ops if isinstance(each, FuncOp))


def checks_bounds(option: bool | None) -> bool:
    """Returns whether functions on memrefs are to be checked: by an option of a pass, else as the context says."""
    return bool(config_value("check-bounds")) if option is None else option


def guard_functions(functions: Iterable[LoopFunction | FuncOp]) -> None:
    """Guards the accesses of functions that are not proven. Tells by a remark how many are left."""
    for function in functions:
        if _has_sizes_as_arguments(function):
            continue
        proven, checked = _guard(function)
        if proven:
            count("accesses proven", proven)
        if checked:
            count("accesses checked", checked)
            if remarks_wanted():
                several = "accesses are" if checked > 1 else "access is"
                emit_remark(function, f"@{function.sym_name.data}: {checked} {several} checked, {proven} proven")


def _has_sizes_as_arguments(function: LoopFunction | FuncOp) -> bool:
    """Returns whether `flatten-dynamic-buffers` made this. What it takes has been guarded, and has no `memref.dim`."""
    roles = [] if function.arg_attrs is None else [attrs.data.get(ROLE) for attrs in function.arg_attrs]
    return any(role in (StringAttr("size"), StringAttr("stride")) for role in roles)


def _guard(function: LoopFunction | FuncOp) -> tuple[int, int]:
    """Guards one function. Returns how many accesses are proven, and how many are checked."""
    accesses = Accesses()
    proven = checked = 0
    for access in list(accesses.of(function)):
        if access.unchecked is not None:
            reason = f"it can neither be proven to stay inside its buffer nor checked, since {access.unchecked.reason}"
            fail(access.unchecked.op, reason)
        assert access.touch is not None
        missing = [(span, accesses.missing(access, span)) for span in access.touch.spans]
        if any(what for _, what in missing):
            _Guard(access.touch.op).insert([(span, what) for span, what in missing if what])
            checked += 1
        elif missing:
            proven += 1
    return proven, checked + _guard_alignments(function)


def _guard_alignments(function: Operation) -> int:
    """Checks what `memref.assume_alignment` says, since vectors are loaded by it. Returns the number of checks."""
    count_ = 0
    for op in ops_of(function, memref.AssumeAlignmentOp):
        message = f"{op.name}: alignment"
        if isinstance(op.prev_op, cf.AssertOp) and op.prev_op.msg.data == message:
            continue
        guard = _Guard(op)
        address = guard.add(memref.ExtractAlignedPointerAsIndexOp.get(op.memref))
        rest = guard.add(arith.RemUIOp(address, guard.value(op.alignment.value.data)))
        guard.place(cf.AssertOp(guard.compare("eq", rest, guard.value(0)), message))
        count_ += 1
    return count_


class _Guard:
    """Makes the check before one op."""

    def __init__(self, op: Operation):
        self.op = op

    def insert(self, missing: list[tuple[Span, tuple[Missing, ...]]]) -> None:
        """Inserts one `cf.assert` for all that is not proven of an access."""
        total: SSAValue | None = None
        for span, what in missing:
            for condition in self._conditions(span, what):
                total = condition if total is None else self.add(arith.AndIOp(total, condition))
        assert total is not None
        self.place(cf.AssertOp(total, f"{self.op.name}: {missing[0][0].what} out of range"))

    def _conditions(self, span: Span, what: tuple[Missing, ...]) -> list[SSAValue]:
        """Returns what is to hold. One unsigned comparison tells both ends where the last index is a number."""
        length = constant_number(span.length) if span.lanes is None else span.length
        end = self._static_end(span)
        if isinstance(length, int) and end is not None and end - length >= 0 and {"low", "high"} <= set(what):
            return [self.compare("ult", self.value(span.first), self.value(end - length + 1))]
        conditions: list[SSAValue] = []
        if "length" in what:
            conditions.append(self.compare("sge", self.value(span.length), self.value(0)))
        if "low" in what:
            conditions.append(self.compare("sge", self.value(span.first), self.value(0)))
        if "high" in what:
            last = self._difference(span if end is None else end, self._length(span))
            conditions.append(self.compare("sle", self.value(span.first), last))
        return conditions

    def _static_end(self, span: Span) -> int | None:
        if span.end is not None:
            return span.end
        assert isinstance(span.buffer.type, MemRefType)
        extent = span.buffer.type.get_shape()[span.dimension]
        return None if extent == DYNAMIC_INDEX else extent

    def _length(self, span: Span) -> Number:
        """Returns the number of elements. A mask has at least 0 and at most as many as it has lanes."""
        if span.lanes is None or isinstance(span.length, int):
            return span.length
        positive = self.add(arith.MaxSIOp(span.length, self.value(0)))
        return self.add(arith.MinSIOp(positive, self.value(span.lanes)))

    def _difference(self, end: Span | int, length: Number) -> SSAValue:
        known = constant_number(length)
        if isinstance(end, int):
            return self.value(end - known) if known is not None else self._minus(self.value(end), length)
        size = self.add(memref.DimOp(end.buffer, self.value(end.dimension)))
        return size if known == 0 else self._minus(size, length)

    def _minus(self, first: SSAValue, second: Number) -> SSAValue:
        return self.add(arith.SubiOp(first, self.value(second)))

    def compare(self, predicate: str, first: SSAValue, second: SSAValue) -> SSAValue:
        return self.add(arith.CmpiOp(first, second, predicate))

    def value(self, number: Number) -> SSAValue:
        if not isinstance(number, int):
            return number
        return self.add(arith.ConstantOp(IntegerAttr(number, IndexType())))

    def add(self, op: Operation) -> SSAValue:
        self.place(op)
        return op.results[0]

    def place(self, op: Operation) -> None:
        op.location = self.op.location
        Rewriter.insert_op(op, InsertPoint.before(self.op))
