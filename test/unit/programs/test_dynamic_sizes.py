"""Expressions of sizes: what is simplified has the value of what was written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from counts import FULL
from hypothesis import given, settings
from hypothesis import strategies as st
from stepwell.frontends.onnx.emitting.sizes import NUMBERS, Size, chosen, combined, is_natural, product, quotient
from xdsl.dialects.builtin import TensorType, f32
from xdsl.utils.test_value import create_ssa_value

TENSOR = create_ssa_value(TensorType(f32, [-1, -1, -1]))
LEAVES = [Size("size", TENSOR, axis) for axis in range(3)]
EXAMPLES = 2000 if FULL else 100

numbers = st.integers(-3, 4)
extents = st.tuples(*[st.integers(0, 5)] * 3)
programs = st.lists(st.tuples(st.sampled_from(sorted(NUMBERS)), st.integers(0, 30), st.integers(0, 30)), max_size=12)


def value(extent: Any, sizes: tuple[int, ...]) -> Any:
    """The number that an expression is for these extents of the tensor."""
    if not isinstance(extent, Size):
        return extent
    if extent.op == "size":
        return sizes[extent.args[1]]
    operands = [value(each, sizes) for each in extent.args]
    return (operands[1] if operands[0] else operands[2]) if extent.op == "where" else NUMBERS[extent.op](*operands)


@settings(max_examples=EXAMPLES, deadline=None, derandomize=True)
@given(programs, st.lists(numbers, min_size=2, max_size=3), extents)
def test_simplified_expressions_have_the_same_value(program: Any, literals: list[int], sizes: tuple[int, ...]) -> None:
    expressions: list[Any] = [*LEAVES, *literals]
    plain: list[Any] = [*sizes, *literals]
    for op, first, second in program:
        a, b = first % len(plain), second % len(plain)
        is_bool = op.startswith("logical")
        if is_bool != isinstance(plain[a], bool) or is_bool != isinstance(plain[b], bool):
            continue
        if op == "divide" and plain[b] == 0:
            continue
        expressions.append(combined(op, expressions[a], expressions[b]))
        plain.append(NUMBERS[op](plain[a], plain[b]))
    for expression, wanted in zip(expressions, plain, strict=True):
        assert value(expression, sizes) == wanted
        assert not is_natural(expression) or wanted >= 0


@settings(max_examples=EXAMPLES, deadline=None, derandomize=True)
@given(st.permutations(LEAVES), st.integers(0, 3), st.integers(1, 4), st.integers(1, 4), extents)
def test_quotients_of_products(order: list[Size], shared: int, a: int, b: int, sizes: tuple[int, ...]) -> None:
    """Where a quotient is known, it is that of the products, whatever the sizes are."""
    above, below = [*LEAVES[: shared + 1], a * b], [*order[:shared], b]
    found = quotient(above, below)
    if found is None:
        assert set(LEAVES[: shared + 1]) != set(order[:shared])
    elif value(product(below), sizes):
        assert found == value(product(above), sizes) // value(product(below), sizes)


def test_equal_expressions_are_one_object() -> None:
    n, m, _ = LEAVES
    assert combined("multiply", n, 3) is combined("multiply", 3, n)
    assert combined("add", n, m) is combined("add", n, m)
    assert combined("divide", combined("multiply", n, 4), 4) is n


@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        (True, LEAVES[0]),
        (False, 7),
        (combined("equal", LEAVES[0], -1), 7),
        (combined("less", LEAVES[1], LEAVES[1]), 7),
    ],
)
def test_choices_that_are_known(condition: Any, wanted: Any) -> None:
    """A size is not negative, and not less than itself."""
    assert chosen(condition, LEAVES[0], 7) == wanted


def test_division_cuts_towards_zero() -> None:
    for a in range(-7, 8):
        for b in (-3, -2, 2, 3):
            assert combined("divide", a, b) == int(np.trunc(a / b))
    with pytest.raises(ZeroDivisionError):
        combined("divide", 1, 0)
