"""Models of a single node, run by our native code and by the evaluator of the onnx package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnxruntime
import stepwell
from onnx import ModelProto, TypeProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

Arrays = Mapping[str, np.ndarray[Any, Any] | None]


def model_of(
    operator: str,
    inputs: Arrays,
    *,
    version: int,
    outputs: int = 1,
    known: Sequence[str] = (),
    domain: str = "",
    **attributes: Any,
) -> Any:
    """A model of one node; `None` is an input that is left out, `known` ones are initialisers."""
    names = [f"y{number}" for number in range(outputs)]
    node = helper.make_node(
        operator,
        [name if array is not None else "" for name, array in inputs.items()],
        names,
        name="node",
        domain=domain,
        **attributes,
    )
    given = {name: array for name, array in inputs.items() if array is not None}
    graph = helper.make_graph(
        [node],
        "g",
        [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in given.items()
            if name not in known
        ],
        [helper.make_value_info(name, TypeProto()) for name in names],
        [numpy_helper.from_array(given[name], name) for name in known],
    )
    opsets = [helper.make_opsetid("", version)]
    if domain:
        opsets = [helper.make_opsetid(domain, version)]
    return helper.make_model(graph, opset_imports=opsets)


def given_to(inputs: Arrays, known: Sequence[str]) -> dict[str, np.ndarray[Any, Any]]:
    """The inputs that a model takes at run time."""
    return {name: array for name, array in inputs.items() if array is not None and name not in known}


def run(operator: str, inputs: Arrays, **options: Any) -> list[np.ndarray[Any, Any]]:
    """The outputs of one node by native code."""
    module = stepwell.from_onnx(model_of(operator, inputs, **options))
    executable = stepwell.compile(module, cache=False)
    results = executable(*given_to(inputs, options.get("known", ())).values())
    return list(results) if isinstance(results, tuple | list) else [results]


def expected(operator: str, inputs: Arrays, **options: Any) -> list[np.ndarray[Any, Any]]:
    """The outputs of one node by the onnx package."""
    evaluator = ReferenceEvaluator(model_of(operator, inputs, **options))
    return [np.asarray(each) for each in evaluator.run(None, given_to(inputs, options.get("known", ())))]


def text_of(operator: str, inputs: Arrays, **options: Any) -> str:
    """The imported module as text."""
    return str(stepwell.from_onnx(model_of(operator, inputs, **options)))


def by_onnxruntime(model: Any, arrays: Arrays, *, dtype: int | None = None) -> list[np.ndarray[Any, Any]]:
    """
    The outputs by onnxruntime, which computes each node as it stands. `dtype` is their element type, where it cannot
    infer that.

    It has one thread: several threads round parts of a batch on their own.
    """
    copy = ModelProto()
    copy.CopyFrom(model)
    copy.ir_version = 10
    if all(each.domain for each in copy.opset_import):
        copy.opset_import.add(domain="", version=21)
    for output in copy.graph.output if dtype is not None else ():
        output.type.tensor_type.elem_type = dtype
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(copy.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = {each.name for each in session.get_inputs()}
    return list(
        session.run(None, {name: array for name, array in arrays.items() if name in names and array is not None})
    )
