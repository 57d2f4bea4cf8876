"""Runs a module of the graph dialect, op by op, with the reference meaning of each op."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, DictionaryAttr, FunctionType, IndexType, ModuleOp, TensorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ..core.derived_weights import weight_array
from ..core.messages.locations import location_string
from ..core.roles import INSTANCES, PREPARE, prepare_function
from ..lazy_dataclass import dataclass
from .arith import evaluate_scalar_op
from .element_types import DTYPES, Array, number
from .failure import ReferenceFailure
from .loops.run import LoopRunner
from .loops.state import MAX_STEPS
from .movement import OUT_OF_RANGE
from .properties import element_type_name, literal_array, plain_value, properties_of
from .registry import lookup

Observer = Callable[[Operation, tuple[Array, ...]], None]

Meaning = Callable[[Operation, Sequence[Array]], "tuple[Array, ...] | None"]
"""Returns the results of an op that has no reference, or `None` where it is not known either."""

INDEX_DTYPE = np.dtype(np.int64)


class ReferenceRunError(Exception):
    """Raised when the program cannot be run here, or an op's result is not of the type that the IR declares."""


class NoReferenceError(ReferenceRunError):
    """Raised where nothing says what an op computes. `op` is its name."""

    def __init__(self, op: Operation):
        super().__init__(f"{location_string(op)}: '{op.name}' has no reference")
        self.op = op.name


@dataclass
class _Run:
    """One execution. It holds the functions of the module, its loop functions, the weights and the observer."""

    functions: dict[str, func.FuncOp]
    loops: LoopRunner
    weights: Mapping[str, Array]
    observe: Observer | None
    otherwise: Meaning | None = None
    prepared: dict[str, tuple[Array, ...]] = field(default_factory=dict)

    def call(self, name: str, arguments: Sequence[Array]) -> tuple[Array, ...]:
        function = self.functions.get(name)
        if function is None:
            raise ReferenceRunError(f"function '@{name}' is not in the module")
        if PREPARE in function.attributes:
            # The results are computed once per weight set, as in docs/architecture.md.
            if name not in self.prepared:
                self.prepared[name] = self.region(function.body, arguments, {})
            return self.prepared[name]
        return self.region(function.body, arguments, {})

    def region(self, region: Region, arguments: Sequence[Array], outer: dict[SSAValue, Array]) -> tuple[Array, ...]:
        """Runs the one block of a region. Values defined around it are visible, and its own end with it."""
        if len(region.blocks) != 1:
            raise ReferenceRunError(f"region has {len(region.blocks)} blocks, expected 1")
        return self.block(region.block, arguments, dict(outer))

    def block(self, block: Block, arguments: Sequence[Array], values: dict[SSAValue, Array]) -> tuple[Array, ...]:
        values.update(zip(block.args, arguments, strict=True))
        for op in block.ops:
            operands = [values[operand] for operand in op.operands]
            if op.name in ("func.return", "scf.yield"):
                return tuple(operands)
            try:
                results = self.op(op, operands, values)
            except ReferenceFailure as failure:
                if failure.location:
                    raise
                raise ReferenceFailure(failure.op, failure.reason, location_string(op)) from None
            for result, array in zip(op.results, results, strict=True):
                check_type(op, result.type, array)
                values[result] = array
            if self.observe is not None:
                self.observe(op, results)
        raise ReferenceRunError("block has no func.return or scf.yield")

    def op(self, op: Operation, operands: list[Array], values: dict[SSAValue, Array]) -> tuple[Array, ...]:
        special = _SPECIAL.get(op.name)
        if special is not None:
            return special(self, op, operands, values)
        reference = lookup(op.name)
        if reference is not None:
            with np.errstate(all="ignore"):
                return tuple(np.asarray(array) for array in reference(properties_of(op), *operands))
        results = evaluate_scalar_op(op, operands)
        if results is None and self.otherwise is not None:
            results = self.otherwise(op, operands)
        if results is None:
            raise NoReferenceError(op)
        return results


def _call(run: _Run, op: Operation, operands: list[Array], values: dict[SSAValue, Array]) -> tuple[Array, ...]:
    return run.call(plain_value(op.properties["callee"]), operands)


def _call_kernel(run: _Run, op: Operation, operands: list[Array], values: dict[SSAValue, Array]) -> tuple[Array, ...]:
    """Runs a loop function. Its buffers hold the bits of the tensors: those of unsigned integers and booleans too."""
    types = [result.type for result in op.results]
    tensors = [type_ for type_ in types if isinstance(type_, TensorType)]
    is_static = all(DYNAMIC_INDEX not in type_.get_shape() for type_ in tensors)
    sizes = [type_.get_shape() for type_ in tensors] if is_static else None
    outputs = run.loops.run(plain_value(op.properties["callee"]), operands, op, sizes=sizes)
    dtypes = [DTYPES[element_type_name(type_.element_type)] for type_ in tensors]
    return tuple(array.view(dtype) for array, dtype in zip(outputs, dtypes, strict=True))


def _if(run: _Run, op: Operation, operands: list[Array], values: dict[SSAValue, Array]) -> tuple[Array, ...]:
    taken = op.regions[0] if operands[0] else op.regions[1]
    return run.region(taken, (), values) if taken.blocks else ()


def _for(run: _Run, op: Operation, operands: list[Array], values: dict[SSAValue, Array]) -> tuple[Array, ...]:
    first, last, step = (int(bound) for bound in operands[:3])
    carried = tuple(operands[3:])
    for index in range(first, last, step):
        carried = run.region(op.regions[0], (np.asarray(index, INDEX_DTYPE), *carried), values)
    return carried


def _extract(run: _Run, op: Operation, operands: list[Array], values: dict[SSAValue, Array]) -> tuple[Array, ...]:
    tensor, *indices = operands
    position = tuple(int(index) for index in indices)
    if any(not 0 <= index < size for index, size in zip(position, tensor.shape, strict=True)):
        raise ReferenceFailure("tensor.extract", OUT_OF_RANGE)
    return (np.asarray(tensor[position]),)


def _dim(run: _Run, op: Operation, operands: list[Array], values: dict[SSAValue, Array]) -> tuple[Array, ...]:
    return (np.asarray(operands[0].shape[int(operands[1])], INDEX_DTYPE),)


def _from_elements(run: _Run, op: Operation, operands: list[Array], values: dict[SSAValue, Array]) -> tuple[Array, ...]:
    result = op.results[0].type
    assert isinstance(result, TensorType)
    return (np.asarray(operands).reshape(result.get_shape()),)


def _literal(run: _Run, op: Operation, operands: list[Array], values: dict[SSAValue, Array]) -> tuple[Array, ...]:
    return (literal_array(op.properties["value"]),)


def _full(run: _Run, op: Operation, operands: list[Array], values: dict[SSAValue, Array]) -> tuple[Array, ...]:
    result = op.results[0].type
    assert isinstance(result, TensorType)
    dtype = DTYPES[element_type_name(result.element_type)]
    return (np.full(result.get_shape(), number(plain_value(op.properties["value"]), dtype), dtype),)


def _weight(run: _Run, op: Operation, operands: list[Array], values: dict[SSAValue, Array]) -> tuple[Array, ...]:
    key = plain_value(op.properties["key"])
    if (found := weight_array(run.weights, key)) is not None:
        return (found,)
    if (name := prepare_function(key)) is not None:
        return (_prepared(run, name)[int(key.partition("#")[2])],)
    raise ReferenceRunError(f"{location_string(op)}: weight '{key}' was not given")


def _prepared(run: _Run, name: str) -> tuple[Array, ...]:
    """Returns the results of a prepare function, or of the one that does its work with other weights."""
    for function in run.functions.values():
        instances = function.attributes.get(INSTANCES)
        if name in run.functions or not isinstance(instances, DictionaryAttr) or name not in instances.data:
            continue
        weights = [op for op in function.body.block.ops if op.name == "graph.weight"]
        own = dict.fromkeys(plain_value(op.properties["key"]) for op in weights)
        keys = zip(own, plain_value(instances.data[name]), strict=True)
        found = ((key, weight_array(run.weights, other)) for key, other in keys)
        renamed = {key: array for key, array in found if array is not None}
        other = _Run(run.functions, run.loops, {**run.weights, **renamed}, None, run.otherwise)
        return other.call(function.sym_name.data, ())
    return run.call(name, ())


_SPECIAL: dict[str, Callable[..., tuple[Array, ...]]] = {
    "func.call": _call,
    "graph.call_kernel": _call_kernel,
    "scf.if": _if,
    "scf.for": _for,
    "tensor.extract": _extract,
    "tensor.dim": _dim,
    "tensor.from_elements": _from_elements,
    "graph.constant": _literal,
    "graph.full": _full,
    "graph.weight": _weight,
}


def check_type(op: Operation, expected: Attribute, array: Array) -> None:
    """Raises `ReferenceRunError` unless `array` has the shape and element type that the IR declares."""
    is_tensor = isinstance(expected, TensorType)
    element_type = expected.element_type if is_tensor else expected
    shape = expected.get_shape() if is_tensor else ()
    dtype = INDEX_DTYPE if isinstance(element_type, IndexType) else DTYPES[element_type_name(element_type)]
    fits = len(shape) == array.ndim and all(
        declared in (DYNAMIC_INDEX, actual) for declared, actual in zip(shape, array.shape, strict=True)
    )
    if not fits or array.dtype != dtype:
        raise ReferenceRunError(
            f"{location_string(op)}: '{op.name}' declares {expected}, the reference gives {array.dtype}"
            f" of shape {array.shape}"
        )


def run(
    module: ModuleOp,
    entry: str = "main",
    *arrays: Any,
    weights: Mapping[str, Array] | None = None,
    observe: Observer | None = None,
    otherwise: Meaning | None = None,
    max_steps: int = MAX_STEPS,
) -> tuple[Array, ...]:
    """
    Returns the results of function `entry` of `module` on `arrays`, in order.

    `weights` are the tensors of the side-car by key. `observe` is called after every op with its results. `otherwise`
    computes the ops that have no reference. Loop functions may take `max_steps` ops. Raises `ReferenceFailure` where
    the program fails, at the first failing op in program order. Raises `ReferenceRunError` where the arguments do not
    fit or an op has no reference. Loop functions that the program calls are interpreted (`reference.loops`), which
    raises `LoopFault` where one does what no program may do.
    """
    functions = {op.sym_name.data: op for op in module.body.block.ops if isinstance(op, func.FuncOp)}
    function = functions.get(entry)
    if function is None:
        raise ReferenceRunError(f"function '@{entry}' is not in the module; it has {sorted(functions)}")
    function_type = function.function_type
    assert isinstance(function_type, FunctionType)
    arguments = [np.asarray(array) for array in arrays]
    if len(arguments) != len(function_type.inputs):
        raise ReferenceRunError(f"'@{entry}' has {len(function_type.inputs)} arguments, {len(arguments)} were given")
    for expected, argument in zip(function_type.inputs, arguments, strict=True):
        check_type(function, expected, argument)
    return _Run(functions, LoopRunner(module, max_steps=max_steps), weights or {}, observe, otherwise).call(
        entry, arguments
    )
