"""Models of a single quantised node of `com.microsoft`, run by our native code and by onnxruntime."""

from __future__ import annotations

from typing import Any

import stepwell
from onnx_one_node import Arrays, by_onnxruntime, given_to, model_of

DOMAIN = "com.microsoft"


def quantised_model(operator: str, inputs: Arrays, **options: Any) -> Any:
    """A model of one node, as onnxruntime takes it as well."""
    made = model_of(operator, inputs, version=1, domain=DOMAIN, **options)
    made.ir_version = 10
    made.opset_import.add(domain="", version=21)
    return made


def both(operator: str, inputs: Arrays, **options: Any) -> tuple[list[Any], list[Any]]:
    """The outputs by native code and by onnxruntime."""
    made = quantised_model(operator, inputs, **options)
    arrays = given_to(inputs, options.get("known", ()))
    found = stepwell.compile(stepwell.from_onnx(made), cache=False)(*arrays.values())
    return list(found) if isinstance(found, tuple | list) else [found], by_onnxruntime(made, arrays)
