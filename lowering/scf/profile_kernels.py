"""The pass `profile-kernels`: a program that measures itself."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.parser import Parser
from xdsl.rewriter import InsertPoint, Rewriter

from ...analysis.arithmetic import Arithmetic, bytes_given
from ...core.messages.diagnostics import fail
from ...core.messages.locations import copy_location, nearest_source_point
from ...core.messages.origins import origins_of
from ...core.passes.base import StepwellPass
from ...core.roles import NAME, PROFILE, ROLE, SIGNATURE
from ...lazy_dataclass import dataclass

NOW, ADD, RESET = "profile_now", "profile_add", "profile_reset"

CLOCK = """
func.func private @clock_gettime(i32, memref<2xi64>) -> i32

func.func private @profile_now() -> i64 {
  %clock = arith.constant 1 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %giga = arith.constant 1000000000 : i64
  %time = memref.alloca() : memref<2xi64>
  %status = func.call @clock_gettime(%clock, %time) : (i32, memref<2xi64>) -> i32
  %seconds = memref.load %time[%c0] : memref<2xi64>
  %rest = memref.load %time[%c1] : memref<2xi64>
  %scaled = arith.muli %seconds, %giga : i64
  %now = arith.addi %scaled, %rest : i64
  func.return %now : i64
}

func.func private @profile_add(%profile: memref<ROWSx2xi64>, %row: index, %start: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i64
  %now = func.call @profile_now() : () -> i64
  %took = arith.subi %now, %start : i64
  %calls = memref.load %profile[%row, %c0] : memref<ROWSx2xi64>
  %more = arith.addi %calls, %one : i64
  memref.store %more, %profile[%row, %c0] : memref<ROWSx2xi64>
  %time = memref.load %profile[%row, %c1] : memref<ROWSx2xi64>
  %sum = arith.addi %time, %took : i64
  memref.store %sum, %profile[%row, %c1] : memref<ROWSx2xi64>
  func.return
}

func.func private @profile_reset(%profile: memref<ROWSx2xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.constant ROWS : index
  %zero = arith.constant 0 : i64
  scf.for %row = %c0 to %rows step %c1 {
    memref.store %zero, %profile[%row, %c0] : memref<ROWSx2xi64>
    memref.store %zero, %profile[%row, %c1] : memref<ROWSx2xi64>
  }
  func.return
}
"""


@dataclass(frozen=True)
class ProfileKernelsPass(StepwellPass):
    """
    Makes an entry measure the calls of kernels: one more result holds how often each ran, and how many nanoseconds it
    took.

    Before:

        func.func @main(%x: ..., %y: ...) {
          func.call @relu(%x, %y) : (memref<8xf32>, memref<8xf32>) -> ()
          func.return
        }

    After:

        func.func @main(%x: ..., %y: ..., %profile: memref<2x2xi64> {stepwell.role = "output",
            stepwell.name = "profile"}) attributes
            {stepwell.profile = [{kernel = "relu", place = "model.mlir:3:8", operations = 8 : i64, bytes = 64 : i64,
            lines = ["model.mlir:3:8"]}]} {
          func.call @profile_reset(%profile) : (memref<2x2xi64>) -> ()
          %start = func.call @profile_now() : () -> i64
          %start_1 = func.call @profile_now() : () -> i64
          func.call @relu(%x, %y) : (memref<8xf32>, memref<8xf32>) -> ()
          func.call @profile_add(%profile, %c0, %start_1) : (memref<2x2xi64>, index, i64) -> ()
          func.call @profile_add(%profile, %c1, %start) : (memref<2x2xi64>, index, i64) -> ()
          func.return
        }

    The result has a row per call, in the order of the program, then one for the whole entry. Each holds calls and
    nanoseconds. `stepwell.profile` says what the rows stand for: the `nodes` of a model by name, and `lines` of text.
    The pass is for the scf level, after `lower-loops-to-scf`. The clock is that of POSIX, `clock_gettime` of libc. With
    `where-lowered` it does nothing on another level, and nothing where it has run: so it can stand after each
    `lower-loops-to-scf` of a pipeline.
    """

    name = "profile-kernels"

    entry: str = "main"
    where_lowered: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = {each.sym_name.data: each for each in op.ops if isinstance(each, func.FuncOp)}
        entry = functions.get(self.entry)
        if self.where_lowered and not (entry is not None and _is_lowered(op, entry)):
            return
        if entry is None or SIGNATURE not in entry.attributes or not entry.body.blocks:
            fail(op, f"there is no func.func @{self.entry} with a signature, whose kernels could be measured")
        if any(isinstance(type_, TensorType) for type_ in (*entry.function_type.inputs, *entry.function_type.outputs)):
            hint = "the pass is for the scf level, after lower-loops-to-scf"
            fail(entry, f"@{self.entry} is on tensors, expected one on buffers", hint=hint)
        calls = [each for each in entry.walk() if isinstance(each, func.CallOp)]
        for name in (NOW, ADD, RESET):
            if name in functions:
                fail(functions[name], f"the name @{name} is taken", hint="profile-kernels runs once")
        counts = Arithmetic(functions)
        rows = [_row(call, functions.get(call.callee.string_value()), counts) for call in calls]
        type_ = MemRefType(i64, [len(calls) + 1, 2])
        profile = _add_result(entry, type_)
        entry.attributes[PROFILE] = ArrayAttr(rows)
        for index, call in enumerate(calls):
            _measure(call, call, profile, index)
        _measure(entry.body.blocks[0].first_op, entry.body.blocks[0].last_op, profile, len(calls))
        _call(entry.body.blocks[0].first_op, RESET, [profile], [])
        text = CLOCK.replace("ROWS", str(len(calls) + 1))
        for helper in list(Parser(ctx, text).parse_module().ops):
            if isinstance(helper, func.FuncOp) and helper.sym_name.data not in functions:
                helper.detach()
                Rewriter.insert_op(helper, InsertPoint.at_end(op.body.block))
        self.count("calls measured", len(calls))


def _is_lowered(module: ModuleOp, entry: func.FuncOp) -> bool:
    """Returns whether the module is on the scf level, and its entry does not measure itself already."""
    types = (*entry.function_type.inputs, *entry.function_type.outputs)
    return (
        PROFILE not in entry.attributes
        and not any(isinstance(type_, TensorType) for type_ in types)
        and not any(each.name == "tensor_loop.func" for each in module.ops)
    )


def _row(call: func.CallOp, callee: func.FuncOp | None, counts: Arithmetic) -> DictionaryAttr:
    name = call.callee.string_value()
    place = nearest_source_point(call)
    found: dict[str, Attribute] = {
        "kernel": StringAttr(name),
        "place": StringAttr("" if place is None else str(place)),
        "operations": IntegerAttr(counts.of_call(name), i64),
        "bytes": IntegerAttr(bytes_given(call, callee), i64),
    }
    origins = origins_of(call.location)
    nodes = [StringAttr(origin.name) for origin in origins if origin.name]
    lines = [StringAttr(str(origin.point)) for origin in origins if not origin.name]
    return DictionaryAttr(found | {key: ArrayAttr(each) for key, each in (("nodes", nodes), ("lines", lines)) if each})


def _add_result(entry: func.FuncOp, type_: MemRefType) -> BlockArgument:
    """Adds the argument for one more result of an entry on buffers."""
    block = entry.body.blocks[0]
    added = block.insert_arg(type_, len(block.args))
    added.name_hint = "profile"
    inputs = [*entry.function_type.inputs, type_]
    entry.function_type = FunctionType.from_lists(inputs, entry.function_type.outputs.data)
    role = DictionaryAttr({ROLE: StringAttr("output"), NAME: StringAttr("profile")})
    known = entry.arg_attrs.data if entry.arg_attrs is not None else [DictionaryAttr({})] * (len(inputs) - 1)
    entry.arg_attrs = ArrayAttr([*known, role])
    signature = entry.attributes[SIGNATURE]
    assert isinstance(signature, FunctionType)
    result = TensorType(type_.element_type, type_.get_shape())
    entry.attributes[SIGNATURE] = FunctionType.from_lists(signature.inputs.data, [*signature.outputs.data, result])
    return added


def _measure(first: Operation | None, last: Operation | None, profile: SSAValue, row: int) -> None:
    """
    Measures the time from before `first` to after `last`. Where `last` ends the block, it is the time to before it.
    """
    assert first is not None and last is not None
    start = _call(first, NOW, [], [i64])
    index = arith.ConstantOp(IntegerAttr(row, IndexType()))
    add = func.CallOp(ADD, [profile, index.result, start.results[0]], [])
    where = InsertPoint.before(last) if isinstance(last, func.ReturnOp) else InsertPoint.after(last)
    for made in (index, add):
        copy_location(last, made)
    Rewriter.insert_op([index, add], where)


def _call(before: Operation | None, name: str, operands: list[SSAValue], results: list[Attribute]) -> Operation:
    assert before is not None
    call = func.CallOp(name, operands, results)
    copy_location(before, call)
    Rewriter.insert_op(call, InsertPoint.before(before))
    return call
