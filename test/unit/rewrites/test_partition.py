"""Partitioning: what becomes a function, which parameters it has, what is left alone and why."""

from __future__ import annotations

import numpy as np
import pytest
from stepwell.core.ir.verification import verify_module
from stepwell.core.messages.diagnostics import listening
from stepwell.core.roles import PARTITIONED
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.patterns.language.constraints import Argument
from stepwell.patterns.language.match import Match
from stepwell.patterns.language.patterns import Any_, Constant, Op, Pattern, is_op
from stepwell.patterns.language.rules import Rule, require
from stepwell.patterns.language.structures import Function, If, call, dominates
from stepwell.patterns.running.partition import partition
from stepwell.reference.run import run
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

CTX = make_context()
F = "tensor<4xf32>"
exp, relu, tanh, add, mul, sub = (
    is_op(f"graph.{name}") for name in ("exp", "relu", "tanh", "add", "multiply", "subtract")
)


def w() -> Any_:
    return Any_()


def module_of(body: str, result: str = "%r") -> tuple[ModuleOp, func.FuncOp]:
    text = f"func.func @main(%x: {F}, %y: {F}, %z: {F}, %b: i1) -> {F} {{\n{body}\nfunc.return {result} : {F}\n}}"
    module = parse_text(CTX, text, "t.mlir")
    function = module.body.ops.first
    assert isinstance(function, func.FuncOp)
    return module, function


def g(result: str, name: str, *operands: str) -> str:
    types = ", ".join(F for _ in operands)
    return f"{result} = graph.{name} {', '.join(operands)} : ({types}) -> {F}\n"


def split(pattern: Pattern, body: str, **settings: object) -> tuple[ModuleOp, list[func.FuncOp], list[str]]:
    """Partitions `main`; the module computes what it did before. Also the remarks."""
    module, function = module_of(body)
    inputs = [np.array([0.5, -1.0, 2.0, 0.25], np.float32) * factor for factor in (1, 2, -3)]
    before = run(module, "main", *inputs, np.array(True))
    remarks: list[str] = []
    with listening(lambda diagnostic: remarks.append(diagnostic.message.partition(": ")[2])):
        made = partition(pattern, function, ctx=CTX, **settings)  # type: ignore[arg-type]
    verify_module(module)
    after = run(module, "main", *inputs, np.array(True))
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)
    return module, made, remarks


def kinds(function: func.FuncOp) -> list[str]:
    return [each.name.removeprefix("graph.") for each in function.body.block.ops]


def test_a_match_becomes_a_function() -> None:
    module, (made,), _ = split(relu(exp(w())), g("%e", "exp", "%x") + g("%q", "relu", "%e") + g("%r", "tanh", "%q"))
    assert kinds(made) == ["exp", "relu", "func.return"]
    assert made.attributes[PARTITIONED].data == "exp_relu_"  # type: ignore[attr-defined]
    main = module.body.ops.first
    assert isinstance(main, func.FuncOp) and kinds(main) == ["func.call", "tanh", "func.return"]


def test_no_match_changes_nothing() -> None:
    _, made, _ = split(relu(exp(w())), g("%e", "tanh", "%x") + g("%r", "relu", "%e"))
    assert made == []


def test_two_matches_are_two_functions() -> None:
    _, made, _ = split(
        relu(exp(w())),
        g("%e", "exp", "%x") + g("%q", "relu", "%e") + g("%f", "exp", "%q") + g("%r", "relu", "%f"),
    )
    assert len(made) == 2 and len({each.sym_name.data for each in made}) == 2


def test_outer_match_wins_and_optional_op_is_inside() -> None:
    pattern = exp(w()).optional(lambda p: relu(p)).optional(lambda p: tanh(p))
    _, (made,), _ = split(pattern, g("%e", "exp", "%x") + g("%q", "relu", "%e") + g("%r", "tanh", "%q"))
    assert kinds(made) == ["exp", "relu", "tanh", "func.return"]


def test_parameters_in_order_of_the_pattern_each_once() -> None:
    gamma, x, beta = w(), w(), w()
    pattern = add(mul(gamma, sub(x, w())), beta)
    _, (made,), _ = split(
        pattern,
        g("%s", "subtract", "%z", "%x") + g("%m", "multiply", "%y", "%s") + g("%r", "add", "%m", "%z"),
    )
    assert [arg.name_hint for arg in made.body.block.args] == ["y", "z", "x"]
    _, (made,), _ = split(
        add(mul(w(), w()), add(w(), w())),
        g("%s", "multiply", "%x", "%y") + g("%m", "add", "%x", "%y") + g("%r", "add", "%s", "%m"),
    )
    assert len(made.body.block.args) == 2


def test_use_outside_rejects() -> None:
    body = g("%e", "exp", "%x") + g("%q", "relu", "%e") + g("%r", "add", "%q", "%e")
    _, made, remarks = split(relu(exp(w())), body)
    assert made == [] and remarks == ["not partitioned: 'graph.exp' is used outside the match"]


def test_outside_use_that_comes_back_is_computed_twice() -> None:
    pattern = mul(add(w(), w()), w())
    body = g("%a", "add", "%x", "%y") + g("%s", "sigmoid", "%a") + g("%r", "multiply", "%a", "%s")
    module, (made,), remarks = split(pattern, body)
    assert kinds(made) == ["add", "multiply", "func.return"]
    assert len(made.body.block.args) == 3
    assert remarks == ["'graph.add' is computed twice: it is used outside the match too"]
    main = module.body.ops.first
    assert isinstance(main, func.FuncOp) and kinds(main) == ["add", "sigmoid", "func.call", "func.return"]
    _, made, remarks = split(pattern, body, duplicate=False)
    assert made == [] and remarks == ["not partitioned: 'graph.add' would be computed twice"]


def test_overlapping_matches() -> None:
    """Both roots want the exp; the later one wins it, if that may be at all."""
    pattern = mul(exp(w()), w())
    body = g("%e", "exp", "%x") + g("%m", "multiply", "%e", "%y") + g("%r", "multiply", "%e", "%m")
    _, made, remarks = split(pattern, body)
    assert len(made) == 1
    assert any("belongs to another match" in remark for remark in remarks)


@pytest.mark.parametrize(
    ("leaf", "parameters", "matches"),
    [
        (Constant(), 1, True),
        (Any_(), 2, True),
        (Argument(), 0, False),
        (Constant() | Any_(), 1, True),
        (Any_() | Constant(), 2, True),
    ],
    ids=["constant", "any", "argument", "constant first", "any first"],
)
def test_constants_are_embedded_or_lifted(leaf: Pattern, parameters: int, matches: bool) -> None:
    body = f"%k = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : {F}\n" + g("%r", "subtract", "%x", "%k")
    _, made, _ = split(sub(w(), leaf), body)
    assert [len(each.body.block.args) for each in made] == ([parameters] if matches else [])


def test_attributes_and_check() -> None:
    body = g("%e", "exp", "%x") + g("%r", "relu", "%e")
    _, (made,), _ = split(relu(exp(w())), body, attributes={"composite": "exp_relu"})
    assert made.attributes["composite"].data == "exp_relu"  # type: ignore[attr-defined]
    seen: list[str] = []

    def check(found: Match) -> str:
        seen.append(str(found.root.results[0].type))
        return "too small"

    _, made, remarks = split(relu(exp(w())), body, check=check)
    assert made == [] and seen == [F] and remarks == ["not partitioned: too small"]
    _, made, remarks = split(relu(exp(w())), body, check=lambda found: False)
    assert made == [] and remarks == ["not partitioned: the check refuses it"]


def test_partitioned_functions_are_skipped() -> None:
    body = g("%e", "exp", "%x") + g("%q", "relu", "%e") + g("%f", "exp", "%q") + g("%r", "tanh", "%f")
    module, (first,), _ = split(relu(exp(w())), body)
    main = module.body.ops.first
    assert isinstance(main, func.FuncOp)
    assert partition(exp(w()), first) == []
    (second,) = partition(exp(w()), main)
    assert second.sym_name.data != first.sym_name.data and kinds(main) == [
        "func.call",
        "func.call",
        "tanh",
        "func.return",
    ]


def test_function_pattern_as_root_warns() -> None:
    _, made, remarks = split(Function((w(),), exp(w())), g("%r", "exp", "%x"))
    assert made == [] and remarks == ["not partitioned: the pattern is of a function, not of a call of one"]


def test_dominated_group() -> None:
    path = relu(w()) | tanh(w())
    body = (
        g("%e", "exp", "%x")
        + g("%q", "relu", "%e")
        + g("%t", "tanh", "%q")
        + g("%u", "tanh", "%e")
        + g("%r", "add", "%t", "%u")
    )
    _, (made,), _ = split(dominates(exp(w()), path, add(w(), w())), body)
    assert sorted(kinds(made)) == sorted(["exp", "relu", "tanh", "tanh", "add", "func.return"])
    assert len(made.body.block.args) == 1


def test_branch_and_call_are_inside() -> None:
    arms = [f"{{\n{g('%t', name, '%x')}scf.yield %t : {F}\n}}" for name in ("exp", "relu")]
    body = f"%c = scf.if %b -> ({F}) {arms[0]} else {arms[1]}\n" + g("%r", "tanh", "%c")
    _, (made,), _ = split(tanh(If(Argument(), exp(w()), relu(w()))), body)
    assert kinds(made) == ["scf.if", "tanh", "func.return"] and len(made.body.block.args) == 2
    module = parse_text(CTX, f"func.func private @f(%u: {F}) -> {F} {{\n{g('%r', 'exp', '%u')}func.return %r : {F}\n"
                             f"}}\n"
                        f"func.func @main(%x: {F}) -> {F} {{\n%c = func.call @f(%x) : ({F}) -> {F}\n"
                        f"{g('%r', 'tanh', '%c')}func.return %r : {F}\n}}", "t.mlir")  # fmt: skip
    main = module.body.ops.last
    assert isinstance(main, func.FuncOp)
    (made,) = partition(tanh(call(Function((x := w(),), exp(x)), w())), main)
    verify_module(module)
    assert kinds(made) == ["func.call", "tanh", "func.return"]
    assert made.attributes[PARTITIONED].data == "func.call_tanh_"  # type: ignore[attr-defined]


def test_any_op_never_crashes_the_partitioner() -> None:
    body = g("%e", "exp", "%x") + g("%q", "relu", "%e") + g("%r", "add", "%q", "%e")
    for pattern in (Op(()), relu(Op(())), add(Op(()), Op(()))):
        split(pattern, body)


def test_remark_of_a_condition_names_the_value() -> None:
    used = exp(w())
    told = require("single-use", used, remark="{name} has {users} users")
    rule = Rule("t", relu(used), (), (told,))
    body = g("%e", "exp", "%x") + g("%q", "relu", "%e") + g("%r", "add", "%q", "%e")
    _, made, remarks = split(rule, body)  # type: ignore[arg-type]
    assert made == [] and remarks == ["%e has 2 users"]
