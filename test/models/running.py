"""Running a model beside onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
from cases import Arrays, Case

RTOL = 1e-3

ATOL = 1e-5
"""Of the largest element of an output: below that, an element is what is left of sums of larger ones."""


def both(case: Case, **options: Any) -> list[tuple[list[Any], list[Any]]]:
    """The outputs of every run of a case by Stepwell and by onnxruntime, each fed its own state."""
    import onnxruntime
    import stepwell

    path = case.path()
    module = stepwell.from_onnx(path, dims=case.dims, constants=case.constants)
    executable = stepwell.compile(module, **options)
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), settings, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_inputs() if each.name not in case.constants]
    ours: Arrays = {}
    theirs: Arrays = {}
    results: list[tuple[list[Any], list[Any]]] = []
    for inputs in case.inputs():
        found = [np.array(each) for each in executable(*(ours.get(name, inputs[name]) for name in names))]
        wanted: list[Any] = list(session.run(None, {**case.constants, **inputs, **theirs}))
        ours = {name: found[number] for name, number in case.carried.items()}
        theirs = {name: wanted[number] for name, number in case.carried.items()}
        results.append((found, wanted))
    return results


def compare(found: Any, wanted: Any) -> None:
    """Raises `AssertionError` unless two outputs agree."""
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    if wanted.dtype.kind == "f":
        np.testing.assert_allclose(found, wanted, rtol=RTOL, atol=ATOL * float(np.abs(wanted).max(initial=0)))
    else:
        np.testing.assert_array_equal(found, wanted)
