"""onnxruntime on the CPU: one thread unless told otherwise, all optimisations, inputs and outputs bound beforehand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import onnxruntime

from .engine import Variant, attempt, threads
from .one_op import OneOp
from .onnx_model import make_model
from .reference import Arrays
from .vocabulary import Program


def variants(program: Program, arrays: Arrays) -> Iterator[Variant | Exception]:
    if isinstance(program, OneOp):
        yield attempt(_one_op, program, arrays)
        return
    yield attempt(_variant, program, arrays, False)
    if any(node.op == "attention" for node in program.nodes):
        yield attempt(_variant, program, arrays, True)


def _one_op(program: OneOp, arrays: Arrays) -> Variant:
    """The model of one op, its results where onnxruntime puts them at first."""
    session = _session(program.model())
    inputs = {value.name: onnxruntime.OrtValue.ortvalue_from_numpy(arrays[value.name]) for value in program.inputs}
    names = [output.name for output in session.get_outputs()]
    outputs = session.run_with_ort_values(names, inputs)
    binding = session.io_binding()
    for name, array in inputs.items():
        binding.bind_ortvalue_input(name, array)
    for name, array in zip(names, outputs, strict=True):
        binding.bind_ortvalue_output(name, array)
    return Variant("bound", lambda: session.run_with_iobinding(binding), lambda: [array.numpy() for array in outputs])


def _session(model: bytes) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads(), 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _variant(program: Program, arrays: Arrays, fused_attention: bool) -> Variant:
    session = _session(make_model(program, arrays, fused_attention))
    binding = session.io_binding()
    inputs = [onnxruntime.OrtValue.ortvalue_from_numpy(arrays[value.name].copy()) for value in program.inputs]
    for value, array in zip(program.inputs, inputs, strict=True):
        binding.bind_ortvalue_input(value.name, array)
    outputs = [
        onnxruntime.OrtValue.ortvalue_from_shape_and_type(list(value.shape), value.dtype) for value in program.outputs
    ]
    for value, array in zip(program.outputs, outputs, strict=True):
        binding.bind_ortvalue_output(value.name, array)

    def call() -> None:
        session.run_with_iobinding(binding)

    name = "fused attention" if fused_attention else "bound"
    return Variant(name, call, lambda: [array.numpy() for array in outputs])
