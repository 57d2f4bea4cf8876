"""onnxruntime on the CPU: one thread, all optimisations, inputs and outputs bound beforehand."""

from __future__ import annotations

from collections.abc import Iterator

import onnxruntime

from .engine import Variant, attempt
from .onnx_model import make_model
from .reference import Arrays
from .vocabulary import Program


def variants(program: Program, arrays: Arrays) -> Iterator[Variant | Exception]:
    yield attempt(_variant, program, arrays, False)
    if any(node.op == "attention" for node in program.nodes):
        yield attempt(_variant, program, arrays, True)


def _variant(program: Program, arrays: Arrays, fused_attention: bool) -> Variant:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 3
    model = make_model(program, arrays, fused_attention)
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
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
