"""The pass `lower-loops-to-scf`."""

from __future__ import annotations

from collections import Counter

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Block, Region
from xdsl.rewriter import InsertPoint, Rewriter

from ...analysis.ranges.spans import touches
from ...core.ir.teardown import take_apart
from ...core.ir.walk import ops_of, walk
from ...core.messages.diagnostics import fail
from ...core.messages.origins import inherit
from ...core.passes.applications import FUNCTION, allowed
from ...core.passes.base import StepwellPass
from ...core.roles import NOALIAS, UNCHECKED, WRITTEN
from ...dialects.graph.calls import CallKernelOp
from ...dialects.tensor_loop import BlockOp, CallOp, FuncOp
from ...lazy_dataclass import dataclass
from ..loops.guard_accesses import checks_bounds, guard_functions
from ..loops.guard_reads import guard_reads
from ..shared.call_order import refuse_recursion_on_buffers
from ..shared.leftovers import require_lowered
from .function import FunctionLowering
from .row_temporaries import keep_rows

NO_INLINE = "no_inline"
"""A kernel with several calls is compiled once: a copy in each place only takes time."""


@dataclass(frozen=True)
class LowerLoopsToSCFPass(StepwellPass):
    """
    Turns loop functions into `func.func` with `scf.for` loops, blocks into their bodies.

    Before:

        tensor_loop.func @row_sum(%A: memref<4x8xf32>) outs(%S: memref<4xf32>) {
          tensor_loop.grid (%i, %k) in (4, 8) {
            tensor_loop.block "row_sum" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) ... { init { ... } ... }
          }
        }

    After:

        func.func @row_sum(%A: memref<4x8xf32>, %S: memref<4xf32>) attributes {stepwell.noalias} {
          scf.for %i = %c0 to %c4 step %c1 {
            %s = scf.for %k = %c0 to %c8 step %c1 iter_args(%acc = %zero) -> (f32) { ... }
            memref.store %s, %S[%i] : memref<4xf32>
          }
        }

    An init runs before the outermost reduce loop of its block. Where other ops in that loop forbid it, it runs in the
    first iteration of the reduce loops. Accumulators are carried as values where the innermost loops are the reduce
    loops.

    Temporaries of which each iteration of the outermost loops uses a row of its own become one row on the stack
    (`row_temporaries.py`).

    Accesses that are not proven to lie inside of their buffers are checked, and so are reads that are not proven to
    come after writes, as `guard-accesses` does. Functions on
    memrefs that were there before are left as they are with `check-bounds=false`.

    Raises an error when a loop function is still called on tensors, when a function on buffers calls itself, or when
    something of the dialect is left.
    """

    name = "lower-loops-to-scf"

    check_bounds: bool | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for call in ops_of(op, CallKernelOp):
            hint = "run bufferize before lower-loops-to-scf"
            fail(call, f"@{call.callee_name} is called on tensors", hint=hint)
        refuse_recursion_on_buffers([each for each in op.ops if isinstance(each, func.FuncOp | FuncOp)])
        written = [each for each in op.ops if isinstance(each, func.FuncOp)]
        made: list[func.FuncOp] = []
        kept: set[str] = set()
        for function in ops_of(op, FuncOp):
            if not allowed(FUNCTION, self.name, function):
                kept.add(function.sym_name.data)
                continue
            guard_reads(function)
            made.append(lower_function(function))
            Rewriter.insert_op(made[-1], InsertPoint.before(function))
            function.detach()
            take_apart(function)
            self.count("functions lowered")
        guard_functions([*made, *(written if checks_bounds(self.check_bounds) else ())])
        for function in made:
            self.count("temporaries of one row", keep_rows(function))
        calls = ops_of(op, CallOp)
        shared = {name for name, times in Counter(call.callee.string_value() for call in calls).items() if times > 1}
        for call in calls:
            if call.callee.string_value() not in kept:
                Rewriter.replace_op(call, _lower_call(call))
        for function in [found for found in op.ops if isinstance(found, func.FuncOp)]:
            if function.sym_name.data in shared and NOALIAS in function.attributes:
                function.attributes[NO_INLINE] = UnitAttr()
        if not kept:
            require_lowered(op, "tensor_loop", self.name)
        inherit(op)


def lower_function(function: FuncOp) -> func.FuncOp:
    """Returns the `func.func` that does what `function` does. Its arguments are the inputs, then the outputs."""
    source = function.body.block
    for block in ops_of(source, BlockOp):
        if UNCHECKED in block.attributes:
            _mark_unchecked(block)
    target = Block(arg_types=source.arg_types)
    for argument, new_argument in zip(source.args, target.args, strict=True):
        new_argument.name_hint = argument.name_hint
        new_argument.location = argument.location
    FunctionLowering(source, target).run(source)
    visibility = None if function.sym_visibility is None else function.sym_visibility
    new_function = func.FuncOp(
        function.sym_name.data, (source.arg_types, ()), Region(target), visibility, arg_attrs=function.arg_attrs
    )
    new_function.attributes.update(function.attributes)
    new_function.attributes.pop(WRITTEN, None)
    new_function.attributes[NOALIAS] = UnitAttr()
    new_function.location = function.location
    return new_function


def _mark_unchecked(block: BlockOp) -> None:
    """Marks the accesses of a block that is `unchecked`, since the block itself does not stay."""
    for op in walk(block.body):
        if touches(op):
            op.attributes[UNCHECKED] = UnitAttr()


def _lower_call(call: CallOp) -> func.CallOp:
    new_call = func.CallOp.create(operands=call.operands, properties={"callee": call.callee})
    new_call.attributes.update(call.attributes)
    new_call.location = call.location
    return new_call
