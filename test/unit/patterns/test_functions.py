"""Rules of two functions in whole programs; the table at the end says which situation each test covers."""

from __future__ import annotations

from pathlib import Path

import pytest
from function_rules import (
    ADD,
    CHAIN,
    CTX,
    MULTIPLY,
    M,
    V,
    b,
    double,
    function,
    functions,
    main,
    names,
    of_two,
    product,
    run,
    u,
)
from stepwell.core.messages.diagnostics import listening
from stepwell.core.text.parsing import parse_text
from stepwell.rewrites.rules.apply_patterns import ApplyPatternsPass
from xdsl.utils.exceptions import PassFailedException

from . import test_functions_types as types
from .test_functions_errors import ERRORS

SPLIT = f"%h, %k = graph.split %x, sections = 2 : (tensor<32xf32>) -> ({V}, {V})\n"


def test_rule_of_a_module() -> None:
    program = main(SPLIT + b("%r", "add", "%h", "%k"), parameters="%x: tensor<32xf32>")
    assert names(run(ADD, program)) == ["split", "maximum"]


def test_all_functions_of_a_module() -> None:
    program = main(b("%r", "add", "%x", "%y")) + function("other", f"%p: {V}", b("%r", "add", "%p", "%p"), "%r", V)
    module = run(ADD, program)
    assert (names(module), names(module, "other")) == (["maximum"], ["maximum"])


def test_as_a_pass(tmp_path: Path) -> None:
    path = tmp_path / "rules.mlir"
    path.write_text(ADD)
    module = parse_text(CTX, main(b("%r", "add", "%x", "%x")), "p.mlir")
    ApplyPatternsPass(file=str(path)).apply(CTX, module)
    assert names(module) == ["maximum"]


def test_several_places() -> None:
    program = main(b("%s", "add", "%x", "%x") + b("%r", "add", "%s", "%s"))
    assert names(run(ADD, program)) == ["maximum", "maximum"]


def test_rules_of_two_files(tmp_path: Path) -> None:
    first, second = tmp_path / "a.mlir", tmp_path / "b.mlir"
    first.write_text(ADD)
    second.write_text(MULTIPLY)
    module = parse_text(CTX, main(b("%s", "add", "%x", "%y") + b("%r", "multiply", "%z", "%s")), "p.mlir")
    ApplyPatternsPass(file=str(first), also=(str(second),)).apply(CTX, module)
    assert names(module) == ["maximum", "minimum"]
    with pytest.raises(PassFailedException, match="rule 'add' is in '.*a.mlir' and in '.*a.mlir'"):
        ApplyPatternsPass(file=str(first), also=(str(first),)).apply(CTX, module)


def test_rule_on_what_another_one_made() -> None:
    """a + a = a * 2, which is the product of the second rule; the constant has no operands."""
    two = f"%two = graph.full 2.0 : tensor<f32>\n{b('%r', 'multiply', '%a', '%two', V, 'tensor<f32>', V)}"
    double = of_two("double", f"%a: {V}", b("%r", "add", "%a", "%a"), two)
    scalar = "tensor<f32>"
    product = of_two(
        "product",
        f"%a: {V}, %b: {scalar}",
        b("%r", "multiply", "%a", "%b", V, scalar, V),
        b("%r", "subtract", "%a", "%b", V, scalar, V),
    )
    module = run(double + product, main(b("%r", "add", "%x", "%x")))
    assert names(module) == ["full", "subtract"]
    assert names(run(product + double, main(b("%r", "add", "%x", "%x")))) == ["full", "subtract"]


# Several results


TWO_PRODUCTS = of_two(
    "two_products",
    f"%a: {M}, %b: {M}, %s: {M}",
    product("%p", "%a", "%s") + product("%q", "%b", "%s"),
    f"""%ab = graph.concat %a, %b, axis = 0 : ({M}, {M}) -> tensor<8x4xf32>
%m = graph.matmul %ab, %s : (tensor<8x4xf32>, {M}) -> tensor<8x4xf32>
%p, %q = graph.split %m, sections = 2, axis = 0 : (tensor<8x4xf32>) -> ({M}, {M})""",
    "%p, %q",
    f"{M}, {M}",
)
THREE = f"%x: {M}, %y: {M}, %z: {M}"
BOTH = product("%p", "%x", "%z") + product("%q", "%y", "%z")


def test_several_results_used_together() -> None:
    module = run(TWO_PRODUCTS, main(BOTH + b("%r", "add", "%p", "%q", M), types=M, parameters=THREE))
    assert names(module) == ["concat", "matmul", "split", "add"]


def test_several_results_returned() -> None:
    module = run(TWO_PRODUCTS, main(BOTH, "%p, %q", f"{M}, {M}", THREE))
    assert names(module) == ["concat", "matmul", "split"]


def test_several_results_used_apart() -> None:
    body = BOTH + u("%c", "exp", "%p", M) + u("%d", "sin", "%q", M)
    module = run(TWO_PRODUCTS, main(body, "%c, %d", f"{M}, {M}", THREE))
    assert names(module) == ["concat", "matmul", "split", "exp", "sin"]


SHARED = of_two(
    "shared",
    f"%a: {V}, %b: {V}, %c: {V}",
    b("%p", "subtract", "%a", "%b") + b("%q", "subtract", "%b", "%c"),
    b("%p", "maximum", "%a", "%b") + b("%q", "minimum", "%b", "%c"),
    "%p, %q",
    f"{V}, {V}",
)


def test_results_that_share_a_parameter() -> None:
    body = b("%p", "subtract", "%x", "%y") + b("%q", "subtract", "%y", "%z") + b("%r", "multiply", "%p", "%q")
    assert names(run(SHARED, main(body))) == ["maximum", "minimum", "multiply"]


def test_no_results_that_do_not_share_it() -> None:
    body = b("%p", "subtract", "%x", "%y") + b("%q", "subtract", "%z", "%w") + b("%r", "multiply", "%p", "%q")
    program = main(body, parameters=f"%x: {V}, %y: {V}, %z: {V}, %w: {V}")
    assert names(run(SHARED, program)) == ["subtract", "subtract", "multiply"]


def test_no_place_where_all_results_could_be_made() -> None:
    """The second product needs a user of the first."""
    body = (
        product("%p", "%x", "%z")
        + product("%pq", "%p", "%y")
        + product("%q", "%pq", "%z")
        + b("%r", "add", "%p", "%q", M)
    )
    told: list[str] = []
    with listening(lambda diagnostic: told.append(diagnostic.message)):
        module = run(TWO_PRODUCTS, main(body, types=M, parameters=THREE))
    assert names(module) == ["matmul", "matmul", "matmul", "add"]
    assert told and all("rule 'two_products'" in each for each in told)


def test_three_results_below_which_is_one_op() -> None:
    three = f"({V}, {V}, {V})"
    split = f"%s0, %s1, %s2 = graph.split %a, sections = 3 : (tensor<48xf32>) -> {three}\n"
    ends = u("%p", "sin", "%s0") + u("%q", "cos", "%s1") + u("%t", "exp", "%s2")
    others = u("%p", "exp", "%s0") + u("%q", "sin", "%s1") + u("%t", "cos", "%s2")
    rules = of_two("three", "%a: tensor<48xf32>", split + ends, split + others, "%p, %q, %t", f"{V}, {V}, {V}")
    body = (split + ends).replace("%a", "%x") + b("%v", "subtract", "%p", "%q") + b("%r", "subtract", "%v", "%t")
    module = run(rules, main(body, parameters="%x: tensor<48xf32>"))
    assert names(module) == ["split", "exp", "sin", "cos", "subtract", "subtract"]


def test_all_results_of_an_op_with_several() -> None:
    split = f"%p, %q = graph.split %a, sections = 2 : (tensor<32xf32>) -> ({V}, {V})\n"
    slices = "".join(
        (
            f"%{name} = graph.strided_slice %a, axes = [0], begin = [{start}], end = [{start + 16}] : "
            f"(tensor<32xf32>) -> {V}\n"
        )
        for name, start in (("p", 0), ("q", 16))
    )
    rules = of_two("split", "%a: tensor<32xf32>", split, slices, "%p, %q", f"{V}, {V}")
    program = main(SPLIT + b("%r", "add", "%h", "%k"), parameters="%x: tensor<32xf32>")
    assert names(run(rules, program)) == ["strided_slice", "strided_slice", "add"]


# What must not be


CHAIN_BODY = [product("%p", "%x", "%y"), b("%r", "add", "%p", "%z", M)]
PRINT = "func.func private @print()\n"
CALL = "func.call @print() : () -> ()\n"


def test_nothing_is_computed_twice() -> None:
    told: list[str] = []
    body = "".join(CHAIN_BODY) + b("%s", "multiply", "%p", "%r", M)
    with listening(lambda diagnostic: told.append(diagnostic.message)):
        module = run(CHAIN, main(body, "%s", M, THREE))
    assert names(module) == ["matmul", "add", "multiply"]
    assert told == ["'graph.add': not replaced: %p is used outside of the pattern"]


def test_what_computes_nothing_may_have_users_outside() -> None:
    rules = of_two("double", f"%a: {V}", u("%n", "negative", "%a") + u("%r", "negative", "%n"), "", "%r").replace(
        f"{{\n\nfunc.return %r : {V}", f"{{\nfunc.return %a : {V}"
    )
    body = u("%n", "negative", "%x") + u("%m", "negative", "%n") + b("%r", "subtract", "%n", "%m")
    assert names(run(rules, main(body))) == ["negative", "subtract"]


def test_no_order_across_an_effect() -> None:
    told: list[str] = []
    with listening(lambda diagnostic: told.append(diagnostic.message)):
        module = run(
            CHAIN,
            main(CALL + CHAIN_BODY[0] + CALL + CHAIN_BODY[1] + CALL, types=M, parameters=THREE, more=PRINT),
        )
    assert names(module) == ["func.call", "matmul", "func.call", "add", "func.call"]
    assert told == ["'graph.add': not replaced: an effect stands in between"]


def test_between_effects() -> None:
    module = run(CHAIN, main(CALL + CHAIN_BODY[0] + CHAIN_BODY[1] + CALL, types=M, parameters=THREE, more=PRINT))
    assert names(module) == ["func.call", "matmul", "subtract", "func.call"]


def test_pure_calls_and_branches_in_between_are_no_effect() -> None:
    other = function("other", f"%p: {M}", u("%r", "exp", "%p", M), "%r", M, private=True)
    call = f"%o = func.call @other(%x) : ({M}) -> {M}\n"
    branch = f"%i = scf.if %c -> ({M}) {{\nscf.yield %o : {M}\n}} else {{\nscf.yield %x : {M}\n}}\n"
    body = CHAIN_BODY[0] + call + branch + CHAIN_BODY[1]
    module = run(CHAIN, main(body, "%r, %i", f"{M}, {M}", THREE + ", %c: i1", more=other))
    assert names(module) == ["func.call", "scf.if", "matmul", "subtract"]


def test_no_move_into_a_branch() -> None:
    inside = f"%i = scf.if %c -> ({M}) {{\n{CHAIN_BODY[1]}scf.yield %r : {M}\n}} else {{\nscf.yield %x : {M}\n}}\n"
    module = run(CHAIN, main(CHAIN_BODY[0] + inside, "%i", M, THREE + ", %c: i1"))
    assert names(module) == ["matmul", "scf.if", "add"]


def test_within_branches() -> None:
    body = (
        f"%r = scf.if %c -> ({V}) {{\n{b('%t', 'add', '%x', '%y')}scf.yield %t : {V}\n}} else {{\n"
        f"{b('%s', 'add', '%x', '%y')}{b('%t', 'add', '%s', '%y')}scf.yield %t : {V}\n}}\n"
    )
    module = run(ADD, main(body, parameters=f"%x: {V}, %y: {V}, %c: i1"))
    assert names(module) == ["scf.if", "maximum", "maximum", "maximum"]


# Functions that come with a rule


def test_private_function_of_a_rule() -> None:
    module = run(double("double", "add"), main(b("%s", "add", "%x", "%x") + b("%r", "add", "%s", "%s")))
    assert names(module) == ["func.call", "func.call"]
    assert functions(module) == ["main", "subroutine"]
    assert names(module, "subroutine") == ["full", "multiply"]


def test_only_functions_that_are_called() -> None:
    rules = double("double", "add") + double("square", "multiply").replace("subroutine", "unused")
    module = run(rules, main(b("%r", "add", "%x", "%x")))
    assert functions(module) == ["main", "subroutine"]


def test_functions_of_one_name() -> None:
    rules = double("double", "add") + double("square", "divide", "subtract")
    module = run(rules, main(b("%s", "add", "%x", "%x") + b("%r", "divide", "%s", "%s")))
    assert functions(module) == ["main", "subroutine", "subroutine_1"]
    assert names(module, "subroutine_1") == ["full", "subtract"]
    assert "@subroutine_1" in str(module.body.block.first_op)


@pytest.mark.parametrize(("there", "found"), [("multiply", []), ("subtract", ["subroutine_1"])])
def test_function_of_the_name_that_is_there_already(there: str, found: list[str]) -> None:
    """An equal one is called, another one is left alone."""
    body = f"%two = graph.full 2.0 : tensor<f32>\n{b('%r', there, '%a', '%two', V, 'tensor<f32>', V)}"
    more = function("subroutine", f"%a: {V}", body, "%r", V, private=True)
    module = run(double("double", "add"), main(b("%r", "add", "%x", "%x"), more=more))
    assert functions(module) == ["main", "subroutine", *found]
    assert f"func.call @{(found or ['subroutine'])[0]}" in str(module)


def test_no_call_for_other_types() -> None:
    type_ = "tensor<8xf32>"
    program = main(b("%r", "add", "%x", "%x", type_), types=type_, parameters=f"%x: {type_}")
    assert functions(run(double("double", "add"), program)) == ["main"]


SITUATIONS = """
The situations of the test suite of the Relax rewriter of TVM (tests/python/relax/test_dataflow_rewriter.py), one by
one.

| situation | test |
|---|---|
| a rule is a pair of functions in a module | test_rule_of_a_module |
| pattern missing | test_error[no pattern] |
| pattern is no function of this kind | test_error[pattern of another kind] |
| replacement missing | test_error[no replacement] |
| replacement is no function of this kind | test_error[replacement of another kind] |
| static shapes differ | test_error[other shapes] |
| applied to a module | test_all_functions_of_a_module |
| as a pass | test_as_a_pass |
| one rule at several places | test_several_places |
| composition of rules | test_rules_of_two_files |
| rules on what others made, to a fixed point | test_rule_on_what_another_one_made |
| unknown element type | test_wildcard_types, test_a_constant_of_any_element_type |
| private functions come with a rule | test_private_function_of_a_rule |
| only those that are needed | test_only_functions_that_are_called |
| public ones are refused | test_error[public function] |
| rules may use one name for them | test_functions_of_one_name |
| a tuple that is used | test_several_results_used_together |
| a tuple that is returned | test_several_results_returned |
| a tuple that is not there as one | test_several_results_used_apart |
| its elements share a parameter | test_results_that_share_a_parameter |
| not, when the shared one differs | test_no_results_that_do_not_share_it |
| not, if something is computed twice | test_no_place_where_all_results_could_be_made, test_nothing_is_computed_twice |
| three elements | test_three_results_below_which_is_one_op |
| an effect in between | test_no_order_across_an_effect |
| between effects | test_between_effects |
| in branches | test_within_branches, test_no_move_into_a_branch |
| dynamic shapes | test_dynamic_results_that_share_a_parameter, test_no_dynamic_program_for_a_static_pattern |
| dynamic pattern, dynamic program | test_dynamic_pattern |

Our programs have no tuples: results of several ops stand for them. A pattern returns all results of an op or none, so
the third element of the one with three is an op of its own.
"""


def test_table_names_tests() -> None:
    rows = [line.split("|")[2] for line in SITUATIONS.splitlines() if line.startswith("| ")][1:]
    assert len(rows) == 28
    for row in rows:
        for name in row.split(","):
            test, _, case = name.strip().partition("[")
            assert case.removesuffix("]") in ERRORS if test == "test_error" else test in {**globals(), **vars(types)}
