"""The pass `specialize-shapes`."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, TensorType
from xdsl.ir import Operation
from xdsl.utils.exceptions import PassFailedException

from ...core.ir.sizes import entries_of_arguments, sizes_that_differ, wrong_dims
from ...core.ir.walk import ops_of, walk
from ...core.messages.diagnostics import OperationError
from ...core.messages.texts import missing_function
from ...core.passes.base import StepwellPass
from ...dialects import tensor_loop
from ...dialects.graph.calls import CallKernelOp
from ...dialects.graph.dynamic import DynamicOp
from ...lazy_dataclass import dataclass
from ...patterns.language.functions import functions_of
from .kernels import has_unknowns
from .propagation import Propagation, is_dynamic, sizes_text

Shape = tuple[int, ...]


@dataclass(frozen=True)
class SpecializeShapesPass(StepwellPass):
    """
    Gives the arguments of an entry sizes in the place of `?`, and so everything computed from them.

    `main="4x784,"` has one shape per argument of `@main`, sizes joined by `x`, nothing for rank 0. For a function of
    another name write `entry="f" shapes="4x784,"`. Types of results are inferred again. Called functions are
    specialised as well, by a copy where several calls need different sizes. Ops that take sizes as tensors
    (`graph.dynamic_reshape` …) become the static op. Their sizes are computed from the shapes, and the tensors of sizes
    go if nothing else needs them. Where the condition of an `scf.if` follows from shapes, one branch stays. Bounds of
    an `scf.for` that follow from shapes become constants, and a loop without iterations goes. A loop function with `?`
    that is called gets a private copy per tuple of shapes, in which extents are numbers.

    Without shapes this is done to functions whose arguments have no `?`, where any of these takes sizes as a tensor or
    calls a loop function with `?`.

    Before:
        func.func @main(%x: tensor<?x784xf32>) -> tensor<?x10xf32>
    After (`main="4x784"`):
        func.func @main(%x: tensor<4x784xf32>) -> tensor<4x10xf32>

    Raises `PassFailedException` when shapes do not fit the function, dimensions of one name differ in size, sizes
    depend on data, or a `?` is left. The message names the op.
    """

    name = "specialize-shapes"

    main: str | None = None
    entry: str = "main"
    shapes: str | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.main is not None and self.shapes is not None:
            raise PassFailedException(f"{self.name}: both 'main' and 'shapes' are given, expected one")
        if self.main is not None:
            self._specialize(op, "main", self.main)
        elif self.shapes is not None:
            self._specialize(op, self.entry, self.shapes)
        elif found := static_functions_with_sizes(op):
            propagation = Propagation(op)
            for function in found:
                propagation.specialize(function, function.function_type.inputs.data)
            self.count("specialised functions", propagation.finish())

    def _specialize(self, module: ModuleOp, name: str, text: str) -> None:
        functions = {function.sym_name.data: function for function in functions_of(module)}
        function = functions.get(name)
        if function is None or not function.body.blocks:
            raise PassFailedException(f"{self.name}: {missing_function(name, functions)}")
        types = argument_types(function, parse_shapes(text))
        check_named_dims(function, types)
        propagation = Propagation(module)
        propagation.specialize(function, types)
        self.count("specialised functions", propagation.finish())
        if (reason := wrong_dims(function)) is not None:  # Sizes of results are known now.
            raise OperationError(function, reason)


def static_functions_with_sizes(module: ModuleOp) -> list[func.FuncOp]:
    """
    Returns the functions whose arguments have no `?`, callees first.

    There are none where no op takes sizes and no call is of a loop function with a `?`.
    """
    found = {
        function.sym_name.data: function
        for function in functions_of(module)
        if function.body.blocks and not any(is_dynamic(type_) for type_ in function.function_type.inputs)
    }
    kernels = {
        op.sym_name.data
        for op in module.ops
        if isinstance(op, tensor_loop.FuncOp) and any(map(has_unknowns, op.body.block.arg_types))
    }
    if not any(_takes_sizes(op, kernels) for function in found.values() for op in walk(function)):
        return []
    ordered: dict[str, func.FuncOp] = {}

    def visit(name: str) -> None:
        if (function := found.pop(name, None)) is not None:
            for call in ops_of(function, func.CallOp):
                visit(call.callee.string_value())
            ordered[name] = function

    for name in list(found):
        visit(name)
    return list(ordered.values())


def _takes_sizes(op: Operation, kernels: set[str]) -> bool:
    """Returns whether an op takes sizes as a tensor, or is a call with a `?` or of one of the open `kernels`."""
    if type(op) is CallKernelOp:
        return op.callee_name in kernels or any(is_dynamic(result.type) for result in op.results)
    return isinstance(op, DynamicOp)


def parse_shapes(text: str) -> list[Shape]:
    """Returns `"4x784,,8"` as `[(4, 784), (), (8,)]`. Raises `PassFailedException`."""
    shapes: list[Shape] = []
    for part in text.split(","):
        sizes = part.strip().split("x") if part.strip() else []
        if not all(size.isdecimal() for size in sizes):
            raise PassFailedException(
                f"specialize-shapes: '{part.strip()}' is not a shape, expected sizes joined by 'x' such as 4x784"
            )
        shapes.append(tuple(int(size) for size in sizes))
    return shapes


def argument_types(function: func.FuncOp, shapes: list[Shape]) -> list[TensorType]:
    """Returns the types of the arguments with `shapes` in place. Raises `OperationError` where they do not fit."""
    name = function.sym_name.data
    arguments = function.body.blocks[0].args
    if not arguments and shapes == [()]:
        return []
    if len(shapes) != len(arguments):
        raise OperationError(function, f"@{name} has {len(arguments)} arguments, found {len(shapes)} shapes")
    types: list[TensorType] = []
    for number, (argument, shape) in enumerate(zip(arguments, shapes, strict=True)):
        what = f"argument {number} (%{argument.name_hint or f'arg{number}'}) of @{name}"
        type_ = argument.type
        if not isinstance(type_, TensorType):
            raise OperationError(function, f"{what} has type {type_}, expected a tensor")
        declared = type_.get_shape()
        fits = len(declared) == len(shape) and all(
            size in (DYNAMIC_INDEX, wanted) for size, wanted in zip(declared, shape, strict=True)
        )
        if not fits:
            found, expected = sizes_text(shape), sizes_text(declared)
            raise OperationError(function, f"{what} gets the shape {found}, expected {expected}")
        types.append(type_ if tuple(declared) == shape else TensorType(type_.element_type, shape, type_.encoding))
    return types


def check_named_dims(function: func.FuncOp, types: list[TensorType]) -> None:
    """Raises `OperationError` unless dimensions that `stepwell.dims` gives one name have one size."""
    shapes = [type_.get_shape() for type_ in types]
    if (reason := sizes_that_differ(entries_of_arguments(function), shapes)) is not None:
        raise OperationError(function, reason)
