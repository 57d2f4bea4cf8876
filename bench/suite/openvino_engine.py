"""
OpenVINO's CPU plugin: one stream, f32 all the way, inputs bound beforehand, images as NCHW and as NHWC.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Any

import numpy as np
import openvino
from openvino.preprocess import PrePostProcessor

from .engine import Variant, attempt, threads
from .onnx_model import make_model
from .reference import Arrays
from .vocabulary import Program

CONFIG: dict[str, Any] = {
    "INFERENCE_NUM_THREADS": threads(),
    "NUM_STREAMS": 1,
    "PERFORMANCE_HINT": "LATENCY",
    "INFERENCE_PRECISION_HINT": "f32",
    "ENABLE_CPU_PINNING": False,
}


def variants(program: Program, arrays: Arrays) -> Iterator[Variant | Exception]:
    yield attempt(_variant, program, arrays, False)
    if program.is_image:
        yield attempt(_variant, program, arrays, True)


def _variant(program: Program, arrays: Arrays, nhwc: bool) -> Variant:
    core = openvino.Core()
    model = core.read_model(BytesIO(make_model(program, arrays)))
    if nhwc:
        model = _with_nhwc_borders(model)
    request = core.compile_model(model, "CPU", CONFIG).create_infer_request()
    kept: list[Any] = []
    for index, value in enumerate(program.inputs):
        array = arrays[value.name]
        if nhwc and array.ndim == 4:
            array = array.transpose(0, 2, 3, 1)
        kept.append(np.ascontiguousarray(array))  # the tensor does not keep what it shares
        request.set_input_tensor(index, openvino.Tensor(kept[-1], shared_memory=True))

    def call() -> None:
        request.start_async()
        request.wait()

    def outputs() -> list[Any]:
        assert len(kept) == len(program.inputs)
        results = [request.get_output_tensor(index).data for index in range(len(program.outputs))]
        return [np.moveaxis(r, 3, 1) if nhwc and r.ndim == 4 else r for r in results]

    return Variant("NHWC" if nhwc else "default", call, outputs)


def _with_nhwc_borders(model: Any) -> Any:
    """The model, with inputs and outputs of rank 4 as NHWC."""
    borders = PrePostProcessor(model)
    nhwc, nchw = openvino.Layout("NHWC"), openvino.Layout("NCHW")
    for index, port in enumerate(model.inputs):
        if port.partial_shape.rank.get_length() == 4:
            borders.input(index).tensor().set_layout(nhwc)
            borders.input(index).model().set_layout(nchw)
    for index, port in enumerate(model.outputs):
        if port.partial_shape.rank.get_length() == 4:
            borders.output(index).model().set_layout(nchw)
            borders.output(index).tensor().set_layout(nhwc)
    return borders.build()
