"""
The lowering of functions of code generators to calls out of the program: pass `lower-external-functions`.

It is the first pass of `finish`. Above it such a function is an ordinary one, with a body that says what it computes.
Below it stands a loop function whose only op is the call, and a declaration that keeps the body as text for the code
generator.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import arith, cf, func
from xdsl.dialects.builtin import (
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    UnitAttr,
    i32,
)
from xdsl.ir import Attribute, Operation
from xdsl.rewriter import InsertPoint, Rewriter

from ...core.codegens import COMPILER, EXTERNAL, find_codegen
from ...core.ir.walk import ops_of, walk
from ...core.messages.diagnostics import StepwellError, emit_remark, fail
from ...core.messages.locations import copy_location
from ...core.passes.base import StepwellPass
from ...core.roles import PREPARE, WRITTEN
from ...dialects import tensor_loop
from ...dialects.graph.constants import WeightOp
from ...lazy_dataclass import dataclass
from ..shared.kernel_calls import replace_by_call
from ..shared.te_types import buffer_of, is_static

SYMBOL_PREFIX = "_stepwell_external_"
"""The code for function `f` is the symbol `_stepwell_external_f`, `i32 (ptr, …)`."""


@dataclass(frozen=True)
class LowerExternalFunctionsPass(StepwellPass):
    """
    Turns functions with the attribute `graph.compiler` into calls of code from outside.

    Each becomes a loop function that calls an external function on its buffers and checks the status. The declaration
    keeps the function as text (`stepwell.external`), which is what the code generator gets when the program is loaded.
    Weights inside become parameters. When the code generator cannot be used here, or does not support a function, the
    mark is dropped with a remark, and the function is compiled like any other.

    Before:
        %0 = func.call @openblas_matmul_0(%x, %w) : …
        func.func private @openblas_matmul_0(…) attributes {graph.primitive, graph.compiler = "openblas"} { … }
    After:
        %0 = graph.call_kernel @openblas_matmul_0(%x, %w) : …
        tensor_loop.func private @openblas_matmul_0(%x: …, %w: …) outs(%out: …) {
          %status = func.call @_stepwell_external_openblas_matmul_0(%x, %w, %out) : …
          cf.assert …
        }
        func.func private @_stepwell_external_openblas_matmul_0(…) -> i32
            attributes {stepwell.external = {compiler = "openblas", source = "…"}}

    Raises an error for a code generator that nobody registered.
    """

    name = "lower-external-functions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = {each.sym_name.data: each for each in op.ops if isinstance(each, func.FuncOp)}
        lowered: dict[str, tensor_loop.FuncOp] = {}
        for function in functions.values():
            compiler = function.attributes.get(COMPILER)
            if not isinstance(compiler, StringAttr) or function.is_declaration:
                continue
            reason = _why_own(function, compiler.data, functions)
            if reason is None:
                _lift_weights(op, function, functions)
                reason = find_codegen(compiler.data).why_unsupported(function)
            if reason is None:
                lowered[function.sym_name.data] = self._lower(op, function, compiler.data, functions)
                continue
            emit_remark(function, f"@{function.sym_name.data} is compiled by stepwell itself: {reason}")
            del function.attributes[COMPILER]
            self.count("functions left to stepwell")
        if lowered:
            _call_kernels(op, lowered)

    def _lower(
        self,
        module: ModuleOp,
        function: func.FuncOp,
        compiler: str,
        functions: dict[str, func.FuncOp],
    ) -> tensor_loop.FuncOp:
        kernel, declaration = _kernel_and_declaration(function, compiler, _text(function, functions))
        Rewriter.insert_op([kernel, declaration], InsertPoint.before(function))
        function.detach()
        function.erase()
        self.count(f"functions for {compiler}")
        return kernel


def _why_own(function: func.FuncOp, compiler: str, functions: dict[str, func.FuncOp]) -> str | None:
    """Returns why Stepwell must compile the function itself, or None when the code generator takes it."""
    try:
        found = find_codegen(compiler)
    except StepwellError as error:
        fail(function, error.diagnostic.message, hint=error.diagnostic.hint)
    if function.sym_visibility is None or function.sym_visibility.data != "private":
        return "it is public, expected a private function"
    if len(function.body.blocks) != 1:
        return "its body is not one block"
    types = (*function.function_type.inputs, *function.function_type.outputs)
    if not all(isinstance(type_, TensorType) and is_static(type_) for type_ in types):
        return "it has an argument or result that is not a tensor of known size"
    if not function.function_type.outputs.data:
        return "it has no results"
    for callee in _callees(function, functions)[1:]:
        if any(isinstance(op, WeightOp) or _is_prepare_call(op, functions) for op in walk(callee)):
            return f"@{callee.sym_name.data}, which it calls, holds weights"
    reason = found.why_unavailable()
    return None if reason is None else f"code generator '{compiler}' cannot be used: {reason}"


def _is_prepare_call(op: Operation, functions: dict[str, func.FuncOp]) -> bool:
    if not isinstance(op, func.CallOp):
        return False
    callee = functions.get(op.callee.string_value())
    return callee is not None and PREPARE in callee.attributes


def _callees(function: func.FuncOp, functions: dict[str, func.FuncOp]) -> list[func.FuncOp]:
    """Returns `function` and all that it calls, in order of first call. Prepare functions are weights, not code."""
    found = {function.sym_name.data: function}
    stack = [function]
    while stack:
        for op in walk(stack.pop()):
            if isinstance(op, func.CallOp):
                name = op.callee.string_value()
                if name in functions and name not in found and PREPARE not in functions[name].attributes:
                    found[name] = functions[name]
                    stack.append(functions[name])
    return list(found.values())


def _text(function: func.FuncOp, functions: dict[str, func.FuncOp]) -> str:
    """Returns a module with the function and all that it calls, as text."""
    return str(ModuleOp([each.clone() for each in _callees(function, functions)]))


def _lift_weights(module: ModuleOp, function: func.FuncOp, functions: dict[str, func.FuncOp]) -> None:
    """Makes weights inside the function parameters, which every caller gives it."""
    block = function.body.block
    weights = [op for op in block.ops if isinstance(op, WeightOp) or _is_prepare_call(op, functions)]
    if not weights:
        return
    name = function.sym_name.data
    calls = [op for op in ops_of(module, func.CallOp) if op.callee.string_value() == name]
    for weight in weights:
        for result in weight.results:
            argument = block.insert_arg(result.type, len(block.args))
            argument.name_hint = result.name_hint
            result.replace_all_uses_with(argument)
    for call in calls:
        copies = [weight.clone() for weight in weights]
        for weight, copy in zip(weights, copies, strict=True):
            copy_location(weight, copy)
        Rewriter.insert_op(copies, InsertPoint.before(call))
        call.operands = [*call.operands, *(result for copy in copies for result in copy.results)]
    for weight in weights:
        weight.detach()
        weight.erase()
    results = function.function_type.outputs.data
    function.properties["function_type"] = FunctionType.from_lists(block.arg_types, results)
    function.properties.pop("arg_attrs", None)


def _kernel_and_declaration(
    function: func.FuncOp, compiler: str, source: str
) -> tuple[tensor_loop.FuncOp, func.FuncOp]:
    name = function.sym_name.data
    arguments = function.body.block.args
    inputs = [_buffer(type_) for type_ in function.function_type.inputs]
    outputs = [_buffer(type_) for type_ in function.function_type.outputs]
    names = [value.name_hint or f"in{index}" for index, value in enumerate(arguments)]
    names += [f"out{index}" for index in range(len(outputs))] if len(outputs) > 1 else ["out"]
    kernel = tensor_loop.FuncOp.create_named(name, inputs, outputs, names, visibility="private")
    kernel.attributes[WRITTEN] = UnitAttr()  # Other code generators are trusted.
    symbol = SYMBOL_PREFIX + name
    call = func.CallOp(symbol, kernel.body.block.args, [i32])
    call.results[0].name_hint = "status"
    zero = arith.ConstantOp(IntegerAttr(0, i32))
    done = arith.CmpiOp(call.results[0], zero, "eq")
    check = cf.AssertOp(done, f"{COMPILER}: code of '{compiler}' for @{name} failed")
    last = kernel.body.block.last_op
    assert last is not None
    Rewriter.insert_op([call, zero, done, check], InsertPoint.before(last))
    declaration = func.FuncOp.external(symbol, [*inputs, *outputs], [i32])
    declaration.attributes[EXTERNAL] = DictionaryAttr(
        {"compiler": StringAttr(compiler), "function": StringAttr(name), "source": StringAttr(source)}
    )
    for op in (kernel, call, zero, done, check, declaration):
        copy_location(function, op)
    return kernel, declaration


def _buffer(type_: Attribute) -> Attribute:
    assert isinstance(type_, TensorType)
    return buffer_of(type_)


def _call_kernels(module: ModuleOp, lowered: dict[str, tensor_loop.FuncOp]) -> None:
    """Turns calls of the functions into calls of the loop functions that took their names."""
    for op in walk(module):
        if isinstance(op, func.CallOp) and op.callee.string_value() in lowered:
            replace_by_call(op, op.callee)
