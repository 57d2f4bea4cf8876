"""Affine expressions: normal form, bounds, text, recovery from arithmetic."""

from __future__ import annotations

from io import StringIO
from itertools import product

from hypothesis import given
from hypothesis import strategies as st
from stepwell.analysis.affine import affine_of_value, bounds, constant_difference, is_linear, normal_form
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.dialects.tensor_loop.affine_expressions import print_affine
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block
from xdsl.ir.affine import AffineExpr
from xdsl.printer import Printer

DIMS = 3


def expressions() -> st.SearchStrategy[AffineExpr]:
    leaves = st.one_of(st.integers(-5, 5).map(AffineExpr.constant), st.integers(0, DIMS - 1).map(AffineExpr.dimension))
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(inner, inner).map(lambda pair: pair[0] + pair[1]),
            st.tuples(inner, inner).map(lambda pair: pair[0] - pair[1]),
            st.tuples(inner, st.integers(-3, 3)).map(lambda pair: pair[0] * pair[1]),
            st.tuples(inner, st.integers(1, 4)).map(lambda pair: pair[0] // pair[1]),
            st.tuples(inner, st.integers(1, 4)).map(lambda pair: pair[0] % pair[1]),
            st.tuples(inner, st.integers(1, 4)).map(lambda pair: pair[0].ceil_div(pair[1])),
        ),
        max_leaves=6,
    )


POINTS = list(product(range(-2, 4), repeat=DIMS))


@given(expressions())
def test_normal_form_has_the_same_values(expr: AffineExpr):
    normal = normal_form(expr)
    assert [normal.eval(point, []) for point in POINTS] == [expr.eval(point, []) for point in POINTS]
    assert normal_form(normal) == normal


@given(expressions(), expressions())
def test_sums_have_one_normal_form(lhs: AffineExpr, rhs: AffineExpr):
    assert normal_form(lhs + rhs) == normal_form(rhs + lhs)
    assert constant_difference(lhs + 3, lhs) == 3
    assert constant_difference(lhs + rhs + 3, rhs + lhs) == 3


@given(expressions(), st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 3)), min_size=DIMS, max_size=DIMS))
def test_bounds_hold_every_value_and_are_exact_for_linear_expressions(expr: AffineExpr, sizes: list[tuple[int, int]]):
    ranges = [(low, low + size) for low, size in sizes]
    values = [expr.eval(point, []) for point in product(*(range(low, high + 1) for low, high in ranges))]
    found = bounds(expr, ranges)
    assert found is not None
    assert found[0] <= min(values) and max(values) <= found[1]
    if is_linear(expr):
        assert found == (min(values), max(values))


def test_bounds_of_unknown_dimensions():
    i, j = AffineExpr.dimension(0), AffineExpr.dimension(1)
    assert bounds(i + j, [(0, 3), None]) is None
    assert bounds(i + j - j, [(0, 3), None]) == (0, 3)
    assert bounds(j % 4, [None, None]) == (0, 3)


@given(expressions())
def test_text_parses_back(expr: AffineExpr):
    block = Block(arg_types=[IndexType()] * DIMS)
    for argument, name in zip(block.args, "abc", strict=True):
        argument.name_hint = name
    stream = StringIO()
    print_affine(Printer(stream=stream), expr, block.args)
    text = f"""
    tensor_loop.func @f(%a: index, %b: index, %c: index) outs() {{
      tensor_loop.block "b" spatial(%keep in 9 = %a + %b + %c, %v in 9 = {stream.getvalue()})
          where({stream.getvalue()} < 3) {{}}
    }}"""
    module = parse_text(make_context(), text)
    found = next(op for op in module.walk() if op.name == "tensor_loop.block")
    assert found.binding_exprs[1] == expr
    assert found.constraints == ((expr, 3),)


def test_recovery_from_arithmetic():
    module = parse_text(
        make_context(),
        """
        func.func @f(%i: index, %j: index, %n: i64, %m: i32) {
          %c2 = arith.constant 2 : index
          %c3 = arith.constant 3 : i64
          %0 = arith.muli %c2, %i : index
          %1 = arith.subi %j, %0 : index
          %2 = arith.index_cast %1 : index to i64
          %3 = arith.addi %2, %c3 : i64
          %4 = arith.index_cast %3 : i64 to index
          %5 = arith.floordivsi %4, %c2 : index
          %6 = affine.apply affine_map<(d0)[s0] -> (d0 + s0 * 4)> (%i)[%j]
          %7 = arith.muli %i, %j : index
          %8 = arith.index_cast %m : i32 to index
          %9 = arith.addi %8, %i : index
          func.return
        }""",
    )
    function = next(op for op in module.walk() if op.name == "func.func")
    i, j, *_ = function.body.block.args
    values = {op.results[0].name_hint or op.results[0]: op.results[0] for op in function.body.block.ops if op.results}
    ordered = list(values.values())
    dims = {i: 0, j: 1}
    d0, d1 = AffineExpr.dimension(0), AffineExpr.dimension(1)
    assert affine_of_value(ordered[6], dims) == normal_form(d1 - d0 * 2 + 3)
    assert affine_of_value(ordered[7], dims) == normal_form((d1 - d0 * 2 + 3) // 2)
    assert affine_of_value(ordered[8], dims) == normal_form(d0 + d1 * 4)
    assert affine_of_value(ordered[9], dims) is None, "a product of two variables"
    assert affine_of_value(ordered[11], dims) is None, "i32 may wrap"
    assert affine_of_value(j, {i: 0}) is None, "not one of the dimensions"


def test_recovery_does_not_recurse():
    lines = ["%0 = arith.index_cast %i : index to i64"]
    lines += [f"%{number + 1} = arith.addi %{number}, %0 : i64" for number in range(3000)]
    module = parse_text(make_context(), "func.func @f(%i: index) {\n" + "\n".join(lines) + "\nfunc.return\n}")
    function = next(op for op in module.walk() if op.name == "func.func")
    last = function.body.block.last_op.prev_op.results[0]
    i = function.body.block.args[0]
    assert affine_of_value(last, {i: 0}) == AffineExpr.dimension(0) * 3001
    assert affine_of_value(last, {}) is None
