"""Models of a single node of `com.microsoft`, run by our native code and by onnxruntime."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import stepwell
from onnx_one_node import Arrays, by_onnxruntime, given_to, model_of

Array = Any
"""Arrays and scalars of NumPy."""

DOMAIN = "com.microsoft"


def fused_model(
    operator: str, inputs: Arrays, *, named: Sequence[int] = (1,), domain: str = DOMAIN, **options: Any
) -> Any:
    """A model of one node, with a name for each output that `named` has a 1 for."""
    made = model_of(operator, inputs, version=1 if domain else 21, outputs=len(named), domain=domain, **options)
    made.ir_version = 10
    if domain:
        made.opset_import.add(domain="", version=21)
    for number in reversed(range(len(named))):
        if not named[number]:
            made.graph.node[0].output[number] = ""
            del made.graph.output[number]
    return made


def with_open_sizes(made: Any, **names: Sequence[str]) -> Any:
    """The model with the first extents of its inputs left open, by the names of the inputs and those of the extents."""
    for info in made.graph.input:
        for dim, name in zip(info.type.tensor_type.shape.dim, names.get(info.name, ()), strict=False):
            dim.dim_param = name
    return made


def ours(made: Any, *arrays: Array) -> list[Array]:
    """The outputs by native code."""
    results: Any = stepwell.compile(stepwell.from_onnx(made), cache=False)(*arrays)
    return list(results) if isinstance(results, tuple | list) else [results]


def agreed(operator: str, inputs: Arrays, *, tolerance: float = 2e-6, **options: Any) -> list[Array]:
    """
    The outputs by native code, which agree with those of onnxruntime: in type and shape, and in value up to
    `tolerance`, which is relative to the greatest number of the output.
    """
    made = fused_model(operator, inputs, **options)
    arrays = given_to(inputs, options.get("known", ()))
    found, wanted = ours(made, *arrays.values()), by_onnxruntime(made, arrays)
    assert len(found) == len(wanted)
    for mine, other in zip(found, wanted, strict=True):
        assert mine.dtype == other.dtype
        close(mine, other, tolerance)
    return found


def close(found: Array, wanted: Array, tolerance: float = 2e-6) -> None:
    """Asserts that both have one shape and agree up to `tolerance` times the greatest number of `wanted`."""
    assert found.shape == wanted.shape
    greatest = float(np.abs(wanted).max(initial=1e-30))
    np.testing.assert_allclose(found.astype(np.float64), wanted.astype(np.float64), rtol=0, atol=tolerance * greatest)


def normal(seed: int, *shape: int, dtype: str = "float32") -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)
