"""Every function of the operator library, evaluated on NumPy arrays, against the NumPy reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from stepwell.dialects.graph import Graph
from stepwell.dialects.traits import LoopTemplate
from stepwell.te import TEError, Tensor, library, placeholder
from stepwell.te.evaluation import evaluate
from stepwell.testing.programs.ir_generators import OpCase, RandomChooser
from stepwell.testing.programs.movement_generators import FAMILIES, random_case
from stepwell.testing.programs.strategies import cases, seeds
from tolerances import check_case


def apply(name: str, arrays: list[np.ndarray], dtypes: list[str], **properties: object) -> list[np.ndarray]:
    operands = [
        placeholder(array.shape, dtype, f"x{number}")
        for number, (array, dtype) in enumerate(zip(arrays, dtypes, strict=True))
    ]
    results = getattr(library, name)(*operands, **properties)
    results = [results] if isinstance(results, Tensor) else list(results)
    return evaluate(results, dict(zip(operands, arrays, strict=True)))


TEMPLATES = {op.name for op in Graph.operations if issubclass(op, LoopTemplate)}
"""Ops whose loops are text; numeric/test_families.py runs them."""


def check(case: OpCase, seed: int) -> None:
    if case.name in TEMPLATES:
        return
    arrays = case.arrays(seed)
    found = apply(case.op, arrays, [spec.dtype for spec in case.operands], **dict(case.properties))
    check_case(case, arrays, found, case.evaluate(arrays))


OPS = [(family, op) for family, ops in FAMILIES.items() for op in ops if f"graph.{op}" not in TEMPLATES]


@pytest.mark.ci_cases(23)
@pytest.mark.parametrize(("family", "op"), OPS, ids=[op for _, op in OPS])
def test_library_gives_the_reference(family: str, op: str) -> None:
    for instance in range(12):
        case = random_case(RandomChooser(31 * instance + 5), family, op)
        check(case, instance)


@pytest.mark.parametrize("family", list(FAMILIES))
def test_library_gives_the_reference_for_any_case(family: str) -> None:
    @given(case=cases(family), seed=seeds())
    def run(case: OpCase, seed: int) -> None:
        check(case, seed)

    run()


def test_every_op_of_the_generators_is_in_the_library() -> None:
    assert [op for _, op in OPS if not hasattr(library, op)] == []


@pytest.mark.parametrize(
    ("types", "message"),
    [
        (("f32", "f16", "i8"), "requantize: 'x1' has element type f16, expected f32 as 'x0' has"),
        (("i32", "i32", "i8"), "requantize: 'x1' has element type i32, expected a float type"),
        (("i32", "f32", "f32"), "requantize: 'x2' has element type f32, expected an integer or 8-bit float type"),
    ],
)
def test_requantize_refuses_other_types(types: tuple[str, ...], message: str) -> None:
    operands = [
        placeholder(shape, dtype, f"x{number}")
        for number, (shape, dtype) in enumerate(zip(((4,), (), ()), types, strict=True))
    ]
    with pytest.raises(TEError) as raised:
        library.requantize(*operands)
    assert str(raised.value) == message


def test_requantize_takes_one_zero_point() -> None:
    x, m, z = placeholder((4, 8), "i32", "x"), placeholder((8,), "f32", "m"), placeholder((8,), "i8", "z")
    message = "requantize: multiplier and zero point have shapes (8) and (8), expected rank 0 or 1, and 0"
    with pytest.raises(TEError) as raised:
        library.requantize(x, m, z)
    assert str(raised.value) == message
