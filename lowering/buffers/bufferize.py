"""
Converts tensors to buffers: pass `bufferize`.

Before: `func.func` on tensors whose ops are kernel calls, constants, weights, calls and `scf`. After: `func.func` on
memrefs with roles, kernels called by `tensor_loop.call`, every intermediate a view into one arena.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, MemRefType, ModuleOp, StringAttr, TensorType

from ...analysis.result_sizes import sizes_by_stores
from ...core.ir.walk import walk
from ...core.messages.diagnostics import fail
from ...core.passes.base import StepwellPass
from ...core.roles import DIMS, PREPARE, ROLE, SIGNATURE
from ...dialects import tensor_loop
from ...lazy_dataclass import dataclass
from ..shared.call_order import call_order, refuse_recursion_on_buffers
from .constants import ConstantPool
from .copies import InPlaceKernels
from .flatten_dynamic_buffers import is_dynamic
from .function import FunctionBufferizer, Signatures
from .kernels import hoist_temporaries, refuse_open_kernels, wrap_public_kernels


@dataclass(frozen=True)
class BufferizePass(StepwellPass):
    """
    Replaces tensors by buffers: arguments with roles, and one arena planned by lifetimes.

    Buffers that are never alive together share bytes of the arena. With `reuse=false` each has its own, which tells an
    error of the plan from an error elsewhere. Temporaries of kernels move to their callers' arenas.

    A result takes the place of an operand that is read for the last time, where the kernel reads each element before it
    writes it (`analysis/in_place.py`). The call is then one of a copy of the kernel that has an argument less, as no
    two arguments share memory. `in-place=false` gives every result a buffer of its own.

    An argument with `stepwell.donated` is such an operand as well, where the result is one of the function. The entry
    has a buffer for each of the two, and begins with a copy where they are not the same.

    With `separate=true` there is no arena. Each buffer is a `memref.alloc` of its exact size, which lives to the end of
    the block that it is made in. Tools that check memory, such as memcheck of valgrind, then see an access beside a
    buffer and a read of what was never written.

    Before:
    ```mlir
    %b = graph.call_kernel @exp(%a) : (tensor<4xf32>) -> tensor<4xf32>
    ```
    After, when `%a` is read here for the last time:
    ```mlir
    tensor_loop.call @exp_in_place() outs(%a) : () outs(memref<4xf32>)
    ```

    Raises an error for a graph op (run `lower-graph-to-loops` first), for `?` (run `specialize-shapes` first), for
    recursion and for tensors that pass between several blocks.
    """

    name = "bufferize"

    reuse: bool = True
    in_place: bool = True
    separate: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        on_tensors = [f for f in op.ops if isinstance(f, func.FuncOp) and uses_tensors(f)]
        public_kernels = [f for f in op.ops if isinstance(f, tensor_loop.FuncOp) and is_entry_kernel(f)]
        for function in [f for f in public_kernels if any(map(is_dynamic, f.body.block.arg_types))]:
            give_roles(function)
            public_kernels.remove(function)
        for each in op.ops:
            if isinstance(each, tensor_loop.FuncOp) and not is_public(each):
                each.attributes.pop(SIGNATURE, None)  # Whoever calls it has the types.
        if not on_tensors and not public_kernels:
            return
        _refuse_tensors([each for each in op.ops if isinstance(each, tensor_loop.FuncOp)])
        refuse_open_kernels(op)
        if public_kernels:  # Here they still have the names that the user gave them.
            refuse_recursion_on_buffers([each for each in op.ops if isinstance(each, tensor_loop.FuncOp)])
        wrapped = wrap_public_kernels(op, public_kernels)
        kernels = hoist_temporaries(op)
        prepares = {f.sym_name.data for f in on_tensors if PREPARE in f.attributes}
        signatures = Signatures(kernels, prepares)
        constants = ConstantPool(op)
        in_place = InPlaceKernels(op) if self.reuse and self.in_place else None
        for function in call_order(on_tensors + wrapped, "tensors"):
            bufferizer = FunctionBufferizer(function, signatures, constants, self.reuse, in_place, self.separate)
            plan = bufferizer.run()
            self.count("bytes of arenas", plan.size)
            self.count("bytes alive at most", plan.peak)
            self.count("calls in place", len(bufferizer.sharing.calls))
        if in_place is not None:
            in_place.remove_unused()


def _refuse_tensors(functions: Iterable[tensor_loop.FuncOp]) -> None:
    """Raises an error for a tensor in a loop function, where nothing gives it a place in memory."""
    for function in functions:
        for op in walk(function):
            if any(type(result.type) is TensorType for result in op.results):
                fail(
                    op, "a tensor in a loop function has no place in memory", hint="make it in a func.func and pass it"
                )


def is_public(function: tensor_loop.FuncOp) -> bool:
    """Returns whether a loop function can be called from outside."""
    return function.sym_visibility is None or function.sym_visibility.data != "private"


def is_entry_kernel(function: tensor_loop.FuncOp) -> bool:
    """Returns whether a loop function is public and has not been given roles yet."""
    if not is_public(function):
        return False
    attributes = function.arg_attrs
    return attributes is None or not any(ROLE in item.data for item in attributes)


def give_roles(function: tensor_loop.FuncOp) -> None:
    """
    Makes a loop function with buffers of unknown size an entry itself: it is called with their sizes.

    The sizes of outputs that follow from its stores are added to `stepwell.dims`.
    """
    inputs, outputs = function.function_type.inputs.data, function.function_type.outputs.data
    roles = ["input"] * len(inputs) + ["output"] * len(outputs)
    given = [{}] * len(roles) if function.arg_attrs is None else [each.data for each in function.arg_attrs]
    sizes = [
        {DIMS: ArrayAttr(map(StringAttr, entries))} if any(entries) else {} for entries in sizes_by_stores(function)
    ]
    function.arg_attrs = ArrayAttr(
        [
            DictionaryAttr({**each, **named, ROLE: StringAttr(role)})
            for each, named, role in zip(given, sizes, roles, strict=True)
        ]
    )
    tensors = [
        [TensorType(type_.element_type, type_.get_shape()) for type_ in types if isinstance(type_, MemRefType)]
        for types in (inputs, outputs)
    ]
    function.attributes.setdefault(SIGNATURE, FunctionType.from_lists(*tensors))


def uses_tensors(function: func.FuncOp) -> bool:
    """Returns whether tensors appear in a function's type or body."""
    types = function.function_type
    if any(isinstance(t, TensorType) for t in (*types.inputs, *types.outputs)):
        return True
    return any(isinstance(r.type, TensorType) for op in walk(function) for r in op.results)
