"""
`Executable.trace` for programs of loops: each kernel alone beside the interpreter, and the results of the program.

The interpreter runs the program as it was written. What it gives a kernel is given to native code of that kernel too,
and their outputs are compared. So the first kernel that is lowered wrongly is named. A fault of the program itself,
such as an access outside of a buffer, ends the trace before native code runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any

import numpy as np
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    MemRefType,
    ModuleOp,
    NoneAttr,
    StringAttr,
    TensorType,
)
from xdsl.ir import Operation

from ...core.messages.locations import location_string
from ...core.roles import KEY, prepare_function
from ...dialects.tensor_loop import FuncOp
from ...lazy_dataclass import dataclass
from ...reference.failure import ReferenceFailure
from ...reference.loops.run import run_loops
from ...reference.loops.storage import Buffer
from ..errors import CompileError
from ..native.loop_runner import compile_loops
from ..program.bound_entry import BoundEntry
from ..source import Source
from .values import Array, Trace, TracedValue, compared


def trace_loops(source: Source, bound: BoundEntry, arrays: Sequence[Any], tolerance: float | None) -> Trace:
    """
    Runs the program of `source` by the interpreter, its kernels natively alone, and the program as it is.

    Raises `LoopFault` where the program does what no program may do, and `ExecutionError` where it fails.
    """
    module = source.module
    calls = _Calls(module, tolerance)
    weights = {key: bound.program.weight(key) for key in _weight_keys(module)}
    try:
        expected = run_loops(module, source.entry, arrays, weights=weights, watch=calls.watch)
    except ReferenceFailure as failure:
        bound(*bound.apart(arrays))
        raise CompileError(f"the interpreter fails where the program does not: {failure}") from failure
    outputs = bound.entry.of("output")
    found = bound(*bound.apart(arrays))
    results = [
        compared("result", argument.name, f"tensor<{argument.type}>", one, wanted, tolerance)
        for argument, one, wanted in zip(outputs, found, expected, strict=False)
    ]
    return Trace(tuple(calls.values), tuple(results), (), of_kernels=True)


def _weight_keys(module: ModuleOp) -> list[str]:
    """Returns the keys of the weights that functions of a module take, without those that prepare functions make."""
    found: dict[str, None] = {}
    for op in module.body.ops:
        attributes = op.properties.get("arg_attrs")
        for each in attributes if isinstance(attributes, ArrayAttr) else ():
            key = each.data.get(KEY) if isinstance(each, DictionaryAttr) else None
            if isinstance(key, StringAttr) and prepare_function(key.data) is None:
                found[key.data] = None
    return list(found)


@dataclass
class _Calls:
    """The calls of kernels that the interpreter makes, each compared with native code."""

    module: ModuleOp
    tolerance: float | None
    values: list[TracedValue] = field(default_factory=list)
    _given: list[list[Array]] = field(default_factory=list)
    _compiled: dict[str, Callable[[Sequence[Any]], None]] = field(default_factory=dict)

    def watch(self, function: Operation, arguments: Sequence[Any], has_returned: bool) -> None:
        """Keeps what a kernel is given, and compares what it has made."""
        if not isinstance(function, FuncOp) or not all(map(_is_plain, (*function.input_types, *function.output_types))):
            return
        buffers = [each for each in arguments if isinstance(each, Buffer)]
        if not has_returned:
            self._given.append([each.array() for each in buffers])
            return
        given = [np.ascontiguousarray(array) for array in self._given.pop()]
        name = function.sym_name.data
        if name not in self._compiled:
            self._compiled[name] = compile_loops(self.module, name)
        self._compiled[name](given)
        inputs = len(function.input_types)
        for found, buffer, type_ in zip(given[inputs:], buffers[inputs:], function.output_types, strict=True):
            assert isinstance(type_, MemRefType)
            tensor = str(TensorType(type_.element_type, buffer.sizes))
            made = buffer.are_written()
            pair = np.where(made, found, 0).astype(found.dtype), np.where(made, buffer.array(), 0).astype(found.dtype)
            place = location_string(function)
            self.values.append(compared(f"@{name}", place, tensor, *pair, self.tolerance))


def _is_plain(type_: Any) -> bool:
    """Returns whether a kernel can be given an argument of a type by a pointer alone: a dense buffer of known sizes."""
    return (
        isinstance(type_, MemRefType) and isinstance(type_.layout, NoneAttr) and DYNAMIC_INDEX not in type_.get_shape()
    )
