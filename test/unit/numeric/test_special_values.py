"""Every elementwise op on every special value, and on every pair of them, in every element type it takes."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import stepwell
from numeric import Array, check_natively_on, check_te_on
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.reference.element_types import DTYPES
from stepwell.te.dtypes import FLOATS
from stepwell.testing.programs.ir_generators import ElementType, OpCase, TensorSpec, spec_of
from stepwell.testing.programs.op_generators import ANY, BINARY, UNARY
from stepwell.testing.programs.op_generators import FLOATS as COMPUTED
from stepwell.testing.programs.values import special_floats

DIVISIONS = ("divide", "floor_divide", "mod")
WITH_PROPERTIES = ("astype", "bitcast", "clip")


def special_values(dtype: str) -> Array:
    """What breaks things in an element type: limits, zeros, and the neighbours of both."""
    if dtype in FLOATS:
        return special_floats(dtype)
    if dtype == "i1":
        return np.array([False, True])
    limits = np.iinfo(DTYPES[dtype])
    low, high, bits = int(limits.min), int(limits.max), limits.bits
    values = {low, low + 1, low // 2, high, high - 1, high // 2, 0, 1, 2, 3, 7, bits - 1, bits, bits + 1}
    values |= {-value for value in (1, 2, 3, 7, bits)} if low < 0 else set()
    return np.array(sorted(value for value in values if low <= value <= high), DTYPES[dtype])


def unary_cases(dtype: str) -> tuple[list[OpCase], list[list[Array]]]:
    x = special_values(dtype)
    ops = [op for op, dtypes in UNARY.items() if dtype in dtypes and op not in WITH_PROPERTIES]
    return [OpCase(op, (spec_of(x),), (), ("any",)) for op in ops], [[x] for _ in ops]


def binary_cases(dtype: str) -> tuple[list[OpCase], list[list[Array]]]:
    """Each op on a column and a row of special values; divisors of integers without 0."""
    cases: list[OpCase] = []
    arrays: list[list[Array]] = []
    values = special_values(dtype)
    for op in [op for op, dtypes in BINARY.items() if dtype in dtypes and op not in ("where", "ewise_fma")]:
        row = values[values != 0] if op in DIVISIONS and dtype not in FLOATS else values
        operands = [values.reshape(-1, 1), row.reshape(1, -1)]
        # The flavours are not used for values here, only to learn the result types.
        cases.append(OpCase(op, tuple(spec_of(array) for array in operands), (), ("any", "divisor")))
        arrays.append(operands)
    return cases, arrays


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("dtype", ANY)
def test_te_and_native_code_of_one_operand(dtype: str) -> None:
    cases, arrays = unary_cases(dtype)
    for case, operands in zip(cases, arrays, strict=True):
        check_te_on(case, operands)
    check_natively_on(cases, arrays)


@pytest.mark.parametrize("dtype", UNARY["bitcast"])
def test_bits_read_as_another_type(dtype: str) -> None:
    x = special_values(dtype)
    targets = [each for each in UNARY["bitcast"] if DTYPES[each].itemsize == x.dtype.itemsize]
    cases = [OpCase("bitcast", (spec_of(x),), (("dtype", ElementType(each)),), ("any",)) for each in targets]
    for case in cases:
        check_te_on(case, [x])
    check_natively_on(cases, [[x] for _ in cases])


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("dtype", ANY)
def test_te_and_native_code_of_two_operands(dtype: str) -> None:
    cases, arrays = binary_cases(dtype)
    for case, operands in zip(cases, arrays, strict=True):
        check_te_on(case, operands)
    check_natively_on(cases, arrays)


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("dtype", COMPUTED)
def test_fma_of_all_triples(dtype: str) -> None:
    values = special_values(dtype)
    x, y, z = (np.array(column, values.dtype) for column in zip(*product(values, repeat=3), strict=True))
    case = OpCase("ewise_fma", (spec_of(x),) * 3, (), ("any",) * 3)
    check_te_on(case, [x, y, z])
    check_natively_on([case], [[x, y, z]])


@pytest.mark.ci_cases(0)
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_every_value_of_a_small_float(dtype: str) -> None:
    """All 65536 bit patterns through every function of one operand."""
    x = np.arange(65536, dtype=np.uint16).view(DTYPES[dtype])
    ops = [op for op, dtypes in UNARY.items() if dtype in dtypes and op not in WITH_PROPERTIES]
    cases = [OpCase(op, (TensorSpec((65536,), dtype),), (), ("any",)) for op in ops]
    check_natively_on(cases, [[x] for _ in cases])


HALVES = """
func.func @main(%x: tensor<4xT>) -> (tensor<4xT>, tensor<2xT>) {
  %e = EXPONENT
  %y = graph.power %x, %e : (tensor<4xT>, tensor<SHAPET>) -> tensor<4xT>
  %h = graph.full 0.5 : tensor<T>
  %zero = graph.constant dense<[-0.0, 4.0]> : tensor<2xT>
  %z = graph.power %zero, %h : (tensor<2xT>, tensor<T>) -> tensor<2xT>
  func.return %y, %z : tensor<4xT>, tensor<2xT>
}
"""


@pytest.mark.parametrize(("dtype", "numpy_type"), [("f16", np.float16), ("f32", np.float32), ("f64", np.float64)])
@pytest.mark.parametrize("shape", ["", "4x"])
def test_a_power_of_a_half_is_no_root(dtype: str, numpy_type: Any, shape: str) -> None:
    """Of -inf it is inf, and of -0 it is 0: in native code, when it is folded, and in the reference (fuzz 5183)."""
    exponent = f"graph.constant dense<0.5> : tensor<4x{dtype}>" if shape else f"graph.full 0.5 : tensor<{dtype}>"
    text = (
        HALVES.replace("EXPONENT", exponent)
        .replace("SHAPE", shape)
        .replace("T>", f"{dtype}>")
        .replace("xT", f"x{dtype}")
    )
    x = np.array([-np.inf, -0.0, np.inf, 4], numpy_type)
    results = [stepwell.compile(text, opt_level=level, cache=False)(x) for level in (0, 1, 3)]
    results.append(stepwell.reference.run(parse_text(make_context(), text, "p"), "main", x))
    for y, z in results:
        assert y.tolist() == [np.inf, 0, np.inf, 2] and not np.signbit(y).any()
        assert z.tolist() == [0, 2] and not np.signbit(z).any()
