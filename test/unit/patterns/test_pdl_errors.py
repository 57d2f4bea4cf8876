"""PDL that the engine cannot run is an error at the op that says it, never a pattern that matches nothing."""

from __future__ import annotations

import pytest
from stepwell.core.messages.diagnostics import OperationError, StepwellError
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.patterns.running.driver import Driver
from stepwell.patterns.text.loading import rules_of_text

RELU = '%root = pdl.operation "graph.relu"(%x : !pdl.value) -> (%t : !pdl.type)'
HEAD = f"%t = pdl.type\n%x = pdl.operand\n{RELU}"
KEEP = "pdl.replace %root with (%x : !pdl.value)"


def pattern(head: str, body: str, root: str = " %root", name: str = " @rule", attributes: str = "") -> str:
    return f"pdl.pattern{name} : benefit(1) {{\n{head}\npdl.rewrite{root} {{\n{body}\n}}{attributes}\n}}\n"


WITH_RESULT = """%inner = pdl.operation "test.op" -> (%t, %t : !pdl.type, !pdl.type)
%v = pdl.result {} of %inner
%root = pdl.operation "graph.relu"(%v : !pdl.value) -> (%t : !pdl.type)"""

ERRORS = {
    "external rewrite": (
        f'pdl.pattern : benefit(1) {{\n{HEAD}\npdl.rewrite %root with "ext"\n}}',
        "5:1: error: 'pdl.rewrite': 'with' calls the function 'ext' outside of the pattern, which is not supported",
    ),
    "unknown op": (
        pattern(HEAD.replace("graph.relu", "graph.rleu"), KEEP),
        "4:1: error: 'pdl.operation': op 'graph.rleu' is unknown",
    ),
    "unknown dialect": (
        pattern(HEAD.replace("graph.relu", "grph.relu"), KEEP),
        "op 'grph.relu' is unknown: there is no dialect 'grph'",
    ),
    "unknown new op": (
        pattern(HEAD, '%new = pdl.operation "graph.tnh"(%x : !pdl.value)\npdl.replace %root with %new'),
        "6:1: error: 'pdl.operation': op 'graph.tnh' is unknown",
    ),
    "no result types": (
        pattern('%x = pdl.operand\n%root = pdl.operation "graph.relu"(%x : !pdl.value)', "pdl.erase %root"),
        "3:1: error: 'pdl.operation': 'graph.relu' has 1 result, 0 written: nothing would match",
    ),
    "too many results": (
        pattern(HEAD.replace("(%t : !pdl.type)", "(%t, %t : !pdl.type, !pdl.type)"), KEEP),
        "'graph.relu' has 1 result, 2 written: nothing would match",
    ),
    "no operands": (
        pattern('%t = pdl.type\n%root = pdl.operation "graph.relu" -> (%t : !pdl.type)', "pdl.erase %root"),
        "3:1: error: 'pdl.operation': 'graph.relu' has 1 operand, 0 written: nothing would match",
    ),
    "too many operands": (
        pattern(HEAD.replace("(%x : !pdl.value)", "(%x, %x : !pdl.value, !pdl.value)"), KEEP),
        "'graph.relu' has 1 operand, 2 written: nothing would match",
    ),
    "too many operands before a range": (
        pattern(
            "%r = pdl.operands\n"
            + HEAD.replace("(%x : !pdl.value)", "(%x, %x, %r : !pdl.value, !pdl.value, !pdl.range<value>)"),
            KEEP,
        ),
        "'graph.relu' has 1 operand, 2 written: nothing would match",
    ),
    "range before an operand": (
        pattern(
            (
                "%t = pdl.type\n%r = pdl.operands\n%x = pdl.operand\n"
                '%root = pdl.operation "test.op"(%r, %x : !pdl.range<value>, !pdl.value) -> (%t : !pdl.type)'
            ),
            KEEP,
        ),
        "5:1: error: 'pdl.operation': a range of operands must be the last operand of an op",
    ),
    "range before a type": (
        pattern(
            (
                '%t = pdl.type\n%ts = pdl.types\n%x = pdl.operand\n%root = pdl.operation "test.op"(%x : !pdl.value) '
                "-> (%ts, %t : !pdl.range<type>, !pdl.type)"
            ),
            KEEP,
        ),
        "5:1: error: 'pdl.operation': a range of types must be the last result type of an op",
    ),
    "results as operands": (
        pattern(
            '%t = pdl.type\n%x = pdl.operand\n%i = pdl.operation "test.op"(%x : !pdl.value) -> (%t : !pdl.type)\n'
            '%r = pdl.results of %i\n%root = pdl.operation "test.op"(%r : !pdl.range<value>) -> (%t : !pdl.type)',
            KEEP,
        ),
        "5:1: error: 'pdl.results': the results of an op as a range cannot be operands in the matching part",
    ),
    "group of results": (
        pattern(HEAD, "%r = pdl.results 0 of %root -> !pdl.value\npdl.replace %root with (%r : !pdl.value)"),
        "6:1: error: 'pdl.results': a group of results by its number is not supported",
    ),
    "result that is not there": (
        pattern("%t = pdl.type\n" + WITH_RESULT.format(2), "pdl.replace %root with (%v : !pdl.value)"),
        "4:1: error: 'pdl.result': result 2 is asked for, but 2 are written at the op",
    ),
    "result of a new op that is not there": (
        pattern(
            HEAD,
            (
                '%new = pdl.operation "graph.exp"(%x : !pdl.value)\n%v = pdl.result 1 of %new\n'
                "pdl.replace %root with (%v : !pdl.value)"
            ),
        ),
        "7:1: error: 'pdl.result': result 1 is asked for, but 'graph.exp' has 1",
    ),
    "operands of a new op": (
        pattern(
            HEAD,
            '%new = pdl.operation "graph.add"(%x : !pdl.value) -> (%t : !pdl.type)\npdl.replace %root with %new',
        ),
        "6:1: error: 'pdl.operation': 'graph.add' has 2 operands, 1 written",
    ),
    "no types to infer": (
        pattern(
            HEAD,
            (
                '%new = pdl.operation "arith.negf"(%x : !pdl.value)\n%v = pdl.result 0 of %new\n'
                "pdl.replace %root with (%v : !pdl.value)"
            ),
        ),
        "6:1: error: 'pdl.operation': no result types are written, and those of 'arith.negf' cannot be inferred",
    ),
    "regions": (
        pattern(
            HEAD,
            '%new = pdl.operation "scf.if"(%x : !pdl.value) -> (%t : !pdl.type)\npdl.replace %root with %new',
        ),
        "6:1: error: 'pdl.operation': 'scf.if' has regions, which PDL cannot make",
    ),
    "no change": (
        pattern(HEAD, '%new = pdl.operation "graph.exp"(%x : !pdl.value)'),
        "5:1: error: 'pdl.rewrite': the root is neither replaced nor erased, so the rule would apply for ever",
    ),
    "replaced twice": (
        pattern(HEAD, f"{KEEP}\n{KEEP}"),
        "7:1: error: 'pdl.replace': the op is replaced or erased already",
    ),
    "new op replaced": (
        pattern(HEAD, f'%new = pdl.operation "graph.exp"(%x : !pdl.value)\n{KEEP}\npdl.erase %new'),
        "8:1: error: 'pdl.erase': only ops of the pattern can be replaced or erased, not new ones",
    ),
    "root with results erased": (
        pattern(HEAD, "pdl.erase %root"),
        "6:1: error: 'pdl.erase': only ops without results, and pure ops below the root, can be erased",
    ),
    "op with an effect erased": (
        pattern(
            "%t = pdl.type\n" + WITH_RESULT.format(0),
            'pdl.erase %inner\n%new = pdl.operation "test.op" -> (%t : !pdl.type)\npdl.replace %root with %new',
        ),
        "7:1: error: 'pdl.erase': only ops without results, and pure ops below the root, can be erased",
    ),
    "no shared value": (
        pattern(
            f'{HEAD}\n%y = pdl.operand\n%other = pdl.operation "graph.exp"(%y : !pdl.value) -> (%t : !pdl.type)\n'
            'pdl.apply_native_constraint "same-block"(%root, %other : !pdl.operation, !pdl.operation)',
            KEEP,
        ),
        "6:1: error: 'pdl.operation': this op shares no value with the root of the pattern",
    ),
    "unknown constraint": (
        pattern(f'{HEAD}\npdl.apply_native_constraint "singel-use"(%root : !pdl.operation)', KEEP),
        "5:1: error: 'pdl.apply_native_constraint': unknown condition 'singel-use', did you mean 'single-use'?",
    ),
    "arguments of a constraint": (
        pattern(f'{HEAD}\npdl.apply_native_constraint "single-use"(%root, %x : !pdl.operation, !pdl.value)', KEEP),
        "5:1: error: 'pdl.apply_native_constraint': condition 'single-use' takes 1 value (thing), found 2",
    ),
    "constraint with results": (
        pattern(
            f'{HEAD}\n%a = pdl.apply_native_constraint "single-use"(%root : !pdl.operation) : !pdl.attribute',
            KEEP,
        ),
        "5:1: error: 'pdl.apply_native_constraint': a native constraint with results is not supported",
    ),
    "value that no op has": (
        pattern(f'{HEAD}\n%y = pdl.operand\npdl.apply_native_constraint "single-use"(%y : !pdl.value)', KEEP),
        (
            "6:1: error: 'pdl.apply_native_constraint': an argument from 'pdl.operand' is not known when the pattern "
            "matches"
        ),
    ),
    "attribute that no op has": (
        pattern(
            f"{HEAD}\n%a = pdl.attribute",
            '%new = pdl.operation "graph.exp"(%x : !pdl.value) {"k" = %a}\npdl.replace %root with %new',
        ),
        "7:1: error: 'pdl.operation': what 'pdl.attribute' stands for is not known when the pattern matches",
    ),
    "type that no op has": (
        pattern(
            f"{HEAD}\n%u = pdl.type",
            '%new = pdl.operation "graph.exp"(%x : !pdl.value) -> (%u : !pdl.type)\npdl.replace %root with %new',
        ),
        "7:1: error: 'pdl.operation': what 'pdl.type' stands for is not known when the pattern matches",
    ),
    "unknown builder": (
        pattern(
            HEAD,
            (
                '%new = pdl.apply_native_rewrite "with-operand"(%root, %x : !pdl.operation, !pdl.value) : '
                "!pdl.operation\npdl.replace %root with %new"
            ),
        ),
        "6:1: error: 'pdl.apply_native_rewrite': unknown builder 'with-operand', did you mean 'with-operands'?",
    ),
    "arguments of a builder": (
        pattern(
            HEAD,
            (
                '%new = pdl.apply_native_rewrite "reshape-to-result"(%root, %x : !pdl.operation, !pdl.value) : '
                "!pdl.operation\npdl.replace %root with %new"
            ),
        ),
        "6:1: error: 'pdl.apply_native_rewrite': builder 'reshape-to-result' takes 1 value (value), found 2",
    ),
    "builder of attributes": (
        pattern(
            HEAD,
            (
                '%new = pdl.apply_native_rewrite "with-operands"(%root, %x : !pdl.operation, !pdl.value) : '
                f"!pdl.attribute\n{KEEP}"
            ),
        ),
        "6:1: error: 'pdl.apply_native_rewrite': a native rewrite makes values, one range of values, or one op",
    ),
    "rewrite in the matching part": (
        pattern(
            (
                f'{HEAD}\n%v = pdl.apply_native_rewrite "with-operands"(%root, %x : !pdl.operation, !pdl.value) : '
                "!pdl.value"
            ),
            KEEP,
        ),
        "5:1: error: 'pdl.apply_native_rewrite': this op has no place before 'pdl.rewrite'",
    ),
    "attribute twice": (
        pattern(
            f"%a = pdl.attribute\n{HEAD}".replace("!pdl.value) ->", '!pdl.value) {"k" = %a, "k" = %a} ->'),
            KEEP,
        ),
        "5:1: error: 'pdl.operation': attribute 'k' is written twice",
    ),
    "constraint in the replacement": (
        pattern(HEAD, f'pdl.apply_native_constraint "single-use"(%root : !pdl.operation)\n{KEEP}'),
        "6:1: error: 'pdl.apply_native_constraint': this op has no place in 'pdl.rewrite'",
    ),
    "numerics": (
        pattern(HEAD, KEEP, attributes=' attributes {pattern.numerics = "loose"}'),
        "5:1: error: 'pdl.rewrite': pattern.numerics is \"loose\", expected one of exact, rounding, quantised, fast",
    ),
    "negative benefit": (
        pattern(HEAD, KEEP).replace("benefit(1)", "benefit(-1)"),
        "1:1: error: 'pdl.pattern': benefit is -1, expected a number from 0 on",
    ),
    "no body": (
        f"pdl.pattern : benefit(1) {{\n{HEAD}\npdl.rewrite %root\n}}",
        "5:1: error: 'pdl.rewrite': expected a body of one block",
    ),
    "name twice": (
        pattern(HEAD, KEEP) + f"builtin.module {{\n{pattern(HEAD, KEEP)}}}",
        "10:1: error: 'pdl.pattern': there are two rules called 'rule'",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_error(name: str) -> None:
    text, message = ERRORS[name]
    with pytest.raises(StepwellError) as error:
        rules_of_text(text, "r.mlir")
    first = str(error.value).splitlines()[0]
    assert message in first and first.startswith("r.mlir:")


def test_hint_of_missing_types() -> None:
    text, _ = ERRORS["no result types"]
    with pytest.raises(StepwellError, match=r"write each as in -> \(%type : !pdl.type\)"):
        rules_of_text(text)


def test_new_op_that_is_not_valid() -> None:
    new = '%new = pdl.operation "graph.matmul"(%x, %x : !pdl.value, !pdl.value){}\npdl.replace %root with %new'
    program = (
        "func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
        "%r = graph.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>\nfunc.return %r : tensor<2x3xf32>\n}"
    )
    inner = new.replace(
        "pdl.replace %root with %new", "%v = pdl.result 0 of %new\npdl.replace %root with (%v : !pdl.value)"
    )
    for body in (new, inner):
        module = parse_text(make_context(), program, "p.mlir")
        rules = rules_of_text(pattern(HEAD, body.replace("{}", "")))
        with pytest.raises(OperationError, match="rule 'rule' makes an invalid 'graph.matmul'") as error:
            Driver(make_context(), rules).run(module)
        point = error.value.diagnostic.point
        assert point is not None and (point.file, point.line) == ("p.mlir", 2)
