"""Rules of two functions that are not valid: each message, at its place."""

from __future__ import annotations

import pytest
from function_rules import ANY_AXIS, M, V, b, double, function, of_two, softmax, u
from stepwell.core.ir.verification import VerificationError
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.patterns.text.loading import rules_of_text

AB = f"%a: {V}, %b: {V}"


LOOP_PATTERN = "tensor_loop.func @pattern(%a: memref<4xf32>) {\ntensor_loop.return\n}\n"
EXP = function("replacement", f"%a: {V}", u("%r", "exp", "%a"), "%r", V)
SIN = function("pattern", f"%a: {V}", u("%r", "sin", "%a"), "%r", V)
SPLIT_TWICE = f"%p, %q = graph.split %a, sections = 2 : (tensor<32xf32>) -> ({V}, {V})\n"

ERRORS = {
    "no pattern": (EXP, "1:1: error: 'func.func': there is '@replacement' but no function '@pattern'"),
    "no replacement": (SIN, "1:1: error: 'func.func': there is '@pattern' but no function '@replacement'"),
    "pattern of another kind": (
        (
            f'"llvm.func"() <{{sym_name = "pattern", function_type = !llvm.func<void ()>, CConv = #llvm.cconv<ccc>, '
            f'linkage = #llvm.linkage<"external">, visibility_ = 0 : i64}}> ({{}}) : () -> ()\n{EXP}'
        ),
        "1:1: error: 'llvm.func': '@pattern' is a 'llvm.func', expected a 'func.func'",
    ),
    "replacement of another kind": (
        (
            f'{SIN}"llvm.func"() <{{sym_name = "replacement", function_type = !llvm.func<void ()>, CConv = '
            f'#llvm.cconv<ccc>, linkage = #llvm.linkage<"external">, visibility_ = 0 : i64}}> ({{}}) : () -> ()\n'
        ),
        "'@replacement' is a 'llvm.func', expected a 'func.func'",
    ),
    "other shapes": (
        SIN + EXP.replace(V, "tensor<8xf32>"),
        (
            "'@replacement' has type (tensor<8xf32>) -> tensor<8xf32>, expected (tensor<16xf32>) -> tensor<16xf32> "
            "as '@pattern'"
        ),
    ),
    "other number of parameters": (
        SIN + EXP.replace(f"%a: {V}", f"%a: {V}, %b: {V}"),
        "'@replacement' has type (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>, expected",
    ),
    "no body": (
        f"func.func private @pattern({V}) -> {V}\n{EXP}",
        "1:1: error: 'func.func': '@pattern': expected a function of one block",
    ),
    "public function": (
        double("double", "add").replace("func.func private @subroutine", "func.func @subroutine"),
        "'@subroutine' is called by '@replacement' and must be private",
    ),
    "function that calls": (
        double("double", "add").replace(
            "%two = graph.full 2.0 : tensor<f32>",
            f"%c = func.call @subroutine(%a) : ({V}) -> {V}\n%two = graph.full 2.0 : tensor<f32>",
        ),
        "'@subroutine', which '@replacement' calls, must not call others",
    ),
    "some results of an op": (
        of_two("r", "%a: tensor<32xf32>", SPLIT_TWICE, SPLIT_TWICE, "%p", V),
        "'@pattern' must return all results of one op, or of each of several, each once",
    ),
    "a result of an op below and another root": (
        of_two(
            "r",
            "%a: tensor<32xf32>",
            SPLIT_TWICE + u("%r", "exp", "%p"),
            SPLIT_TWICE + u("%r", "exp", "%p"),
            "%r, %q",
            f"{V}, {V}",
        ),
        "'@pattern' must return all results of one op, or of each of several, each once",
    ),
    "a parameter returned": (
        of_two("r", AB, b("%r", "add", "%a", "%b"), b("%r", "add", "%a", "%b"), "%r, %a", f"{V}, {V}"),
        "'@pattern' must return all results of one op, or of each of several, each once",
    ),
    "nothing shared": (
        of_two(
            "r",
            AB,
            u("%p", "sin", "%a") + u("%q", "cos", "%b"),
            u("%p", "cos", "%a") + u("%q", "sin", "%b"),
            "%p, %q",
            f"{V}, {V}",
        ),
        "rule 'r': pattern 2 of several shares no value with those before it",
    ),
    "regions in the replacement": (
        SIN.replace(f"%a: {V}", f"%a: {V}, %c: i1").replace("sin %a", "sin %a")
        + function(
            "replacement",
            f"%a: {V}, %c: i1",
            f"%r = scf.if %c -> ({V}) {{\nscf.yield %a : {V}\n}} else {{\nscf.yield %a : {V}\n}}",
            "%r",
            V,
        ),
        "the result of '@pattern' does not depend on %c",
    ),
    "regions": (
        function(
            "pattern",
            f"%a: {V}, %c: i1",
            (
                f"%s = graph.sin %a : ({V}) -> {V}\n%r = scf.if %c -> ({V}) {{\nscf.yield %a : {V}\n}} else {{\n"
                f"scf.yield %a : {V}\n}}"
            ),
            "%r",
            V,
        )
        + function("replacement", f"%a: {V}, %c: i1", u("%r", "exp", "%a"), "%r", V),
        "an op with regions cannot be in a pattern of plain ops",
    ),
    "name of an attribute": (
        of_two("r", f"%a: {M}", softmax("%r", "%a"), softmax("%r", "%a", ANY_AXIS), types=M),
        "no attribute of '@pattern' is called 'k'",
    ),
    "names of attributes": (
        of_two(
            "r",
            f"%a: {M}",
            softmax("%r", "%a", " {pattern.attributes = 1 : i64}"),
            softmax("%r", "%a"),
            types=M,
        ),
        'pattern.attributes is 1 : i64, expected names by attribute, as in {axis = "a"}',
    ),
    "wildcard": (
        SIN.replace(f"%a: {V}", f"%a: {V} {{pattern.effects}}") + EXP,
        (
            "parameter 0 has the attribute pattern.effects, expected one of pattern.any_type, pattern.any_dtype, "
            "pattern.any_shape"
        ),
    ),
}


def test_function_of_a_rule_that_is_not_there() -> None:
    text = of_two("r", f"%a: {V}", u("%r", "sin", "%a"), f"%r = func.call @other(%a) : ({V}) -> {V}")
    with pytest.raises(VerificationError, match="'@other' could not be found in symbol table"):
        rules_of_text(text)


@pytest.mark.parametrize("name", ERRORS)
def test_error(name: str) -> None:
    text, message = ERRORS[name]
    with pytest.raises(StepwellError) as error:
        rules_of_text(text, "r.mlir")
    first = str(error.value).splitlines()[0]
    assert message in first and first.startswith("r.mlir:")
