"""Chains, lists and injective rules: what is wrong in them, long chains, and what is written as it is read."""

from __future__ import annotations

import pytest
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.dialects.pattern.ops import rules_of
from stepwell.patterns import Any_, Constant, Driver, chain, create, is_op, op, rule
from stepwell.patterns.language.chains import Chain
from stepwell.patterns.language.patterns import Rest
from stepwell.patterns.language.registry import RuleError
from stepwell.patterns.language.rules import Rule
from stepwell.patterns.matching.compiled_rule import compile_rule
from stepwell.patterns.running.explain import explain
from stepwell.patterns.running.matching import match, match_compiled
from stepwell.patterns.text.equations import text_of_rule
from stepwell.patterns.text.loading import rules_of_text
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Operation, SSAValue

CTX = make_context()
ZERO = IntegerAttr(0, i64)
EQUATIONS = (
    'pattern.rule "r" : -[relu, abs]+(exp(%x)) => %x',
    'pattern.rule "r" fast injective : add*(%x, constant) * softmax+(%y, axis = 0) => %x',
    'pattern.rule "r" : unordered concat(relu(%x), %xs... each [floor, ceil](_), axis = 0) => %x',
    'pattern.rule "r" : -(relu(%l) * constant or floor(%l) through %l)+(exp(%x)) => %x',
    'pattern.rule "r" : concat((unordered concat(%l, %o..., axis = 0) as %s through %l)*(%x)) => concat(%s)',
    'pattern.rule "r" : abs(split(%x, axis = 0) #any) => relu(%x)',
)


@pytest.mark.parametrize("text", EQUATIONS)
def test_equations_are_written_as_they_are_read(text: str) -> None:
    module = parse_text(make_context(), text, "r.mlir")
    assert [text_of_rule(each) for each in rules_of(module)] == [text]
    assert str(parse_text(make_context(), str(module), "r.mlir")) == str(module)
    assert rules_of_text(text, "r.mlir", CTX)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("negative(add+(%x, %y)) - %y => %x", "%y stands for many values here, and elsewhere too"),
        ("concat(%xs... each relu(%x)) => %x where static(%x)", "%x is not bound by every match of the root"),
        ("relu+() => %x", "a chain goes through the first operand of each op, found none"),
        ("add+(%x) => %x", "'graph.add' takes 2 operands (lhs, rhs), found 1"),
        ("-(relu(%l) through %m)+(%x) => %x", "%m is not bound by the match; bound are %l"),
        ("-(relu(exp(_) as %l) through %l)+(%x) => %x", "a chain goes through any value, found a pattern for %l"),
        (
            "-(relu(%l) through %l)(%x) => %x",
            "expected '+', '*' or a number in braces after a step of a chain, found '('",
        ),
        ("-(relu(%l) through %l)+ => %x", "expected '(' before the pattern that a chain begins with, found '='"),
        ("-(relu(%l) through _)+(%x) => %x", "expected the name of the value before a step, found '_'"),
        ("-(relu(%l) through %l+(%x) => %x", "expected ')' after a step of a chain, found '+'"),
        ("-(relu(%l) through %l)+(%x => %x", "expected ')' after the pattern that a chain begins with, found '='"),
        ("abs(split(%x, axis = 0) #some) => %x", "expected the number of a result after '#', found 'some'"),
    ],
)
def test_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(StepwellError) as error:
        rules_of_text(f'pattern.rule "r" : {text}', "r.mlir", CTX)
    assert message in str(error.value) and "r.mlir:1:" in str(error.value)


def test_a_chain_of_a_pattern_that_the_file_defines() -> None:
    """It goes through the first parameter. Written out it is the same rule."""
    defined = 'pattern.define "step"(%v, %k) : relu(%v) * %k\n'
    (named,) = rules_of_text(f'{defined}pattern.rule "r" : -@step*(exp(%x), constant) => %x', "r.mlir", CTX)
    (plain,) = rules_of_text('pattern.rule "r" : -(relu(%v) * constant through %v)*(exp(%x)) => %x', "r.mlir", CTX)
    type_ = "tensor<4xf32>"
    for rule_, second in ((named, "%k"), (plain, "%k"), (named, "%e"), (plain, "%e")):
        text = f"""func.func @main(%x: {type_}) -> {type_} {{
  %k = graph.full 2.0 : {type_}
  %e = graph.exp %x : ({type_}) -> {type_}
  %1 = graph.relu %e : ({type_}) -> {type_}
  %2 = graph.multiply %1, %k : ({type_}, {type_}) -> {type_}
  %3 = graph.relu %2 : ({type_}) -> {type_}
  %4 = graph.multiply {second}, %3 : ({type_}, {type_}) -> {type_}
  %5 = graph.negative %4 : ({type_}) -> {type_}
  func.return %5 : {type_}
}}"""
        module = parse_text(CTX, text, "p.mlir")
        assert Driver(CTX, [rule_]).run(module) is (second == "%k")
    with pytest.raises(StepwellError, match="a chain goes through the first parameter of 'none', found none"):
        rules_of_text('pattern.define "none"() : relu(_)\npattern.rule "r" : -@none+() => _', "r.mlir", CTX)


def test_a_chain_of_steps_that_a_function_makes() -> None:
    x = Any_()
    relu = is_op("graph.relu")
    for step in (lambda before: relu(before).single_user(), relu, op("graph.relu", Any_()).names):
        assert match(op("graph.negative", chain(step, x, least=3)), row("relu", "relu", "relu", "negative"))
        assert match(op("graph.negative", chain(step, x, least=3)), row("relu", "abs", "relu", "negative")) is None


def test_wrong_chains_in_python() -> None:
    x, link = Any_(), Any_()
    with pytest.raises(RuleError, match="a step that is a function has its operands itself, found 1 beside it"):
        chain(is_op("graph.add"), x, Any_())
    with pytest.raises(TypeError, match="Chain takes patterns, found 'graph.relu'"):
        chain(lambda before: "graph.relu", x)  # pyright: ignore
    with pytest.raises(RuleError, match="the step of a chain does not go through its link"):
        match(Chain(op("graph.relu", x), link, Constant()), row("relu"))
    with pytest.raises(RuleError, match="a chain has -1 steps or more"):
        chain("graph.relu", x, least=-1)


def row(*names: str) -> SSAValue:
    """The last value of ops in a row."""
    type_ = "tensor<4xf32>"
    ops = [f"%{n + 1} = graph.{name} %{n} : ({type_}) -> {type_}" for n, name in enumerate(names)]
    text = "\n".join([f"func.func @main(%0: {type_}) {{", *ops, "func.return", "}"])
    function = parse_text(CTX, text, "p.mlir").body.block.first_op
    assert isinstance(function, Operation)
    return list(function.regions[0].block.ops)[len(names) - 1].results[0]


def test_a_chain_may_be_long() -> None:
    x = Any_()
    pattern = op("graph.negative", made := chain(("graph.relu", "graph.abs"), op("graph.exp", x), least=2))
    found = match(pattern, row("exp", *["relu", "abs"] * 3000, "negative"))
    assert found is not None and len(found.all(made.step)) == 6000 and found.op(made).name == "graph.abs"
    value = row("sin", *["relu"] * 3, "negative")
    assert match(pattern, value) is None
    assert "graph.sin" in str(explain(pattern, value))
    assert match(op("graph.negative", chain("graph.relu", x, least=4)), value) is None


def test_lists_and_chains_in_a_replacement() -> None:
    xs = Any_()
    made = rule("t", op("graph.concat", Rest(each=op("graph.relu", xs)), axis=0), create("graph.concat", xs, axis=ZERO))
    type_ = "tensor<4xf32>"
    text = f"""func.func @main(%x: {type_}, %y: {type_}) -> tensor<8xf32> {{
  %a = graph.relu %x : ({type_}) -> {type_}
  %b = graph.relu %y : ({type_}) -> {type_}
  %c = graph.concat %b, %a, axis = 0 : ({type_}, {type_}) -> tensor<8xf32>
  func.return %c : tensor<8xf32>
}}"""
    module = parse_text(CTX, text, "p.mlir")
    Driver(CTX, [made]).run(module)
    assert "graph.concat %y, %x :" in str(module) and "graph.relu" not in str(module)


def two(*lines: str) -> str:
    """A function of two tensors that returns `%p` and `%q`."""
    type_, body = "tensor<4xf32>", "\n".join(lines)
    head = f"func.func @main(%x: {type_}, %y: {type_}) -> ({type_}, {type_})"
    return f"{head} {{\n{body}\nfunc.return %p, %q : {type_}, {type_}\n}}"


def unary(name: str, operand: str, result: str) -> str:
    return f"{result} = graph.{name} {operand} : (tensor<4xf32>) -> tensor<4xf32>"


@pytest.mark.parametrize(
    ("equation", "body", "applies"),
    [
        ("exp(%x), exp(%x) => tanh(%x), tanh(%x)", (unary("exp", "%x", "%p"), unary("exp", "%x", "%q")), True),
        ("sin(exp*(%x)) => cos(%x)", (unary("sin", "%x", "%p"), unary("exp", "%x", "%q")), True),
        ("sin(exp(%x) #0) => cos(%x)", (unary("exp", "%x", "%q"), unary("sin", "%q", "%p")), True),
        ("exp(%x) - sin(%y) => sin(%x)",
         (unary("exp", "%x", "%q"), unary("sin", "%x", "%s"),
          "%p = graph.subtract %q, %s : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>"), False),
    ],
)  # fmt: skip
def test_names_of_an_injective_rule_are_those_of_different_values(
    equation: str, body: tuple[str, ...], applies: bool
) -> None:
    """Several ops are no value beside the first of them, nor a chain without a step beside where it begins."""
    text = f'pattern.rule "r" fast injective : {equation}'
    assert Driver(CTX, rules_of_text(text, "r.mlir", CTX)).run(parse_text(CTX, two(*body), "p.mlir")) is applies
    assert Driver(CTX, rules_of_text(text.replace(" injective", ""), "r.mlir", CTX)).run(
        parse_text(CTX, two(*body), "p.mlir")
    )


def test_two_results_of_one_op_are_different_in_an_injective_rule() -> None:
    parts = op("graph.split", Any_())
    difference = op("graph.subtract", parts.result(None), parts.result(None))
    half = "tensor<2xf32>"
    for second, matches in (("%i", True), ("%h", False)):
        module = parse_text(
            CTX,
            f"""func.func @main(%x: tensor<4xf32>) -> {half} {{
  %h, %i = graph.split %x, axis = 0, sections = 2 : (tensor<4xf32>) -> ({half}, {half})
  %p = graph.subtract %h, {second} : ({half}, {half}) -> {half}
  func.return %p : {half}
}}""",
            "p.mlir",
        )
        value = next(each for each in module.walk() if each.name == "graph.subtract").results[0]
        compiled = compile_rule(Rule("different", difference, (), injective=True))
        assert match_compiled(compiled, value).matched is matches
        assert match(difference, value) is not None


def test_unordered_operands_may_have_types_that_others_take() -> None:
    """The first pattern says f32, and `where` takes i1 first: in any order that is the second operand."""
    pattern = op("graph.where", Any_().has_dtype("f32"), Any_().has_dtype("i1"), Any_())
    text = """func.func @main(%c: tensor<4xi1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.where %c, %x, %x : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}"""
    root = next(each for each in parse_text(CTX, text, "p.mlir").walk() if each.name == "graph.where")
    assert match_compiled(compile_rule(Rule("r", pattern.unordered(), ()), CTX), root.results[0]).matched
    with pytest.raises(RuleError, match="nothing matches: the value is to have element type f32 and element type i1"):
        compile_rule(Rule("r", pattern, ()), CTX)
