"""Every graph op: round trip, inference against the reference and against te, builders, traits."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stepwell import te
from stepwell.core.ir.element_types import ATTRIBUTES
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.text.parsing import parse
from stepwell.dialects import traits
from stepwell.dialects.graph import (
    Graph,
    base,
    binary,
    comparison,
    contraction,
    elementwise,
    functions,
    indexing,
    movement,
    pooling,
    reduction,
    syntax,
)
from stepwell.dialects.graph.dynamic import DynamicOp
from stepwell.dialects.graph.shapes import Shaped, compatible
from stepwell.testing.programs.ir_generators import OpCase, RandomChooser, function_text, result_names
from stepwell.testing.programs.movement_generators import FAMILIES, random_case
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    TensorType,
    f16,
    f32,
    f64,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.ir import Operation
from xdsl.traits import Pure, get_effects, is_speculatable
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.test_value import create_ssa_value

OPS = [(family, op) for family, named in FAMILIES.items() for op in named]
CASES_PER_OP = 6


def printed(module: Operation, generic: bool = False) -> str:
    from io import StringIO

    from xdsl.printer import Printer

    stream = StringIO()
    Printer(stream, print_generic_format=generic).print_op(module)
    return stream.getvalue()


def program(case: OpCase) -> str:
    """One function with the op; result types come from the reference."""
    names = [f"%x{number}" for number in range(len(case.operands))]
    results = case.results()
    line = case.text("%r", names, results)
    returned = zip(result_names("%r", len(results)), results, strict=True)
    return function_text("main", zip(names, case.operands, strict=True), [line], returned)


def the_op(module: ModuleOp) -> Operation:
    return next(op for op in module.walk() if op.name.startswith("graph."))


def check_case(case: OpCase) -> None:
    module = parse(program(case))
    op = the_op(module)
    # Inference agrees with the reference, whose types the text was checked against.
    assert base.infer_result_types(op) == [result.type for result in op.results]
    assert [str(result.type) for result in op.results] == [str(spec) for spec in case.results()]
    # Both printed forms read back to the same module.
    custom, generic = printed(module), printed(module, generic=True)
    for text in (custom, generic):
        again = parse(text)
        assert printed(again) == custom
        assert again.is_structurally_equivalent(module)
    if isinstance(op, traits.LoopTemplate):
        return
    # The tensor expressions have the types of the results.
    assert isinstance(op, traits.LoopSemantics)
    tensors = op.te(*base.te_operands(op))
    assert [base.tensor_type(Shaped(t.static_shape, t.dtype)) for t in tensors] == [
        result.type for result in op.results
    ]


@pytest.mark.ci_cases(6)
@pytest.mark.parametrize(("family", "op"), OPS, ids=[op for _, op in OPS])
def test_op_round_trips_and_infers_what_reference_and_te_give(family: str, op: str) -> None:
    for seed in range(CASES_PER_OP):
        check_case(random_case(RandomChooser(seed), family, op))


class _Drawn:
    extents: tuple[int, ...] = ()
    usual = ""

    def __init__(self, draw: Any):
        self.draw = draw

    def integer(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def element(self, options: Any) -> Any:
        return self.draw(st.sampled_from(list(options)))


@st.composite
def cases(draw: Any) -> OpCase:
    return random_case(_Drawn(draw), draw(st.sampled_from(sorted(FAMILIES))))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(cases())
def test_random_ops_round_trip(case: OpCase) -> None:
    check_case(case)


def test_every_op_with_operands_has_a_generator() -> None:
    generated = {f"graph.{op}" for _, op in OPS}
    defined = {op.name for op in Graph.operations if not issubclass(op, DynamicOp)}
    assert defined - generated == {"graph.constant", "graph.full", "graph.weight", "graph.call_kernel"}
    assert generated <= defined


def test_dynamic_extents_infer_dynamic_extents() -> None:
    """An op whose operands have `?` infers a type that agrees with the static one, for every op and operand."""
    for family, op in OPS:
        for seed in range(CASES_PER_OP):
            case = random_case(RandomChooser(1000 + seed), family, op)
            if any(name == "axis" and value is None for name, value in case.properties) or op == "squeeze":
                continue
            module = parse(program(case))
            found = the_op(module)
            static = [base.shaped_of(result.type, "r") for result in found.results]
            for number, operand in enumerate(case.operands):
                if op in ("gather_nd", "scatter_nd") and number == 1:
                    continue  # the rank of the result hangs on an extent of the indices
                values = [create_ssa_value(value.type) for value in found.operands]
                dims = [-(2**63) if i == seed % max(1, operand.rank) else d for i, d in enumerate(operand.shape)]
                values[number] = create_ssa_value(TensorType(values[number].type.element_type, dims))  # pyright: ignore
                inferred = base.infer_from(type(found), values, found.properties)  # pyright: ignore
                assert len(inferred) == len(static)
                for one, other in zip(inferred, static, strict=True):
                    assert one.dtype == other.dtype
                    assert compatible(one.shape, other.shape), case


# Builders


def value(*shape: int, dtype: Any = f32) -> Any:
    return create_ssa_value(TensorType(dtype, shape))


def test_builders_infer_result_types() -> None:
    assert str(binary.AddOp(value(1, 128), value(128)).results[0].type) == "tensor<1x128xf32>"
    softmax = reduction.SoftmaxOp(value(4, 8), axis=0)
    assert softmax.properties["axis"] == IntegerAttr(0, i64)
    assert str(contraction.MatmulOp(value(4, 8, dtype=i8), value(8, 2, dtype=i8), out_dtype="i32").results[0].type) == (
        "tensor<4x2xi32>"
    )
    concat = movement.ConcatOp(value(1, 2), value(3, 2), value(4, 2))
    assert str(concat.results[0].type) == "tensor<8x2xf32>"
    first, second = movement.SplitOp(value(4, 8), sections=2, axis=-1).results
    assert first.type == second.type == TensorType(f32, [4, 4])
    assert elementwise.AstypeOp(value(2), dtype=f16).results[0].type == TensorType(f16, [2])


def test_builders_take_padding_in_three_forms() -> None:
    data, weights = value(1, 3, 8, 8), value(4, 3, 3, 3)
    for padding, expected in ((1, (1, 1, 1, 1)), ((1, 2), (1, 2, 1, 2)), ([0, 1, 2, 3], (0, 1, 2, 3))):
        op = contraction.Conv2dOp(data, weights, padding=padding)
        assert base.plain_properties(op)["padding"] == expected


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: reduction.SoftmaxOp(value(2), axes=0),
            "graph.softmax has no property 'axes', did you mean 'axis'?",
        ),
        (
            lambda: reduction.SoftmaxOp(value(2), axis=0.5),
            "'axis' of graph.softmax takes an integer, found 0.5",
        ),
        (
            lambda: reduction.SumOp(value(2), keepdims=1),
            "'keepdims' of graph.sum takes true or false, found 1",
        ),
        (lambda: elementwise.AstypeOp(value(2)), "graph.astype needs the property 'dtype'"),
        (
            lambda: elementwise.AstypeOp(value(2), dtype="f8"),
            "'dtype' of graph.astype takes an element type, found 'f8'",
        ),
        (lambda: functions.GeluOp(value(2), approximate="erf"), 'takes "none" or "tanh", found \'erf\''),
        (lambda: pooling.MaxPool2dOp(value(1, 1, 4, 4), pool_size=(2, 2, 2)), "takes a list of 2 integers"),
    ],
)
def test_builders_reject_wrong_properties(build: Any, message: str) -> None:
    with pytest.raises(TypeError, match=".*") as caught:
        build()
    assert message in str(caught.value)


def test_builder_reports_shapes_that_do_not_fit() -> None:
    with pytest.raises(VerifyException, match="dimension 1 is 4 and 3"):
        binary.AddOp(value(3, 4), value(4, 3))


def test_infer_result_types_follows_changed_operands() -> None:
    op = binary.AddOp(value(-(2**63), 4), value(4))
    assert str(op.results[0].type) == "tensor<?x4xf32>"
    op.operands[0] = value(7, 4)
    assert [str(type_) for type_ in base.infer_result_types(op)] == ["tensor<7x4xf32>"]
    op.verify()  # a `?` in the result is compatible with 7


# Numbers


@pytest.mark.parametrize(
    "number",
    [0.0, -0.0, 1e-5, 1e-7, 1e22, 5e-324, 0.1, 1 / 3, 1e300, 123456789.0, math.inf, -math.inf, math.nan],
)
def test_float_property_is_exact(number: float) -> None:
    x = value(2)
    x.name_hint = "x"
    op = functions.LeakyReluOp(x, alpha=number)
    again = the_op(parse(f"func.func @f(%x: tensor<2xf32>) {{\n  {printed(op)}\n  func.return\n}}"))
    assert again.properties["alpha"] == FloatAttr(number, f64)


@given(st.floats(width=64))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_float_text_reads_back_to_the_same_bits(number: float) -> None:
    from stepwell.dialects.graph.numerals import float_text

    text = float_text(number)
    if text.startswith("0x"):
        assert not math.isfinite(number)
    else:
        assert FloatAttr(float(text), f64) == FloatAttr(number, f64)
        assert "." in text


@given(st.floats(width=16, allow_nan=False, allow_infinity=False), st.sampled_from(["f16", "bf16", "f32"]))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_short_float_text_rounds_to_the_value(number: float, dtype: str) -> None:
    from stepwell.dialects.graph.numerals import float_text, rounded

    number = rounded(number, dtype)
    text = float_text(number, dtype)
    assert rounded(float(text), dtype) == number
    assert len(text) <= 16


def test_integer_bounds_beyond_63_bits() -> None:
    text = (
        "func.func @f(%x: tensor<2xui64>) {\n  %y = graph.clip %x, max = 18446744073709551615 : (tensor<2xui64>)\n"
        "  func.return\n}\n"
    )
    module = parse(text)
    assert base.plain_properties(the_op(module)) == {"min": None, "max": 2**64 - 1}
    assert printed(parse(printed(module))) == printed(module)
    assert printed(parse(printed(module, generic=True))) == printed(module)


# Traits


def test_commutative_ops() -> None:
    commutative = {op.name.removeprefix("graph.") for op in Graph.operations if op.has_trait(traits.Commutative)}
    assert commutative == {"add", "multiply", "maximum", "minimum", "equal", "not_equal"} | {
        f"{kind}_{function}" for kind in ("logical", "bitwise") for function in ("and", "or", "xor")
    }


def test_division_fails_on_integers_only() -> None:
    for op_type in (binary.DivideOp, binary.FloorDivideOp, binary.ModOp):
        for dtype, fails in ((f32, False), (i32, True)):
            op = op_type(value(2, dtype=dtype), value(2, dtype=dtype))
            assert traits.may_fail(op) is fails
            assert is_speculatable(op) is not fails
            assert get_effects(op) == set()
            assert traits.is_pure(op)


def test_a_table_with_an_element_for_each_index_never_fails() -> None:
    u8 = ATTRIBUTES["ui8"]
    for extent, dtype, fails in (
        (256, u8, False),
        (255, u8, True),
        (128, i8, False),  # Negative indices count from the end.
        (127, i8, True),
        (1000, i8, False),
        (256, i32, True),
        (DYNAMIC_INDEX, u8, True),
    ):
        for shape, axis in (([extent, 2], 0), ([2, extent], -1)):
            table = create_ssa_value(TensorType(f32, shape))
            op = movement.TakeOp(table, create_ssa_value(TensorType(dtype, [3])), axis=axis)
            assert traits.may_fail(op) is fails and is_speculatable(op) is not fails


def test_indexing_may_fail() -> None:
    for op in (
        movement.TakeOp(value(4), value(2, dtype=i64), axis=0),
        indexing.ScatterElementsOp(value(4), value(2, dtype=i64), value(2), axis=0),
    ):
        assert traits.may_fail(op) and not is_speculatable(op) and traits.is_pure(op)


def test_all_other_ops_are_pure() -> None:
    failing = {op.name for op in Graph.operations if issubclass(op, traits.MayFail)}
    indexed = ("take", "take_along_axis", "gather_nd", "scatter_elements", "scatter_nd", "pool_regions")
    assert failing == {f"graph.{op}" for op in ("divide", "floor_divide", "mod", *indexed, "call_kernel")}
    assert all(op.has_trait(Pure) for op in Graph.operations if op.name not in failing)


def test_te_operands_are_named_after_values() -> None:
    x = value(-(2**63), 4)
    x.name_hint = "x"
    (tensor,) = base.te_operands(functions.ExpOp(x))
    assert tensor.name == "x" and isinstance(tensor.shape[0], te.Var) and tensor.shape[0].name == "x_d0"
    assert tensor.shape[1] == 4 and tensor.dtype == "f32"


# Parse errors point at what is wrong


@pytest.mark.parametrize(
    ("line", "column", "message", "hint"),
    [
        ("graph.softmax %x, axes = 1 : (tensor<4xf32>)", 26, "graph.softmax has no property 'axes'",
         "did you mean 'axis'?"),
        ("graph.exp %x, foo = 1 : (tensor<4xf32>)", 22, "graph.exp has no property 'foo'", "its properties: none"),
        ("graph.softmax %x, axis = 1, axis = 1 : (tensor<4xf32>)", 36, "property 'axis' is given twice", None),
        ("graph.softmax %x, axis = true : (tensor<4xf32>)", 33, "'axis' takes an integer, found 'true'", None),
        ("graph.softmax %x, axis 1 : (tensor<4xf32>)", 31, "Expected '=' after property 'axis'", None),
        ("graph.sum %x, axis = 0 : (tensor<4xf32>)", 29, "'axis' takes a list of integers, found '0'",
         "write axis = [0]"),
        ("graph.sum %x, keepdims = 1 : (tensor<4xf32>)", 33, "'keepdims' takes true or false, found '1'", None),
        ("graph.leaky_relu %x, alpha = 1e-5 : (tensor<4xf32>)", 38, "a float needs a decimal point", "write 1.0e-5"),
        ('graph.gelu %x, approximate = "tan" : (tensor<4xf32>)', 37,
         "'approximate' takes \"none\" or \"tanh\", found \"tan\"", "did you mean 'tanh'?"),
        ("graph.astype %x, dtype = si8 : (tensor<4xf32>)", 33,
         "element type si8 is not used in graph ops, write i8 (signless integers are signed)", None),
        ("graph.astype %x, dtype = 3 : (tensor<4xf32>)", 33, "'dtype' takes an element type, found '3'", None),
        ("graph.astype %x : (tensor<4xf32>)", 3, "graph.astype needs the property 'dtype'", None),
        ("graph.add %x : (tensor<4xf32>)", 18, "graph.add takes 2 operands (lhs, rhs), found 1", None),
        ("graph.exp %x, %x : (tensor<4xf32>, tensor<4xf32>)", 22, "graph.exp takes 1 operand (operand), found 2", None),
        ("graph.concat : ()", 21, "graph.concat takes at least 1 operand", None),
        ("graph.add %x, %x : (tensor<4xf32>)", 27, "2 operands have 1 types", None),
        ("graph.add %x, %x", 24, "Expected ':' before the types of the operands", None),
        ("graph.softmax %x, 3 : (tensor<4xf32>)", 26, "expected an operand or a property after ','", None),
        ("graph.softmax %x, axis = 3 : (tensor<4xf32>)", 3,
         "the result types cannot be inferred: axis 3 is out of range for rank 1, expected -1 to 0", None),
        ("graph.full 300 : tensor<4xi8>", 19, "the value is 300, which i8 cannot hold: expected -128 to 127", None),
        ("graph.full 1.5 : tensor<4xi8>", 19, "the value is 1.5, expected an integer because the element type is i8",
         None),
        ("graph.full 1 : tensor<?xi8>", 23, "the result has type tensor<?xi8>, expected a static shape", None),
        ("graph.full 1.0 : f32", 25, "the result has type f32, expected a ranked tensor", None),
        ("graph.full true : tensor<4xf32>", 19, "an element of type f32 is a number", None),
        ("graph.full 0x7F : tensor<4xf32>", 19, "the bits of an f32 are 8 hexadecimal digits, found 2", None),
        ("graph.weight w : tensor<4xf32>", 21, "'graph.weight' takes a string, found 'w'", None),
        ("graph.constant 1.0 : tensor<4xf32>", 23, "graph.constant takes dense<…> : type", None),
        ("graph.relux %x : (tensor<4xf32>)", 8, "op 'graph.relux' is unknown", "did you mean 'graph.relu'?"),
    ],
)  # fmt: skip
def test_parse_error_points_at_the_mistake(line: str, column: int, message: str, hint: str | None) -> None:
    text = f"func.func @f(%x: tensor<4xf32>) {{\n  %y = {line}\n  func.return\n}}\n"
    with pytest.raises(StepwellError) as caught:
        parse(text)
    diagnostic = caught.value.diagnostic
    assert diagnostic.message == message
    assert diagnostic.hint == hint
    assert diagnostic.point is not None
    assert diagnostic.point.column == column


def test_i1_is_legal_where_booleans_are() -> None:
    assert str(comparison.LessOp(value(2, dtype=i1), value(2, dtype=i1)).results[0].type) == "tensor<2xi1>"
    with pytest.raises(VerifyException, match="lhs has element type i1, expected float or integer"):
        binary.AddOp(value(2, dtype=i1), value(2, dtype=i1))


@pytest.mark.parametrize(
    "text", ["tensor<f32>", "tensor<0x3x?xui8>", "tensor<2xi1>", "tensor<4xbf16>", "tensor<?xi64>"]
)
def test_types_read_in_one_step_are_those_of_the_parser(text: str) -> None:
    from xdsl.context import Context
    from xdsl.parser import Parser

    fast, slow = Parser(Context(), f"{text} )"), Parser(Context(), f"{text} )")
    assert syntax.parse_type(fast) == slow.parse_type()
    assert fast.pos == slow.pos
    spaced = text.replace("<", "< ")
    assert str(syntax.parse_type(Parser(Context(), spaced))) == text
