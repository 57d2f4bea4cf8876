"""Rules as someone writes them by hand: odd combinations that mean something, and errors of what does not."""

from __future__ import annotations

import re
from typing import Any

import pytest
from stepwell.core.ir.verification import verify_module
from stepwell.core.messages.diagnostics import OperationError, StepwellError, listening
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.dialects.pattern.equations.printing import equation_of
from stepwell.dialects.pattern.ops import rules_of
from stepwell.patterns import (
    Any_,
    Capture,
    Constant,
    Driver,
    Result,
    callback,
    compare,
    is_op,
    negated,
    require,
    rule,
)
from stepwell.patterns.text.loading import rules_of_text
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

CTX = make_context()
V, M, W = "tensor<4xf32>", "tensor<4x6xf32>", "tensor<8xf32>"
x = Any_("x")
relu, split, softmax = is_op("graph.relu"), is_op("graph.split"), is_op("graph.softmax")


def program(body: str) -> ModuleOp:
    """A function of vectors `%x` and `%y`, a matrix `%m` and a vector `%w` of 8, which returns `%r`."""
    lines: list[str] = []
    type_ = V
    for name, op, operands, more in re.findall(r"(%\w+(?:, %\w+)*) = (\w+)\((.*?)\)(.*)", body):
        kinds = {"%m": M, "%w": W} | {line.split(" ")[0]: line.split(" ")[-1] for line in lines if "split" not in line}
        if op == "full":
            lines.append(f"{name} = graph.full {operands} : {V}")
            continue
        given = [each.strip() for each in operands.split(",")]
        types = [kinds.get(each, V) for each in given]
        type_ = W if op == "concat" else types[0] if op != "split" else V
        found = f"({V}, {V})" if op == "split" else type_
        lines.append(f"{name} = graph.{op} {operands}{more} : ({', '.join(types)}) -> {found}")
    head = f"func.func @f(%x: {V}, %y: {V}, %m: {M}, %w: {W}) -> {type_} {{"
    return parse_text(CTX, "\n".join([head, *lines, f"func.return %r : {type_}", "}"]), "p.mlir")


def ops_after(rules: list[Any], body: str) -> list[str]:
    """The ops of the program after the rules, with their operands, in order."""
    module = program(body)
    Driver(CTX, rules).run(module)
    verify_module(module)
    (function,) = [each for each in module.ops if isinstance(each, FuncOp)]
    lines = [str(each) for each in function.body.block.ops]
    return [re.sub(r"^.*?= graph\.| : .*$|%\w+\.", "", line) for line in lines if "= graph." in line]


APPLIED = {
    "one result": (
        ": split(concat(%a, %b), sections = 2) #1 => %b",
        "%c = concat(%x, %y), axis = 0\n%p, %q = split(%c), sections = 2\n%s = relu(%p)\n%r = add(%s, %q)",
        ["concat %x, %y", "split %c, sections = 2", "relu %p", "add %s, %y"],
    ),
    "one result, the last that is used": (
        ": split(concat(%a, %b), sections = 2) #any => %b",
        "%c = concat(%x, %y), axis = 0\n%p, %q = split(%c), sections = 2\n%r = relu(%q)",
        ["relu %y"],
    ),
    "one result with a test": (
        ": split(concat(%a, %b), sections = 2) #1 has dtype f32 => exp(%b)",
        "%c = concat(%x, %y), axis = 0\n%p, %q = split(%c), sections = 2\n%r = add(%p, %q)",
        ["concat %x, %y", "exp %y", "split %c, sections = 2", "add %p, %q"],
    ),
    "all results": (
        ": split(concat(%a, %b), sections = 2) => %a, %b",
        "%c = concat(%x, %y), axis = 0\n%p, %q = split(%c), sections = 2\n%r = add(%p, %q)",
        ["add %x, %y"],
    ),
    "ops of a list inside each other": (
        "for %f in [relu, abs], %g in [sin, cos] : %f(%g(%x)) => %g(%f(%x))",
        "%c = cos(%x)\n%r = relu(%c)",
        ["relu %x", "cos %0"],
    ),
    "constants meet in any of two ops": (
        "for %f in [add, multiply] : %f(%f(%x, constant %a), constant %b) => %f(%x, %f(%a, %b))",
        "%k = full(2.0)\n%l = full(3.0)\n%p = multiply(%x, %k)\n%r = multiply(%p, %l)",
        ["full 2.0", "full 3.0", "multiply %k, %l", "multiply %x, %0"],
    ),
    "a list of ops keeps them apart": (
        "for %f in [add, multiply] : %f(%f(%x, constant %a), constant %b) => %f(%x, %f(%a, %b))",
        "%k = full(2.0)\n%l = full(3.0)\n%p = add(%x, %k)\n%r = multiply(%p, %l)",
        None,
    ),
    "two steps or more": (
        ": [relu, abs]{2,}(%x) => relu(%x)",
        "%p = relu(%x)\n%q = abs(%p)\n%r = relu(%q)",
        ["relu %x"],
    ),
    "two steps or more of any form": (
        ": (relu(-%l) through %l){2,}(%x) => exp(%x)",
        "%p = negative(%x)\n%q = relu(%p)\n%s = negative(%q)\n%r = relu(%s)",
        ["exp %x"],
    ),
    "one step is too few": (": [relu, abs]{2,}(%x) => relu(%x)", "%p = sin(%x)\n%r = relu(%p)", None),
    "sizes by a formula": (": relu(%x has shape [%n, %n + 2]) => exp(%x)", "%r = relu(%m)", ["exp %m"]),
    "other sizes": (": relu(%x has shape [%n, %n * 2]) => exp(%x)", "%r = relu(%m)", None),
    "an attribute by a formula": (
        ": softmax(softmax(%x, axis = %a), axis = %a - 1) => softmax(%x, axis = %a - 1)",
        "%p = softmax(%m), axis = 1\n%r = softmax(%p), axis = 0",
        ["softmax %m, axis = 0"],
    ),
    "an attribute that counts from the end": (
        ": softmax(%x, axis = rank(%x) - 1) => exp(%x)",
        "%r = softmax(%m), axis = -1",
        ["exp %m"],
    ),
    "one attribute twice": (
        ": softmax(softmax(%x, axis = %a), axis = %a) => softmax(%x, axis = %a)",
        "%p = softmax(%m), axis = 1\n%r = softmax(%p), axis = -1",
        ["softmax %m, axis = 1"],
    ),
    "two attributes": (
        ": softmax(softmax(%x, axis = %a), axis = %a) => softmax(%x, axis = %a)",
        "%p = softmax(%m), axis = 1\n%r = softmax(%p), axis = 0",
        None,
    ),
    "comparisons in parentheses": (
        ": relu(%x has shape [%n, ?]) => exp(%x) where not (%n == 3), (%n + 1) * 2 == 10, (%n < 5)",
        "%r = relu(%m)",
        ["exp %m"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", APPLIED)
def test_applied(name: str) -> None:
    equation, body, expected = APPLIED[name]
    rules = rules_of_text(f'pattern.rule "r" {equation}')
    assert ops_after(rules, body) == (ops_after([], body) if expected is None else expected)


@pytest.mark.parametrize("name", APPLIED)
def test_written_as_read(name: str) -> None:
    """The equation of the normal form is read into a rule of the same equation."""
    (found,) = rules_of(parse_text(CTX, f'pattern.rule "r" doc "d" {APPLIED[name][0]}', "r.mlir"))
    (again,) = rules_of(parse_text(CTX, f'pattern.rule "r" doc "d" {equation_of(found)}', "r.mlir"))
    assert equation_of(again) == equation_of(found)
    assert sorted(op.name for op in again.walk()) == sorted(op.name for op in found.walk())


def test_a_root_keeps_its_name() -> None:
    for equation in (
        ": relu(%x) as %y => exp(%y) where single-use(%y)",
        ": constant %c => relu(%c)",
        ': block(%i) {%y[%i] = %x[%i]} as %b => decide(%b, my.tag = 1) because "r"',
    ):
        (found,) = rules_of(parse_text(CTX, f'pattern.rule "r" {equation}', "r.mlir"))
        assert equation_of(found) == equation


def test_one_result_in_python() -> None:
    body = "%p, %q = split(%w), sections = 2\n%s = relu(%p)\n%r = add(%s, %q)"
    second = Result(split(x, sections=2), 1)
    made = callback("r", second, lambda match: match.create("graph.exp", [match.root.parent.args[0]]))
    assert ops_after([made], body) == ["exp %x", "split %w, sections = 2", "relu %p", "add %s, %q"]
    needs = callback("r", second, lambda match: match.create("graph.exp", [match.root.results[0]]))
    with pytest.raises(OperationError, match="replaces a result by something that needs it"):
        ops_after([needs], body)


def test_words_of_a_rule_in_any_order() -> None:
    for words in ('fast injective effects doc "d"', 'doc "d" effects fast injective', 'effects injective doc "d" fast'):
        (found,) = rules_of_text(f'pattern.rule "r" {words} : relu(%x) => %x')
        assert (found.numerics, found.injective, found.effects, found.doc) == ("fast", True, True, "d")


# Remarks


def said(text: str, body: str) -> list[str]:
    found: list[str] = []
    with listening(lambda diagnostic: found.append(diagnostic.message)):
        ops_after(rules_of_text(text), body)
    return [message.split(": ", 1)[-1] for message in found]


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ("%n == 3", "size(%image, 0) == 3 does not hold"),
        ("not %n == 4", "size(%image, 0) == 4 holds"),
        ("integer(%image)", "integer(%image) does not hold"),
        ("byte(%image)", "the image is no tensor of bytes"),
        ("not float(%image)", "float holds"),
    ],
)
def test_one_remark_of_several_conditions(wanted: str, why: str) -> None:
    shape = "relu(%image has shape [%n])"
    text = f'pattern.rule "r" : {shape} => exp(%image) where {{static(%image), {wanted}}} remark "no, {{why}}"'
    assert said(text, "%r = relu(%x)") == [f"no, {why}"]
    (found,) = rules_of(parse_text(CTX, text, "r.mlir"))
    assert "where {static(%image), " in str(equation_of(found))


# What goes wrong in the text

ERRORS = [
    ("softmax(%x, axis = %a) => %x where %a == 1 or %a == 2", 44, "expected the end of the rule, found 'or'"),
    ("relu(%x) => %x where float(%x) static(%x)", 32, "expected the end of the rule, found 'static'"),
    ("relu(%x) => partition, %x", 22, "expected the end of the rule, found ','"),
    ("relu(%x) => %x) where float(%x)", 15, "expected the end of the rule, found ')'"),
    ("relu(%x) => ", 13, "expected a replacement, found the end of the text"),
    ("=> %x", 1, "expected a pattern, found '='"),
    ("relu(%x), => %x", 11, "expected a pattern, found '='"),
    ("relu(%x) => %x where not not float(%x)", 26, "a condition is negated once, found 'not' again"),
    ("relu(%x) => %x where rank(%x)", 30, "expected one of == != <= >= < > in a formula, found the end of the text"),
    ("relu(%x) => %x where size(%x) == 1", 22, "'size' takes 2 arguments, found 1 in a formula"),
    ("relu(%x) => %x where {float(%x)}", 33, "expected 'remark' after conditions in braces, found the end of the text"),
    ("relu(%x) => %x where float(%x) remark no", 39, "expected a remark in quotes, found 'no'"),
    ("%x + 1e-3 => %x", 6, "a number with an exponent has a point, as in 1.0e-3"),
    ("%x-1 => %x", 9, "%x is not bound by the match; bound are %x-1, %root; '%x-1' is one name, write spaces"),
    ("relu(%x has dtype f33) => %x", 19, "expected an element type, found 'f33'"),
    ("relu(%x has kind elementwise) => %x", 18, "expected kinds in quotes, found 'elementwise'"),
    ("relu(%x has shape 4) => %x", 19, "expected '[' before sizes, found '4'"),
    ("relu(%x has shape [%n, %m + 1]) => %x", 24, "%m is not bound by the match; bound are %x, %n"),
    ("softmax(%x, axis = %a + 1) => %x", 20, "%a is not bound by the match; bound are %x"),
    ("softmax(%x, axis = ) => %x", 20, "expected an attribute or a name, found ')'"),
    ("relu(literal) => 1", 13, "expected a constant after 'literal', found ')'"),
    ("pattern.dominates(%x, %y) => %x", 1, "'pattern.dominates' takes 3 patterns, found 2"),
    ("pattern.together(%x) => %x", 1, "'pattern.together' takes 2 patterns or more, found 1"),
    ("pattern.assoc(%x * 2, axis = 1) => %x", 1, "'pattern.assoc' takes 1 pattern, found an attribute"),
    ("pattern.call(%x) => %x", 1, "'pattern.call' has no place in an equation; the normal form has functions, calls"),
    ("relu(%x) => pattern.call(%x)", 13, "'pattern.call' has no place in an equation"),
    ("[relu, relu](%x) => %x", 8, "'graph.relu' stands twice in one list"),
    ("[](%x) => %x", 2, "expected the name of an op, found ']'"),
    ("relu{2}(%x) => %x", 7, "expected ',' after the least number of steps: a chain has no most, found '}'"),
    ("relu{-1,}(%x) => %x", 6, "expected the least number of steps, found '-'"),
    ("softmax(%x, axis = %a) => softmax(%x, axis = %x)", 46, "%x is a value, where an attribute stands"),
    ("block(%i in -3) {%s...} => decide(%root, my.a = 1) because \"r\"", 13, "expected an extent, found '-'"),
    ("block(%i) {%s...} => decide(%root, my.a = %i) because \"r\"", 43, "%i is a value, where an attribute stands"),
    ("block(%i) {%s...} => decide(%root, my.a = 1) because r", 54, "expected a reason in quotes, found 'r'"),
]  # fmt: skip
HEAD = 'pattern.rule "r" : '


@pytest.mark.parametrize(("equation", "column", "message"), ERRORS, ids=[each[0] for each in ERRORS])
def test_errors_in_the_text(equation: str, column: int, message: str) -> None:
    with pytest.raises(StepwellError) as caught:
        parse_text(make_context(), HEAD + equation, "r.mlir")
    assert f"r.mlir:1:{len(HEAD) + column}: error: {message}" in str(caught.value)


WHOLE = [
    ('pattern.rule "r" for %f in [relu] : exp(%x) => %x', 37, "the match has no op %f, which 'for' names"),
    ('pattern.rule "r" for %f in [] : %f(%x) => %x', 29, "expected the name of an op, found ']'"),
    ('pattern.rule "r" for %f in relu : %f(%x) => %x', 28, "expected '[' before the names of ops, found 'relu'"),
    ('pattern.rule "r" fast fast : relu(%x) => %x', 23, "a rule has one 'numerics', found another one"),
    ('pattern.rule "r" doc "a" exact doc "b" : relu(%x) => %x', 32, "a rule has one 'doc', found another one"),
    ('pattern.rule r : relu(%x) => %x', 14, "string literal expected for the name of the rule"),
    ('pattern.define "p"(%x) : relu(%x) where float(%x)', 35, "expected the end of the pattern, found 'where'"),
    ('pattern.define "p" : relu(%x)', 20, "expected '(' before the parameters of the pattern, found ':'"),
    ('pattern.define "p"(x) : relu(%x)', 20, "expected a parameter, found 'x'"),
    ('pattern.group_rule "g" : [] %a into reduction %b', 27, "expected the kind of a group, found ']'"),
    ('pattern.group_rule "g" : elementwise %a into reduction %b or', 59, "expected the end of the rule, found 'or'"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "column", "message"), WHOLE, ids=[each[0] for each in WHOLE])
def test_errors_around_the_equation(text: str, column: int, message: str) -> None:
    with pytest.raises(StepwellError) as caught:
        parse_text(make_context(), text, "r.mlir")
    assert f"r.mlir:1:{column}: error: {message}" in str(caught.value)


# What a loaded rule can never mean

MEANINGLESS = [
    ("%x => relu(%x)", 1, "the root of a rule must be a 'pattern.op' or another pattern of what an op computes"),
    ("relu(%x) => %x where float(relu(%x))", 28, "op 'graph.relu' is not connected to the root, and no condition"),
    ("concat(%xs..., %x) => %x", 8, "a rest of operands must be the last operand"),
    ("pattern.assoc(%x * %y / %z) => %x", 1, "re-associated forms do not give the same bits"),
    ("relu(%x), exp(%y) => exp(%x), relu(%y)", 11, "pattern 2 of several shares no value with those before it"),
    ("relu(relu(%x) #1) => relu(%x)", 6, "'graph.relu' has no result 1, its results are 0"),
    ('block(parallel %i) {%s...} => decide(%root, a.b = 1) because "r"', 7, "a block is spatial or reduce, found"),
    ('nest(spatial %i) {%s...} => decide(%root, a.b = 1) because "r"', 6, "a nest is serial or parallel or vectorized"),
]  # fmt: skip


@pytest.mark.parametrize(("equation", "column", "message"), MEANINGLESS, ids=[each[0] for each in MEANINGLESS])
def test_rules_that_mean_nothing(equation: str, column: int, message: str) -> None:
    with pytest.raises(StepwellError) as caught:
        rules_of_text(HEAD + equation, "r.mlir")
    assert f"r.mlir:1:{len(HEAD) + column}: error: " in str(caught.value) and message in str(caught.value)


def test_an_op_of_a_list_takes_its_operands() -> None:
    with pytest.raises(StepwellError, match=r"r.mlir:1:66: error: .*'graph.add' takes 2 operands .*, found 1"):
        rules_of_text('pattern.rule "r" for %f in [add, multiply] : %f(relu(%x), %y) => %f(%x)', "r.mlir")


def test_operands_in_any_order_have_no_place() -> None:
    """The condition of `where` is a boolean, but here any of the three patterns may stand for it."""
    (found,) = rules_of_text(HEAD + "unordered where(%x has dtype f32, %c has dtype i1, %y) => %x")
    assert found.lhs.is_unordered  # type: ignore[attr-defined]
    with pytest.raises(StepwellError, match="element type f32 and element type i1, as 'graph.where' takes it"):
        rules_of_text(HEAD + "where(%x has dtype f32, %c has dtype i1, %y) => %x")


def test_messages_name_the_size_of_an_op_without_a_name() -> None:
    with pytest.raises(StepwellError, match=r"the formula 'size\(%abs, 0\) \+ %x == 2'"):
        rules_of_text(HEAD + "relu(abs(%x) has shape [%n]) => %x where %n + %x == 2", "r.mlir")


# In Python


def test_wrong_rules_in_python() -> None:
    for made, message in (
        (
            lambda: rule("r", relu(x), is_op(("graph.sin", "graph.cos"))(x)),
            "a new op has one name, found graph.sin or graph.cos",
        ),
        (lambda: ops_after([rule("r", relu(x), Constant())], "%r = relu(%x)"), "a part without a name is not bound"),
        (lambda: relu(x.has_shape("n")), "a shape has integers from 0 on and None, found 'n'"),  # type: ignore[arg-type]
        (lambda: relu(x.has_shape(-1)), "a shape has integers from 0 on and None, found -1"),
        (
            lambda: ops_after([rule("r", relu(x), x, compare("size(%x, 0) == 4", x))], "%r = relu(%x)"),
            r"the formula 'size\(%x, 0\) == 4' has no thing %x\nhint: there are \$0",
        ),
        (
            lambda: ops_after([callback("r", relu(x), lambda match: 3)], "%r = relu(%x)"),
            "the function of rule 'r' gives values and ops, or None to decline, found 3",
        ),
    ):
        with pytest.raises((StepwellError, TypeError, OperationError), match=message):
            made()


def test_the_contrary_of_a_contrary() -> None:
    wanted = compare("size($0, 0) == 4", x)
    assert negated(negated(wanted)) == wanted
    assert negated(negated(require("float", x, remark="no"))) == require("float", x, remark="no")
    assert ops_after([rule("r", relu(x), is_op("graph.exp")(x), negated(negated(wanted)))], "%r = relu(%x)") == [
        "exp %x"
    ]


def test_a_captured_axis_is_a_number_from_the_start() -> None:
    axis = Capture("k")
    found = rule("r", softmax(x, axis=axis), is_op("graph.exp")(x), compare("$0 == rank($1) - 1", axis, x))
    assert ops_after([found], "%r = softmax(%m), axis = -1") == ["exp %m"]
    assert ops_after([found], "%r = softmax(%m), axis = -2") == ["softmax %m, axis = -2"]
