"""
Loops whose sines, cosines and tangents in f64 have short code where no argument is very large.

That code holds up to `FARTHEST`. Larger arguments take a reduction with more bits of pi than vectors can choose from
cheaply, so a first loop asks whether there are any. If there are, the loop calls the C library as before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from xdsl.dialects import arith, math, memref, scf
from xdsl.dialects.builtin import Float64Type, IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...analysis.access_regions import root_buffer
from ...core.ir.cloning import clone_op
from ...core.ir.walk import ops_of
from ...core.roles import LOOP
from .expansions import MathOps, Value
from .expansions.doubles import ABS64
from .expansions.doubles_trigonometric import FARTHEST_BITS, cos, sin, tan
from .expansions.math_ops import ConstantKey

_VECTORIZE = StringAttr("vectorize")

CHECKED: dict[type[Operation], Callable[[MathOps, Value], Value]] = {
    math.CosOp: cos,
    math.SinOp: sin,
    math.TanOp: tan,
}
"""The expansions that hold for arguments up to `FARTHEST`."""


def expand_checked_loops(module: ModuleOp, chosen: frozenset[type[Operation]]) -> int:
    """
    Expands the functions of `CHECKED` on f64 in loops marked for vectors, and returns how many.

    Before:

        scf.for %i { %x = memref.load %a[%i]; %y = math.sin %x; memref.store %y, %b[%i] } {stepwell.loop = "vectorize"}

    After:

        %far = scf.for %i iter_args(%so_far) { %x = memref.load %a[%i]; <%so_far, negative if |%x| > 2^25> }
        %any = arith.cmpi slt, %far, 0
        scf.if %any { scf.for %i { <as before> } } else { scf.for %i { <as before, the sine expanded> } }

    A sine of a sine needs no check of its own. Where arguments depend on carried values, on each other in other ways,
    or on elements that the loop may store before, the functions stay.
    """
    count = 0
    for loop in ops_of(module, scf.ForOp):
        if loop.attributes.get(LOOP) != _VECTORIZE:
            continue
        functions = [op for op in loop.body.block.ops if type(op) in CHECKED and type(op) in chosen]
        functions = [op for op in functions if isinstance(op.operands[0].type, Float64Type)]
        arguments = [op.operands[0] for op in functions]
        unknown = [value for value in arguments if not isinstance(value.owner, math.CosOp | math.SinOp)]
        needed = _slice(loop, unknown)
        if functions and needed is not None:
            _expand(loop, functions, unknown, needed)
            count += len(functions)
    return count


def drop_vain_hints(module: ModuleOp, types: Collection[type[Operation]]) -> None:
    """Takes `vectorize` from loops that still call functions of `types` on f64, as LLVM warns of each."""
    for loop in ops_of(module, scf.ForOp):
        if loop.attributes.get(LOOP) == _VECTORIZE and any(
            type(op) in types and isinstance(op.results[0].type, Float64Type) for op in loop.walk()
        ):
            loop.attributes[LOOP] = StringAttr("no-vectorize")


def _slice(loop: scf.ForOp, values: list[SSAValue]) -> list[Operation] | None:
    """Returns the ops in the loop that compute `values`, in order, or None where they cannot run before the loop."""
    block = loop.body.block
    found: set[Operation] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if value in block.args[1:]:
            return None
        op = value.owner
        if not isinstance(op, Operation) or op.parent is not block or op in found:
            continue
        plain = op.dialect_name() in ("arith", "math") and not op.regions and type(op) not in CHECKED
        if not plain and not (isinstance(op, memref.LoadOp) and _is_settled(loop, op)):
            return None
        found.add(op)
        pending += op.operands
    return [op for op in block.ops if op in found]


def _is_settled(loop: scf.ForOp, load: memref.LoadOp) -> bool:
    """Returns whether the loop stores nothing where `load` reads, but in its own iteration."""
    root = root_buffer(load.memref)
    for op in loop.walk():
        if op is loop or isinstance(op, memref.LoadOp | scf.YieldOp) or op.dialect_name() in ("arith", "math"):
            continue
        if not isinstance(op, memref.StoreOp):
            return False
        same = op.memref is load.memref and list(op.indices) == list(load.indices)
        if root_buffer(op.memref) is root and not (same and loop.body.block.args[0] in op.indices):
            return False
    return True


def _expand(loop: scf.ForOp, functions: list[Operation], arguments: list[SSAValue], needed: list[Operation]) -> None:
    """Puts a check of `arguments`, which `needed` compute, and a choice of two loops in the place of `loop`."""
    point = InsertPoint.before(loop)
    zero = arith.ConstantOp(IntegerAttr(0, i64))
    check = _check(loop, arguments, needed, zero.result)
    is_far = arith.CmpiOp(check.results[0], zero.result, "slt")
    before, after = Block(), Block()
    called = clone_op(loop)
    called.attributes[LOOP] = StringAttr("no-vectorize")
    types = [result.type for result in loop.results]
    choice = scf.IfOp(is_far.result, types, Region(before), Region(after))
    for op in (zero, check, is_far, choice):
        op.location = loop.location
    Rewriter.insert_op([zero, check, is_far, choice], point)
    for old, new in zip(loop.results, choice.results, strict=True):
        old.replace_all_uses_with(new)
    loop.detach()
    for block, each in ((before, called), (after, loop)):
        end = scf.YieldOp(*each.results)
        each.location = end.location = choice.location
        block.add_ops([each, end])
    constants: dict[ConstantKey, SSAValue] = {}
    for op in functions:
        builder = MathOps(op, op.results[0].type, constants)
        result = CHECKED[type(op)](builder, builder.value(op.operands[0]))
        Rewriter.replace_op(op, [], [result.ssa])


def _check(loop: scf.ForOp, arguments: list[SSAValue], needed: list[Operation], zero: SSAValue) -> scf.ForOp:
    """Makes the loop whose result is negative if an argument is larger than `FARTHEST`, infinite or NaN."""
    body = Block(arg_types=[loop.body.block.args[0].type, i64])
    copies: dict[SSAValue, SSAValue] = {loop.body.block.args[0]: body.args[0]}
    for op in needed:
        body.add_op(clone_op(op, copies))
    end = scf.YieldOp(body.args[1])
    end.location = loop.location
    body.add_op(end)
    m = MathOps(end, i64, {})
    so_far = m.value(body.args[1])
    for argument in dict.fromkeys(arguments):
        size = m.value(copies.get(argument, argument)).bits() & ABS64
        so_far = so_far | (FARTHEST_BITS - size)
    end.operands[0] = so_far.ssa
    check = scf.ForOp(loop.lb, loop.ub, loop.step, [zero], Region(body))
    check.attributes[LOOP] = _VECTORIZE
    return check
