"""Large results lie such that loads of operands are not mistaken for loads of what was just stored."""

from __future__ import annotations

import numpy as np
import pytest
import stepwell
from stepwell.runtime.program.arrays import APART, LARGE, PAGE, ArrayType


def program(elements: int) -> stepwell.Executable:
    type_ = f"tensor<{elements}xf32>"
    text = f"func.func @main(%x: {type_}) -> {type_} {{\n  %y = graph.relu %x : ({type_}) -> {type_}\n"
    return stepwell.compile(f"{text}  func.return %y : {type_}\n}}", cache=False)


@pytest.mark.parametrize("shift", [0, 1, 15, 700])
def test_large_results_begin_apart_from_the_first_operand(shift: int) -> None:
    elements = LARGE // 4
    x = np.linspace(-1, 1, elements + 1024, dtype=np.float32)[shift : shift + elements]
    (y,) = program(elements)(x)
    np.testing.assert_array_equal(y, np.maximum(x, 0))
    assert y.ctypes.data % 64 == 0
    assert (y.ctypes.data - x.ctypes.data // 64 * 64) % PAGE == APART


def test_others_do_not() -> None:
    (y,) = program(16)(np.ones(16, np.float32))
    assert y.flags.owndata
    (y,) = program(LARGE // 4)([1.0] * (LARGE // 4))  # a list has no address
    assert y.shape == (LARGE // 4,) and y[0] == 1


def test_arrays_for_results_of_a_caller() -> None:
    type_, x = ArrayType("bf16", (1000, 300)), np.ones(10, np.float32)
    y = type_.allocate(x)
    assert y.shape == (1000, 300) and y.nbytes == type_.nbytes and y.flags.c_contiguous
    assert (y.ctypes.data - x.ctypes.data // 64 * 64) % PAGE == APART
    assert type_.allocate().ctypes.data % 64 == 0
