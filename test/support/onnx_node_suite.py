"""
The node tests of the `onnx` package, run through import and native code.

A case counts when its tensors are of types that we have, of static shapes once its shape operands are constants. Those,
which fix shapes or are attributes in all but name, are bound at import; `SHAPE_OPERANDS` lists them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from stepwell.frontends.onnx.registry import find
from stepwell.frontends.onnx.types import DTYPES, type_text
from stepwell.te.dtypes import STORED_FLOATS, numpy_dtype

UNITS = 2
"""Beside its own tolerances, a case has so many units in the last place of its largest element."""

COUNTED = {number for number, name in DTYPES.items() if name != "bf16"}


@dataclass(frozen=True)
class Case:
    """A test of the suite; `expanded` if it is an operator replaced by its definition."""

    name: str
    family: str
    expanded: bool
    model: Any
    data: list[tuple[list[Any], list[Any]]]
    rtol: float
    atol: float


@cache
def all_cases() -> dict[str, Any]:
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {case.name: case for case in load_model_tests(kind="node")}


def counted_cases() -> Iterator[Case]:
    """The cases of the denominator, by name."""
    for name, case in sorted(all_cases().items()):
        if why_not_counted(case) is None:
            yield case_named(name)


def why_not_counted(case: Any) -> str | None:
    """What keeps a case out of the denominator, if anything does."""
    for info in [*case.model.graph.input, *case.model.graph.output]:
        tensor = info.type.tensor_type
        if not info.type.HasField("tensor_type"):
            return "sequences and optional values"
        if tensor.elem_type not in COUNTED:
            name = type_text(tensor.elem_type)
            return "strings" if name == "string" else "floats of 4 bits, others of 8, bf16 and complex numbers"
        if not tensor.HasField("shape") or not all(dim.HasField("dim_value") for dim in tensor.shape.dim):
            return "shapes that are not static"
    return None


def case_named(name: str) -> Case:
    case = all_cases()[name]
    base = all_cases().get(name.partition("_expanded")[0], case)
    family = base.model.graph.node[-1].op_type
    return Case(name, family, "_expanded" in name, case.model, case.data_sets, case.rtol, case.atol)


def shape_operands(case: Case) -> set[str]:
    """
    The inputs of a case that converters want to know at import; of an expanded case, those of the operator itself.
    """
    base = all_cases().get(case.name.partition("_expanded")[0])
    models = [case.model] if base is None else [case.model, base.model]
    names: set[str] = set()
    for model in models:
        version = {each.domain: each.version for each in model.opset_import}.get("", 1)
        for node in model.graph.node:
            found = find(node.op_type, node.domain, version)
            declared = () if found is None else found.inputs
            for number, name in enumerate(node.input):
                if declared and declared[min(number, len(declared) - 1)].known:
                    names.add(name)
    inputs = {info.name for info in case.model.graph.input}
    return names & inputs


def run_case(case: Case, **options: Any) -> None:
    """Imports and runs a case; raises when that fails, `AssertionError` for another result."""
    import stepwell

    for inputs, expected in case.data:
        given = {info.name: array_of(value) for info, value in zip(case.model.graph.input, inputs, strict=False)}
        bound = {name: given[name] for name in shape_operands(case)}
        module = stepwell.from_onnx(case.model, constants=bound)
        executable = stepwell.compile(module, cache=False, **options)
        arrays = [array for name, array in given.items() if name not in bound]
        results = executable(*arrays)
        for found, wanted in zip(results, expected, strict=True):
            compare(found, array_of(wanted), case)


def array_of(value: Any) -> Any:
    """A tensor of a case: an array, or the `TensorProto` of one."""
    from onnx import TensorProto, numpy_helper

    return numpy_helper.to_array(value) if isinstance(value, TensorProto) else np.asarray(value)


def compare(found: Any, wanted: Any, case: Case) -> None:
    assert found.dtype == wanted.dtype, f"dtype {found.dtype}, expected {wanted.dtype}"
    assert found.shape == wanted.shape, f"shape {found.shape}, expected {wanted.shape}"
    if wanted.dtype in map(numpy_dtype, STORED_FLOATS):  # whose NaN NumPy does not take for equal
        np.testing.assert_array_equal(found.astype(np.float32), wanted.astype(np.float32))
    elif wanted.dtype.kind == "f":
        atol = max(case.atol, UNITS * unit(wanted))
        np.testing.assert_allclose(found, wanted, rtol=case.rtol, atol=atol)
    else:
        np.testing.assert_array_equal(found, wanted)


def unit(array: Any) -> float:
    """
    What the last bit of the largest finite element is worth: sums are rounded by the size of their terms, not of their
    result.
    """
    finite = np.abs(array[np.isfinite(array)].astype(np.float64))
    return float(finite.max(initial=0.0)) * float(np.finfo(array.dtype).eps)
