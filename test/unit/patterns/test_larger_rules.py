"""
Rules of several roots, of branches and functions, of re-associated forms; errors and explanations of larger patterns.
"""

from __future__ import annotations

import numpy as np
import pytest
from pattern_programs import CTX, HELPERS, F, M, bin_, call_of, chain, choice, full, matmul, program, u
from stepwell.core.ir.verification import verify_module
from stepwell.core.messages.diagnostics import StepwellError, listening
from stepwell.core.text.parsing import parse_text
from stepwell.patterns.language.constraints import Argument
from stepwell.patterns.language.match import Match
from stepwell.patterns.language.patterns import Any_, Op, Pattern, is_op, op
from stepwell.patterns.language.registry import RuleError
from stepwell.patterns.language.rules import Rule, create, rule
from stepwell.patterns.language.structures import Function, If, call, dominates
from stepwell.patterns.matching.compiled_rule import compile_rule
from stepwell.patterns.running.driver import Driver
from stepwell.patterns.running.explain import explain
from stepwell.patterns.running.matching import find_all, match
from stepwell.patterns.running.partition import partition
from stepwell.patterns.running.sweeps import callback, rewrite
from stepwell.patterns.text.loading import rules_of_text
from stepwell.reference.run import run
from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64

a, b, c = Any_("a"), Any_("b"), Any_("c")
exp, relu, tanh, add, mul, div = (
    is_op(f"graph.{name}") for name in ("exp", "relu", "tanh", "add", "multiply", "divide")
)


def names(module: ModuleOp) -> list[str]:
    """The ops of the first function, after the module has been verified."""
    verify_module(module)
    main = module.body.ops.first
    assert main is not None
    return [each.name.removeprefix("graph.") for each in main.walk() if each.name.startswith("graph.")]


def function_of(body: str, result: str, parameters: str, type_: str) -> ModuleOp:
    text = f"func.func @main({parameters}) -> {type_} {{\n{body}\nfunc.return {result} : {type_}\n}}\n{HELPERS}"
    return parse_text(CTX, text, "t.mlir")


# Several roots


QKV = """
pattern.rule "products-of-one-tensor" numerics "rounding" {
  %x = pattern.any
  %a = pattern.any
  %b = pattern.any
  %c = pattern.any
  %q = pattern.op "graph.matmul"(%x, %a)
  %k = pattern.op "graph.matmul"(%x, %b)
  %v = pattern.op "graph.matmul"(%x, %c)
  pattern.require "same-type"(%a, %b)
  pattern.require "same-type"(%b, %c)
  pattern.rewrite %q, %k, %v {
    %w = pattern.create "graph.concat"(%a, %b, %c) with {axis = 1 : i64}
    %m = pattern.create "graph.matmul"(%x, %w)
    %s = pattern.create "graph.split"(%m) with {axis = 1 : i64, sections = 3 : i64}
    pattern.yield %s
  }
}"""
WEIGHT = "tensor<10x10xf32>"


def attention(order: tuple[str, ...] = ("q", "k", "v"), between: str = "") -> ModuleOp:
    products = between.join(matmul(f"%w{name}", f"%{name}") for name in order)
    sums = f"%s = graph.add %q, %k : ({M}, {M}) -> {M}\n%r = graph.subtract %s, %v : ({M}, {M}) -> {M}"
    return function_of(products + sums, "%r", f"%m: {M}, %wq: {WEIGHT}, %wk: {WEIGHT}, %wv: {WEIGHT}", M)


def test_three_products_of_one_tensor_become_one() -> None:
    for order in (("q", "k", "v"), ("v", "q", "k")):
        module = attention(order)
        inputs = [
            np.random.default_rng(n).random(size).astype(np.float32)
            for n, size in enumerate([(4, 10)] + [(10, 10)] * 3)
        ]
        before = run(module, "main", *inputs)
        assert Driver(CTX, rules_of_text(QKV)).run(module)
        assert names(module) == ["concat", "matmul", "split", "add", "subtract"]
        np.testing.assert_allclose(run(module, "main", *inputs)[0], before[0], rtol=1e-5)


def test_two_products_are_not_three() -> None:
    module = function_of(
        matmul("%wq", "%q") + matmul("%wk", "%k") + f"%r = graph.add %q, %k : ({M}, {M}) -> {M}",
        "%r",
        f"%m: {M}, %wq: {WEIGHT}, %wk: {WEIGHT}",
        M,
    )
    assert not Driver(CTX, rules_of_text(QKV)).run(module)


def test_roots_that_need_each_other_stay() -> None:
    """The second product is computed from the first one."""
    body = matmul("%wq", "%q") + f"%t = graph.permute_dims %q, axes = [1, 0] : ({M}) -> tensor<10x4xf32>\n"
    body += "%sq = graph.matmul %t, %q : (tensor<10x4xf32>, tensor<4x10xf32>) -> tensor<10x10xf32>\n"
    body += matmul("%sq", "%r")
    module = function_of(body, "%r", f"%m: {M}, %wq: {WEIGHT}", M)
    pair = (op("graph.matmul", a, b), op("graph.matmul", a, c))
    stay = rule("pair", pair, (create("graph.matmul", a, c), create("graph.matmul", a, b)))
    said: list[str] = []
    with listening(lambda diagnostic: said.append(diagnostic.message)):
        assert not Driver(CTX, [stay]).run(module)
    assert "rule 'pair' needs something that cannot be used here" in said[0]
    main = module.body.ops.first
    assert isinstance(main, func.FuncOp) and partition(pair, main, ctx=CTX) == []


def test_several_roots_are_found_in_program_order_each_another_op() -> None:
    module = attention()
    pair = (q := op("graph.matmul", a, Any_()), k := op("graph.matmul", a, Any_()))
    found = find_all(pair, module, ctx=CTX)
    assert [(each[q].name_hint, each[k].name_hint) for each in found] == [("q", "k"), ("k", "q"), ("v", "q")]
    value = found[0][q]
    alone = match(pair, value)
    assert alone is not None and alone.roots == [value.owner, found[0].op(k)]
    assert not find_all((q, op("graph.dense", a, Any_())), module)


def test_several_roots_become_one_function_of_several_results() -> None:
    module = attention(("k", "q", "v"))
    inputs = [
        np.random.default_rng(n).random(size).astype(np.float32) for n, size in enumerate([(4, 10)] + [(10, 10)] * 3)
    ]
    before = run(module, "main", *inputs)
    main = module.body.ops.first
    assert isinstance(main, func.FuncOp)
    (made,) = partition((op("graph.matmul", a, Any_()), op("graph.matmul", a, Any_())), main, ctx=CTX)
    verify_module(module)
    assert len(made.function_type.outputs.data) == 2 and len(made.body.block.args) == 3
    np.testing.assert_array_equal(run(module, "main", *inputs)[0], before[0])


def test_callback_of_several_roots() -> None:
    def swap(found: Match) -> list[object]:
        return [
            found.create("graph.tanh", [found[a]]).results[0],
            found.create("graph.sin", [found[a]]).results[0],
        ]

    module, _ = program(u("exp", result="%e") + u("relu", result="%q") + bin_("add", "%e", "%q"))
    assert rewrite([callback("both", (exp(a), relu(a)), swap)], module, ctx=CTX)
    assert names(module) == ["tanh", "sin", "add"]


def test_roots_that_share_nothing_are_an_error() -> None:
    with pytest.raises(RuleError, match="pattern 2 of several shares no value with those before it"):
        match((exp(a), relu(b)), program(u("exp"))[1])


def test_roots_in_two_blocks_stay() -> None:
    branch = (
        f"%r = scf.if %b -> ({F}) {{\n{u('relu', result='%t')}scf.yield %t : {F}\n}} else {{\nscf.yield %y : {F}\n}}\n"
    )
    module, _ = program(u("exp") + branch)
    pair = (exp(a), relu(a))
    assert find_all(pair, module) == []
    assert not Driver(CTX, [rule("pair", pair, (create("graph.sin", a), create("graph.cos", a)))]).run(module)
    main = module.body.ops.first
    assert isinstance(main, func.FuncOp) and partition(pair, main, ctx=CTX) == []


# What a rule may not do


def test_a_value_of_a_branch_or_another_function_does_not_leave_it() -> None:
    """Where what would replace the root cannot be used, the rule does not apply."""
    inner = rule("then", If(Argument(), then := exp(a), relu(Any_())), then)
    module, _ = program(choice("exp", "relu"))
    assert not Driver(CTX, [inner]).run(module)
    assert names(module) == ["exp", "relu"]
    outer = rule("body", call(Function((Any_(),), body := add(b, b)), a), body)
    module, _ = program(call_of("twice", "%x"))
    assert not Driver(CTX, [outer]).run(module)
    module, _ = program(choice("exp", "relu"))
    allowed = rule("outside", If(Argument(), exp(a), relu(a)), create("graph.tanh", a))
    assert Driver(CTX, [allowed]).run(module) and names(module) == ["tanh"]


def test_a_user_does_not_replace_what_comes_before_it() -> None:
    used = (e := exp(a)).used_by(later := relu(e))
    module, _ = program(u("exp") + u("relu", "%p", "%q"))
    assert not Driver(CTX, [rule("later", used, later)]).run(module)


def test_assoc_is_never_exact() -> None:
    pattern = div(mul(a, b), c).assoc()
    compile_rule(rule("r", pattern, create("graph.multiply", a, b), numerics="rounding"))
    with pytest.raises(RuleError, match="re-associated forms do not give the same bits, so the rule cannot be exact"):
        compile_rule(rule("r", pattern, create("graph.multiply", a, b)))
    with pytest.raises(RuleError, match="only a quotient of a product, or a product with a quotient"):
        add(a, b).assoc()
    text = (
        'pattern.rule "r" {\n%a = pattern.any\n%s = pattern.op "graph.exp"(%a)\n%o = pattern.assoc %s\n'
        "pattern.replace %o with %a\n}"
    )
    with pytest.raises(StepwellError, match="only a quotient of a product") as caught:
        rules_of_text(text, "r.mlir")
    assert caught.value.diagnostic.point is not None and caught.value.diagnostic.point.line == 4


# Names


def test_an_unknown_op_is_an_error_with_a_context() -> None:
    wrong = is_op("graph.rellu")(a)
    _, value = program(u("relu"))
    assert match(wrong, value) is None
    for attempt in (
        lambda: match(wrong, value, ctx=CTX),
        lambda: Driver(CTX, [rule("r", wrong, a)]),
        lambda: Driver(CTX, [rule("r", relu(a), create("graph.rellu", a))]),
        lambda: rewrite([rule("r", dominates(wrong, exp(a), exp(b)), a)], program(u("exp"))[0], ctx=CTX),
        lambda: find_all(wrong, program(u("relu"))[0], ctx=CTX),
        lambda: partition(wrong, program(u("relu"))[0].body.ops.first, ctx=CTX),  # type: ignore[arg-type]
    ):
        with pytest.raises(RuleError, match="op 'graph.rellu' is unknown\nhint: did you mean 'graph.relu'"):
            attempt()
    with pytest.raises(RuleError, match="there is no dialect 'grph'\nhint: did you mean 'graph'"):
        match(is_op("grph.relu")(a), value, ctx=CTX)


def test_an_unknown_op_in_text_is_an_error_with_its_place() -> None:
    text = (
        'pattern.rule "r" {\n  %a = pattern.any\n  %o = pattern.op "graph.rellu"(%a)\n  pattern.replace %o with %a\n}'
    )
    with pytest.raises(StepwellError, match="op 'graph.rellu' is unknown") as caught:
        rules_of_text(text, "r.mlir")
    assert str(caught.value.diagnostic.point) == "r.mlir:3:3" and "graph.relu" in str(caught.value.diagnostic.hint)


def test_a_condition_is_about_what_is_matched() -> None:
    with pytest.raises(RuleError, match="condition 'same-shape' is about %b, which is not matched"):
        compile_rule(rule("r", exp(a.same_shape(b)), create("graph.exp", a)))
    _, value = program(u("exp", result="%q") + u("relu", "%q"))
    either = relu(exp(a) | tanh(b)).holds("same-shape", b)
    assert match(either, value) is None, "b took no part"


# Far-reaching rules come to a fixed point


def test_a_dominator_far_above_is_seen_when_it_changes() -> None:
    """The parent loses its use elsewhere only after its child, 150 ops below, has been looked at."""
    far = dominates(op("graph.abs", a), exp(Any_()), tanh(Any_()))
    rules = [rule("far", far, create("graph.sin", a)), rule("drop", op("graph.cos", op("graph.abs", b)), b)]
    module, _ = program(chain("abs", *["exp"] * 150, "tanh") + u("cos", "%v0", "%z"))
    Driver(CTX, rules).run(module)
    assert names(module) == ["sin"]


def test_a_function_that_changes_changes_its_calls() -> None:
    """`@pair_of` comes after `main`; its body gets the form that the call asks for only then."""
    helper = f"func.func private @late(%u: {F}) -> {F} {{\n{u('abs', '%u', '%r')}func.return %r : {F}\n}}"
    text = (
        f"func.func @main(%x: {F}) -> {F} {{\n%p = func.call @late(%x) : ({F}) -> {F}\nfunc.return %p : {F}\n}}\n"
        f"{helper}"
    )
    module = parse_text(CTX, text, "t.mlir")
    inline = rule("inline", call(Function((Any_(),), relu(Any_())), a), create("graph.relu", a))
    near = rule("near", op("graph.abs", b), create("graph.relu", b))
    Driver(CTX, [inline, near]).run(module)
    assert names(module) == ["relu"]


# Programs on which other matchers crashed


@pytest.mark.ci_cases(22)
@pytest.mark.parametrize(
    "body",
    [
        u("exp"),
        full("1.0") + u("exp", "%k"),
        chain("relu", "exp"),
        call_of("twice", "%x"),
        choice("exp", "relu"),
    ],
)
@pytest.mark.parametrize(
    "pattern",
    [
        dominates(relu(a), exp(Any_()), call(Function(None, add(b, b)))),
        dominates(call(Function((b,), add(b, b))), tanh(Any_()), exp(Any_())),
        dominates(relu(a), dominates(exp(b), exp(Any_()), exp(Any_())), exp(Any_())),
        dominates(Any_(), Any_(), Any_()),
        dominates(Argument(), Op(()), Op(())),
        call(Function((), relu(a))),
        If(Any_(), dominates(Any_(), Any_(), Any_()), Any_()),
    ],
    ids=["function as child", "function as parent", "dominator in a path", "anything", "argument", "no parameters",
         "in a branch"],
)  # fmt: skip
def test_dominators_never_crash(pattern: Pattern, body: str) -> None:
    """A leaf without a parent, a function pattern as child or parent: no match, and no error."""
    module, value = program(body)
    for op_ in module.walk():
        for each in op_.results:
            assert explain(pattern, each).matched is (match(pattern, each) is not None)
    main = module.body.ops.first
    assert isinstance(main, func.FuncOp)
    partition(pattern, main, ctx=CTX)
    verify_module(module)


# Calls of loop functions


KERNELS = """
pattern.rule "r" {
  %a = pattern.any
  %e = pattern.call named "exp"(%a)
  %r = pattern.call named "relu"(%e)
"""


def kernels_rule(form: str, end: str) -> Rule:
    if form == "text":
        return rules_of_text(f"{KERNELS}{end}\n}}")[0]
    lhs = call("relu", call("exp", a))
    return rule("r", lhs, create("graph.tanh", a)) if "rewrite" in end else Rule("r", lhs, ())


@pytest.mark.parametrize("form", ["python", "text"])
def test_a_call_of_a_kernel_by_name(form: str) -> None:
    """Matched, not matched, as a group and in a rule, on what `lower-graph-to-loops` makes."""
    from stepwell.core.passes.pipelines import run_pipeline

    group = kernels_rule(form, "pattern.partition %r")
    for body, fits in ((("exp", "relu"), True), (("relu", "exp"), False), (("exp", "tanh"), False)):
        module = function_of(chain(*body), "%p", f"%x: {F}", F)
        run_pipeline(CTX, module, "lower-graph-to-loops")
        main = next(each for each in module.body.ops if isinstance(each, func.FuncOp))
        kernels = [each for each in main.walk() if each.name == "graph.call_kernel"]
        assert len(kernels) == 2
        assert (match(group.lhs, kernels[1], ctx=CTX) is not None) is fits
        assert match(group.lhs, kernels[0]) is None, "its operand is an argument"
        assert match(call(None, a), kernels[0]) is not None and match(call(None, a, b), kernels[0]) is None
        made = partition(group, main, ctx=CTX)
        verify_module(module)
        assert len(made) == fits
        rewriting = kernels_rule(
            form, 'pattern.rewrite %r {\n%n = pattern.create "graph.tanh"(%a)\npattern.yield %n\n}'
        )
        assert Driver(CTX, [rewriting], enter=lambda each: True).run(module) is fits
        verify_module(module)
        if fits:
            assert [each.name for each in made[0].body.block.ops] == ["graph.tanh", "func.return"]


# Why not


PATH = relu(Any_()) | tanh(Any_())
TWO = u("exp", result="%e") + u("relu", "%e", "%q") + u("tanh", "%e", "%t") + bin_("add", "%q", "%t")


@pytest.mark.parametrize(
    ("pattern", "body", "told"),
    [
        (
            dominates(exp(a), PATH, add(Any_(), Any_())),
            TWO.replace("graph.tanh", "graph.sigmoid"),
            ("'graph.sigmoid' (%t) is not the parent and does not match the path (expected 'graph.relu', found "
             "'graph.sigmoid')"),
        ),
        (
            dominates(exp(a), PATH, add(Any_(), Any_())),
            TWO + u("sin", "%t", "%z"),
            "'graph.tanh' (%t) is used outside, by 'graph.sin'",
        ),
        (
            dominates(exp(a), relu(Any_()).has_shape(5), tanh(Any_())),
            chain("exp", "relu", "tanh"),
            ("'graph.relu' (%v1) is not the parent and does not match the path (%v1: expected shape 5, found type "
             "tensor<4xf32>)"),
        ),
        (
            dominates(exp(a), PATH, tanh(Any_())),
            chain("relu", "tanh"),
            "'graph.relu' (%v0) has no operand that leads to the parent",
        ),
        (dominates(exp(a), PATH, tanh(Any_())), u("tanh"), "'graph.tanh' (%p) has no operand that leads"),
        (dominates(exp(a), PATH, tanh(Any_())), u("sin"), "expected 'graph.tanh', found 'graph.sin'"),
        (call("twice", a), call_of("sum", "%x", "%y"), "expected a call of @twice, found one of @sum"),
        (call(Function((a,), add(a, a))), call_of("sum", "%x", "%y"),
         "expected a function of 1 parameters, found @sum of 2"),
        (exp(a).used_by(relu(exp(a))), u("exp"), "no other op has what pattern 2 of several shares with the rest"),
        (add(exp(a.same_type(b)), b), u("exp", result="%e") + f"%p = graph.add %e, %s : ({F}, tensor<f32>) -> {F}\n",
         "condition 'same-type' does not hold"),
    ],
)  # fmt: skip
def test_explain_names_the_op_and_the_condition(pattern: Pattern, body: str, told: str) -> None:
    _, value = program(body)
    assert match(pattern, value) is None
    assert told in str(explain(pattern, value))


def test_rule_keeps_its_keys() -> None:
    """A rule of several roots in Python has what the text form has."""
    (loaded,) = rules_of_text(QKV)
    assert isinstance(loaded, Rule) and len(loaded.also) == 2
    assert IntegerAttr(3, i64) in dict(loaded.rhs[0].attributes).values()  # type: ignore[union-attr]
