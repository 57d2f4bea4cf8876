"""Partitioning with patterns of any arity, of functions and their bodies, and of calls that may be there."""

from __future__ import annotations

import numpy as np
import pytest
from pattern_programs import CTX, F, bin_, u
from stepwell.core.ir.verification import verify_module
from stepwell.core.roles import PARTITIONED
from stepwell.core.text.parsing import parse_text
from stepwell.patterns.language.patterns import Any_, Pattern, Rest, is_op, op
from stepwell.patterns.language.rules import Rule
from stepwell.patterns.language.structures import Call, Function, call
from stepwell.patterns.running.partition import partition
from stepwell.patterns.text.loading import rules_of_text
from stepwell.reference.run import run
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

exp, relu, tanh, add, mul, sub = (
    is_op(f"graph.{name}") for name in ("exp", "relu", "tanh", "add", "multiply", "subtract")
)
a, b = Any_("a"), Any_("b")


def helper(name: str, body: str, parameters: str = "%u, %v", result: str = "%r") -> str:
    typed = parameters.replace(",", f": {F},") + f": {F}"
    return f"func.func private @{name}({typed}) -> {F} {{\n{body}func.return {result} : {F}\n}}\n"


def call_to(name: str, result: str, *operands: str) -> str:
    types = ", ".join(F for _ in operands)
    return f"{result} = func.call @{name}({', '.join(operands)}) : ({types}) -> {F}\n"


ONE = helper("one", u("exp", "%u", "%r"), "%u")
TWO = helper("two", bin_("add", "%u", "%v", "%r"))
THREE = helper("three", bin_("add", "%u", "%v", "%s") + bin_("add", "%s", "%w", "%r"), "%u, %v, %w")
DEEP = helper("deep", bin_("multiply", "%u", "%u", "%s") + bin_("add", "%s", "%v", "%r"))
INNER = helper("inner", call_to("one", "%s", "%u") + u("relu", "%s", "%r"), "%u")
HELPERS = ONE + TWO + THREE + DEEP + INNER


def split(pattern: Pattern | Rule, body: str, result: str = F) -> tuple[ModuleOp, list[func.FuncOp]]:
    """Partitions `main`, which ends in `%r`; the module computes what it did before."""
    text = f"func.func @main(%x: {F}, %y: {F}, %z: {F}) -> {result} {{\n{body}func.return %r : {result}\n}}\n{HELPERS}"
    module = parse_text(CTX, text, "t.mlir")
    main = module.body.ops.first
    assert isinstance(main, func.FuncOp)
    inputs = [np.array([0.5, -1.0, 2.0, 0.25], np.float32) * factor for factor in (1, 2, -3)]
    before = run(module, "main", *inputs)
    made = partition(pattern, main, ctx=CTX)
    verify_module(module)
    np.testing.assert_array_equal(run(module, "main", *inputs)[0], before[0])
    return module, made


def shape_of(made: list[func.FuncOp]) -> list[tuple[str, int]]:
    """What each function is made from, and how many parameters it has."""
    return [(each.attributes[PARTITIONED].data, len(each.body.block.args)) for each in made]  # type: ignore[attr-defined]


def concat(count: int) -> str:
    operands = ("%x", "%y", "%z")[:count]
    types = ", ".join([F] * count)
    return f"%r = graph.concat {', '.join(operands)}, axis = 0 : ({types}) -> tensor<{4 * count}xf32>\n"


@pytest.mark.parametrize("count", [1, 2, 3])
def test_any_number_of_operands(count: int) -> None:
    """Operands that a rest stands for are parameters, in their order."""
    _, made = split(op("graph.concat", Rest()), concat(count), f"tensor<{4 * count}xf32>")
    assert shape_of(made) == [("concat_", count)]
    text = 'pattern.rule "t" {\n%r = pattern.rest\n%o = pattern.op "graph.concat"(%r)\npattern.partition %o\n}'
    _, made = split(rules_of_text(text)[0], concat(count), f"tensor<{4 * count}xf32>")
    assert shape_of(made) == [("concat_", count)]
    assert [arg.name_hint for arg in made[0].body.block.args] == ["x", "y", "z"][:count]


@pytest.mark.parametrize(
    ("name", "operands"), [("two", ("%x", "%y")), ("three", ("%x", "%y", "%z")), ("deep", ("%x", "%x"))]
)
def test_any_number_of_function_arguments(name: str, operands: tuple[str, ...]) -> None:
    pattern = tanh(Call(Function(None, add(Any_(), Any_()))))
    body = call_to(name, "%c", *operands) + u("tanh", "%c", "%r")
    _, made = split(pattern, body)
    assert shape_of(made) == [("func.call_tanh_", len(set(operands)))]
    _, made = split(pattern, call_to("one", "%c", "%x") + u("tanh", "%c", "%r"))
    assert made == [], "its body is no sum"


def test_function_by_its_parameters() -> None:
    pattern = add(call(Function((a, b), add(a, b)), Any_(), Any_()), Any_())
    _, made = split(pattern, call_to("two", "%c", "%x", "%y") + bin_("add", "%c", "%z", "%r"))
    assert shape_of(made) == [("func.call_add_", 3)]
    for name, operands in (("deep", ("%x", "%y")), ("three", ("%x", "%y", "%z")), ("one", ("%x",))):
        assert split(pattern, call_to(name, "%c", *operands) + bin_("add", "%c", "%z", "%r"))[1] == []


def test_what_a_fuzzy_body_absorbs_stays_in_the_function() -> None:
    """The product in `@deep` is no part of the pattern; it is no parameter either."""
    text = """pattern.rule "t" {
  %u = pattern.any
  %v = pattern.any
  %s = pattern.op "graph.add"(%u, %v)
  %f = pattern.function any() returns %s
  %c = pattern.call any to %f()
  %o = pattern.op "graph.tanh"(%c)
  pattern.partition %o
}"""
    for pattern in (tanh(Call(Function(None, add(Any_(), Any_())))), rules_of_text(text)[0]):
        module, made = split(pattern, call_to("deep", "%c", "%x", "%y") + u("tanh", "%c", "%r"))
        assert shape_of(made) == [("func.call_tanh_", 2)]
        deep = next(f for f in module.body.ops if isinstance(f, func.FuncOp) and f.sym_name.data == "deep")
        assert [each.name for each in deep.body.block.ops] == ["graph.multiply", "graph.add", "func.return"]


def test_optional_call_of_a_function() -> None:
    """A call that may follow is inside when it is there."""
    pattern = relu(exp(a)).optional(lambda p: call(Function(None, exp(Any_())), p))
    body = u("exp", "%x", "%e") + u("relu", "%e", "%q")
    _, made = split(pattern, body + call_to("one", "%r", "%q"))
    assert shape_of(made) == [("exp_relu_func.call_", 1)]
    _, made = split(pattern, body + u("tanh", "%q", "%r"))
    assert shape_of(made) == [("exp_relu_", 1)]
    _, made = split(pattern, body + call_to("two", "%r", "%q", "%q"))
    assert shape_of(made) == [("exp_relu_", 1)], "the other function has no such body"


def test_function_in_the_body_of_a_function() -> None:
    within = Function(None, relu(call(Function(None, exp(Any_())), Any_())))
    _, made = split(call(within, Any_()), u("tanh", "%x", "%t") + call_to("inner", "%r", "%t"))
    assert shape_of(made) == [("func.call_", 1)]
    assert split(call(within, Any_()), call_to("one", "%r", "%x"))[1] == []


def test_optional_op_around_a_call() -> None:
    pattern = call("one", Any_()).optional(lambda p: tanh(p))
    _, made = split(pattern, call_to("one", "%c", "%x") + u("tanh", "%c", "%r"))
    assert shape_of(made) == [("func.call_tanh_", 1)]
    _, made = split(pattern, call_to("one", "%r", "%x"))
    assert shape_of(made) == [("func.call_", 1)]


NORMALIZED = """pattern.rule "t" numerics "rounding" {
  %x = pattern.any
  %mean = pattern.any
  %var = pattern.any
  %gamma = pattern.any
  %beta = pattern.any
  %epsilon = pattern.constant
  %d = pattern.op "graph.subtract"(%x, %mean)
  %v = pattern.op "graph.add"(%var, %epsilon)
  %s = pattern.op "graph.sqrt"(%v)
  %m = pattern.op "graph.multiply"(%gamma, %d)
  %q = pattern.op "graph.divide"(%m, %s)
  %o = pattern.assoc %q
  %root = pattern.op "graph.add"(%o, %beta)
  pattern.partition %root
}"""


@pytest.mark.parametrize(
    ("product", "matches"),
    [
        (bin_("multiply", "%y", "%d", "%m") + bin_("divide", "%m", "%s", "%q"), True),
        (bin_("divide", "%d", "%s", "%m") + bin_("multiply", "%y", "%m", "%q"), True),
        (bin_("divide", "%d", "%s", "%m") + bin_("multiply", "%m", "%y", "%q"), True),
        (bin_("divide", "%y", "%s", "%m") + bin_("multiply", "%m", "%d", "%q"), True),
        (bin_("multiply", "%d", "%s", "%m") + bin_("divide", "%m", "%y", "%q"), False),
    ],
)
@pytest.mark.parametrize("last", ["add", "subtract"])
def test_normalization_in_any_association(product: str, matches: bool, last: str) -> None:
    """gamma * (x - mean) / sqrt(var + epsilon) + beta as BatchNorm is written by hand; minus beta is none."""
    body = (
        f"%k = graph.full 0.5 : {F}\n" + bin_("subtract", "%x", "%y", "%d") + bin_("multiply", "%z", "%z", "%var")
        + bin_("add", "%var", "%k", "%v") + u("sqrt", "%v", "%s") + product + bin_(last, "%q", "%z", "%r")
    )  # fmt: skip
    _, made = split(rules_of_text(NORMALIZED)[0], body)
    assert len(made) == (matches and last == "add")
    if made:
        kinds = made[0].attributes[PARTITIONED].data  # type: ignore[attr-defined]
        assert sorted(kinds.split("_")) == sorted(["subtract", "multiply", "add", "sqrt", "divide", "add", ""])


def test_difference_of_products_is_left() -> None:
    _, made = split(
        add(mul(a, b), sub(a, b)),
        bin_("multiply", "%x", "%y", "%m") + bin_("subtract", "%x", "%z", "%s") + bin_("add", "%m", "%s", "%r"),
    )
    assert made == []
