"""Two spellings of one op are one op to CSE, to the structural hash, and to patterns (AUDIT B4)."""

import pytest
from stepwell.core.ir.structural_hash import structural_hash
from stepwell.core.text.parsing import make_context, parse
from stepwell.dialects.graph.base import TensorOp
from stepwell.patterns import Capture, is_op, match, op, rewrite, rule, wildcard
from stepwell.patterns.running.driver import Driver
from stepwell.patterns.text.loading import rules_of_text
from stepwell.rewrites.shipped import shipped_rules

CTX = make_context()

X = "tensor<4x8xf32>"
ONE = "tensor<1x4x1xf32>"

SAME = {
    "softmax": ("softmax %x, axis = -1", "softmax %x, axis = 1", X, X),
    "softmax by default": ("softmax %x", "softmax %x, axis = 1", X, X),
    "sum": ("sum %x, axis = [1]", "sum %x, axis = [-1]", X, "tensor<4xf32>"),
    "sum of all": ("sum %x, axis = [0, 1]", "sum %x", X, "tensor<f32>"),
    "sum in another order": ("sum %x, axis = [-1, 0]", "sum %x, axis = [0, 1]", X, "tensor<f32>"),
    "argmax of a vector": ("argmax %x", "argmax %x, axis = -1", "tensor<8xf32>", "tensor<i64>"),
    "permute_dims": ("permute_dims %x", "permute_dims %x, axes = [1, 0]", X, "tensor<8x4xf32>"),
    "permute_dims from the end": ("permute_dims %x, axes = [-1, -2]", "permute_dims %x", X, "tensor<8x4xf32>"),
    "squeeze": ("squeeze %x", "squeeze %x, axis = [-1, 0]", ONE, "tensor<4xf32>"),
    "expand_dims": ("expand_dims %x, axis = [-1, 0]", "expand_dims %x, axis = [0, 3]", X, "tensor<1x4x8x1xf32>"),
    "reshape": ("reshape %x, shape = [2, -1]", "reshape %x, shape = [2, 16]", X, "tensor<2x16xf32>"),
    "concat": ("concat %x, %x, axis = -2", "concat %x, %x", X, "tensor<8x8xf32>"),
    "strided_slice": (
        "strided_slice %x, axes = [-1], begin = [1], end = [3]",
        "strided_slice %x, axes = [1], begin = [1], end = [3], strides = [1]",
        X,
        "tensor<4x2xf32>",
    ),
    "matmul": ("matmul %x, %x", "matmul %x, %x, out_dtype = i32", "tensor<4x4xi32>", "tensor<4x4xi32>"),
    "pad": ("pad %x, pad_width = [0, 1], value = 1", "pad %x, pad_width = [0, 1], value = 1.0", "tensor<3xf32>",
            "tensor<4xf32>"),
    "clip": ("clip %x, min = 0.0, max = 6", "clip %x, min = 0, max = 6.0", "tensor<3xi32>", "tensor<3xi32>"),
}  # fmt: skip

OTHER = {
    "softmax": ("softmax %x, axis = -1", "softmax %x, axis = 0", X, X),
    "permute_dims": ("permute_dims %x, axes = [1, 2, 0]", "permute_dims %x, axes = [2, 0, 1]", "tensor<2x2x2xf32>",
                     "tensor<2x2x2xf32>"),
    "pad": ("pad %x, pad_width = [0, 1], value = -0.0", "pad %x, pad_width = [0, 1], value = 0", "tensor<3xf32>",
            "tensor<4xf32>"),
    "reshape": ("reshape %x, shape = [-1, 2]", "reshape %x, shape = [2, -1]", "tensor<?x4xf32>", "tensor<?x?xf32>"),
}  # fmt: skip


def program(*ops: str, operand: str, result: str) -> str:
    lines = [f"%{n} = graph.{op} : ({', '.join([operand] * op.count('%x'))}) -> {result}" for n, op in enumerate(ops)]
    names, types = ", ".join(f"%{n}" for n in range(len(ops))), ", ".join([result] * len(ops))
    body = "\n  ".join([*lines, f"func.return {names} : {types}"])
    return f"func.func @f(%x: {operand}) -> ({types}) {{\n  {body}\n}}\n"


@pytest.mark.parametrize("case", SAME)
def test_two_spellings_are_one_op(case: str) -> None:
    one, other, operand, result = SAME[case]
    module = parse(program(one, other, operand=operand, result=result))
    first = str(next(op for op in module.walk() if isinstance(op, TensorOp)))
    Driver(CTX, shipped_rules("cse")).run(module)
    assert [str(op) for op in module.walk() if isinstance(op, TensorOp)] == [first]  # It is printed as it was written.
    hashes = {structural_hash(parse(program(each, operand=operand, result=result))) for each in (one, other)}
    assert len(hashes) == 1


@pytest.mark.parametrize("case", OTHER)
def test_what_differs_stays_apart(case: str) -> None:
    one, other, operand, result = OTHER[case]
    module = parse(program(one, other, operand=operand, result=result))
    Driver(CTX, shipped_rules("cse")).run(module)
    assert len([op for op in module.walk() if isinstance(op, TensorOp)]) == 2
    hashes = {structural_hash(parse(program(each, operand=operand, result=result))) for each in (one, other)}
    assert len(hashes) == 2


MATCHED = [
    ("graph.softmax", {"axis": 1}, "softmax %x", X, X),
    ("graph.softmax", {"axis": -1}, "softmax %x, axis = 1", X, X),
    ("graph.sum", {"axis": None}, "sum %x, axis = [1, 0]", X, "tensor<f32>"),
    ("graph.sum", {"axis": [0, 1]}, "sum %x", X, "tensor<f32>"),
    ("graph.permute_dims", {"axes": (1, 0)}, "permute_dims %x", X, "tensor<8x4xf32>"),
    ("graph.clip", {"min": 0}, "clip %x, min = 0.0", X, X),
]


@pytest.mark.parametrize("name, attributes, written, operand, result", MATCHED)
def test_patterns_compare_in_normal_form(
    name: str, attributes: dict[str, object], written: str, operand: str, result: str
) -> None:
    module = parse(program(written, operand=operand, result=result))
    (root,) = (each for each in module.walk() if each.name == name)
    assert match(is_op(name)(wildcard()).has_attr(attributes), root.results[0]) is not None
    assert match(op(name, wildcard(), **attributes), root.results[0]) is not None


@pytest.mark.parametrize("wanted, taken", [("axis = 1", True), ("axis = -1", True), ("axis = 0", False)])
def test_rules_in_text_compare_in_normal_form(wanted: str, taken: bool) -> None:
    text = f"""
    pattern.rule "t" {{
      %x = pattern.any
      %y = pattern.op "graph.softmax"(%x) with {{{wanted} : i64}}
      pattern.replace %y with %x
    }}"""
    for written in ("softmax %x, axis = 1", "softmax %x, axis = -1"):
        module = parse(program(written, operand=X, result=X))
        Driver(CTX, rules_of_text(text)).run(module)
        assert ("graph.softmax" not in str(module)) is taken


def test_a_captured_axis_is_found_again_in_its_other_spelling() -> None:
    a, axis = wildcard(), Capture("axis")
    twice = op("graph.softmax", op("graph.softmax", a, axis=axis), axis=axis)
    for inner, outer, taken in ((-1, 1, True), (1, -1, True), (0, 1, False), (0, -2, True)):
        module = parse(
            f"func.func @f(%x: {X}) -> {X} {{\n  %0 = graph.softmax %x, axis = {inner} : ({X})\n"
            f"  %1 = graph.softmax %0, axis = {outer} : ({X})\n  func.return %1 : {X}\n}}\n"
        )
        assert rewrite([rule("t", twice, a)], module) is not None
        assert ("graph.softmax" not in str(module)) is taken
