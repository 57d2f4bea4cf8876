"""Rules are checked when they are loaded: what can never mean what it says is an error at its place (AUDIT B2, C5)."""

from __future__ import annotations

import pytest
from rule_texts import KEEP, NORM, RELU, made, making, text_of
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.patterns.text.loading import rules_of_text

WRONG = {
    "op that is not reached": (
        (RELU, '%o = pattern.op "graph.exp"(%x)', KEEP),
        "4:1: error: 'pattern.op': rule 'r': the root does not reach this, so it would never be tested",
    ),
    "test that is not reached": (
        (RELU, "%t = pattern.has_dtype %x, f32", KEEP),
        "4:1: error: 'pattern.has_dtype': rule 'r': the root does not reach this",
    ),
    "not that is not reached": (
        (RELU, "%c = pattern.constant", "%t = pattern.not %c", KEEP),
        "4:1: error: 'pattern.constant': rule 'r': the root does not reach this",
    ),
    "condition that is not reached": (
        ('%h = pattern.holds %x, "float"', RELU, KEEP),
        "3:1: error: 'pattern.holds': rule 'r': the root does not reach this",
    ),
    "require of what is not matched": (
        (RELU, "%w = pattern.any", 'pattern.require "float"(%w)', KEEP),
        "5:1: error: 'pattern.require': rule 'r': %w is not bound by every match of the root",
    ),
    "new op that is not yielded": (
        making('%v = pattern.create "graph.exp"(%x)', '%w = pattern.create "graph.exp"(%x)', "pattern.yield %v"),
        "6:1: error: 'pattern.create': nothing that is yielded depends on this, so it would never be made",
    ),
    "property of a new op": (
        made('%v = pattern.create "graph.softmax"(%x) with {axes = 0}'),
        "5:1: error: 'pattern.create': rule 'r': 'graph.softmax' has no property 'axes'|did you mean 'axis'?",
    ),
    "property of a matched op": (
        ('%root = pattern.op "graph.softmax"(%x) with {axs = 0}', KEEP),
        "3:1: error: 'pattern.op': rule 'r': 'graph.softmax' has no property 'axs'|did you mean 'axis'?",
    ),
    "property of a test": (
        ('%s = pattern.op "graph.softmax"(%x)', "%root = pattern.has_attr %s with {axs = 0}", KEEP),
        "4:1: error: 'pattern.has_attr': rule 'r': 'graph.softmax' has no property 'axs'|did you mean 'axis'?",
    ),
    "captured property": (
        ('%root = pattern.op "graph.softmax"(%x)', '%a = pattern.attribute %root, "axs"', KEEP),
        "3:1: error: 'pattern.op': rule 'r': 'graph.softmax' has no property 'axs'|did you mean 'axis'?",
    ),
    "choice": (
        ('%root = pattern.op "graph.conv2d"(%x, %x) with {data_layout = "NHCW"}', KEEP),
        "3:1: error: 'pattern.op': rule 'r': 'data_layout' of 'graph.conv2d' takes \"NCHW\" or \"NHWC\", "
        "found \"NHCW\"|did you mean 'NHWC'?",
    ),
    "kind of a property": (
        ('%root = pattern.op "graph.clip"(%x) with {min = "a"}', KEEP),
        "3:1: error: 'pattern.op': rule 'r': 'min' of 'graph.clip' takes a number, found \"a\"",
    ),
    "an integer that equals no float": (
        (f"{NORM} with {{epsilon = 1}}", "%root = pattern.result %n, 0", KEEP),
        "3:1: error: 'pattern.op': rule 'r': 'epsilon' of 'graph.batch_norm' takes a number, found 1 : i64",
    ),
    "needed property": (
        made('%v = pattern.create "graph.reshape"(%x)'),
        "5:1: error: 'pattern.create': rule 'r': 'graph.reshape' needs the property 'shape'",
    ),
    "operands of a matched op": (
        ('%root = pattern.op "graph.add"(%x)', KEEP),
        "3:1: error: 'pattern.op': rule 'r': 'graph.add' takes 2 operands (lhs, rhs), found 1",
    ),
    "operands of a new op": (
        made('%v = pattern.create "graph.exp"(%x, %x)'),
        "5:1: error: 'pattern.create': rule 'r': 'graph.exp' takes 1 operand (operand), found 2",
    ),
    "result 7": (
        (NORM, "%q = pattern.result %n, 7", '%root = pattern.op "graph.relu"(%q)', KEEP),
        "4:1: error: 'pattern.result': rule 'r': 'graph.batch_norm' has no result 7, its results are 0 to 2",
    ),
    "result -1": (
        (NORM, "%q = pattern.result %n, -1", '%root = pattern.op "graph.relu"(%q)', KEEP),
        "4:1: error: 'pattern.result': rule 'r': 'graph.batch_norm' has no result -1, its results are 0 to 2",
    ),
    "three results as a value": (
        (NORM, '%root = pattern.op "graph.relu"(%n)', KEEP),
        "3:1: error: 'pattern.op': rule 'r': 'graph.batch_norm' has 3 results, and is no value"
        "|pattern.result picks one of its 3 results",
    ),
    "two element types": (
        ("%a = pattern.has_dtype %x, f32", "%b = pattern.has_dtype %a, i32",
         '%root = pattern.op "graph.relu"(%b)', KEEP),
        "3:1: error: 'pattern.has_dtype': rule 'r': nothing matches: %a is to have element type f32 and "
        "element type i32",
    ),
    "two element types by a condition": (
        ("%a = pattern.has_dtype %x, f32", '%root = pattern.op "graph.relu"(%a)',
         'pattern.require "dtype"(%x) with {is = i32}', KEEP),
        "5:1: error: 'pattern.require': rule 'r': nothing matches: %x is to have element type i32 and element type f32",
    ),
    "an element type that the op does not take": (
        ("%a = pattern.has_dtype %x, i32", '%root = pattern.op "graph.sin"(%a)', KEEP),
        "3:1: error: 'pattern.has_dtype': rule 'r': nothing matches: %a is to have element type i32 and element type "
        "float, as 'graph.sin' takes it",
    ),
    "operands of two element types": (
        ("%a = pattern.has_dtype %x, i32", "%y = pattern.any", "%b = pattern.has_dtype %y, f32",
         '%root = pattern.op "graph.add"(%a, %b)', KEEP),
        "6:1: error: 'pattern.op': rule 'r': 'graph.add' takes operands of one element type, found i32 and f32",
    ),
    "no element type": (
        ("%a = pattern.has_dtype %x, tensor<4xf32>", '%root = pattern.op "graph.relu"(%a)', KEEP),
        "3:1: error: 'pattern.has_dtype': rule 'r': an element type is expected, found tensor<4xf32>"
        "|pattern.has_type tests whole types",
    ),
    "two shapes": (
        ("%a = pattern.has_shape %x, [?, 3]", "%b = pattern.has_shape %a, [4, 4]",
         '%root = pattern.op "graph.relu"(%b)', KEEP),
        "3:1: error: 'pattern.has_shape': rule 'r': nothing matches: %a is to have shape [?, 3] and shape [4, 4]",
    ),
    "rest as a replacement": (
        ("%more = pattern.rest", '%root = pattern.op "graph.concat"(%x, %more)', "pattern.replace %root with %more"),
        "5:1: error: 'pattern.replace': rule 'r': a rest of operands cannot replace a result",
    ),
    "rest as a value": (
        ("%more = pattern.rest", "%t = pattern.has_dtype %more, f32",
         '%root = pattern.op "graph.concat"(%x, %t)', KEEP),
        "4:1: error: 'pattern.has_dtype': rule 'r': a rest of operands stands only as the last operand of an op",
    ),
    "dominates over itself": (
        ('%c = pattern.op "graph.relu"(%x)', "%root = pattern.dominates %c by %c over %c", KEEP),
        "4:1: error: 'pattern.dominates': rule 'r': the parent, the child and the path of a dominator are three "
        "patterns",
    ),
    "two ends": (
        (RELU, KEEP, KEEP),
        "4:1: error: 'pattern.replace': a rule ends once, but 'pattern.replace' comes after this",
    ),
    "parameter of a condition": (
        (RELU, 'pattern.require "dtype"(%x) with {iz = f32}', KEEP),
        "4:1: error: 'pattern.require': rule 'r': condition 'dtype' has no parameter 'iz'|its parameters: is",
    ),
    "needed parameter": (
        (RELU, 'pattern.require "dtype"(%x)', KEEP),
        "4:1: error: 'pattern.require': rule 'r': condition 'dtype' needs the parameter 'is'",
    ),
    "kind of a parameter": (
        (RELU, 'pattern.require "dtype"(%x) with {is = 3}', KEEP),
        "4:1: error: 'pattern.require': rule 'r': condition 'dtype': parameter 'is' takes a type, found 3 : i64",
    ),
    "number of values": (
        (RELU, 'pattern.require "same-type"(%x)', KEEP),
        "4:1: error: 'pattern.require': rule 'r': condition 'same-type' takes 2 values (first, second), found 1",
    ),
    "condition of another op": (
        (RELU, 'pattern.require "identity-permutation"(%root)', KEEP),
        "4:1: error: 'pattern.require': rule 'r': condition 'identity-permutation' takes 'graph.permute_dims', "
        "found 'graph.relu' (%root)",
    ),
    "condition of an op, about a value": (
        (RELU, 'pattern.require "first-result-only"(%x)', KEEP),
        "4:1: error: 'pattern.require': rule 'r': condition 'first-result-only' takes an op, found a value (%x)",
    ),
    "builder of another op": (
        made('%v = pattern.build "merged-clip"(%root, %root)'),
        "5:1: error: 'pattern.build': rule 'r': builder 'merged-clip' takes 'graph.clip', found 'graph.relu' (%root)",
    ),
    "builder without its parameter": (
        made('%v = pattern.build "full"()'),
        "5:1: error: 'pattern.build': rule 'r': builder 'full' needs the parameter 'value'",
    ),
    "attribute as a value": (
        ('%root = pattern.op "graph.softmax"(%x)', '%a = pattern.attribute %root, "axis"',
         'pattern.require "float"(%a)', KEEP),
        "5:1: error: 'pattern.require': rule 'r': condition 'float' takes a value or an op, found an attribute (%a)",
    ),
    "types that are not known": (
        making('%l = pattern.create "memref.load"(%x)', '%v = pattern.create "graph.exp"(%l)', "pattern.yield %v"),
        "5:1: error: 'pattern.create': rule 'r': the types of the results of 'memref.load' are not known here"
        "|it may replace the root, whose types it then has; elsewhere a builder makes it",
    ),
    "two values for one result": (
        making("pattern.yield %x, %x"),
        "5:1: error: 'pattern.yield': rule 'r': 2 values cannot replace 1 value",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_rule_is_an_error_at_its_place(case: str) -> None:
    """AUDIT B2, C5: each of these was dropped in silence, never matched, or died when it ran."""
    lines, expected = WRONG[case]
    message, _, hint = expected.partition("|")
    with pytest.raises(StepwellError) as caught:
        rules_of_text(text_of(*lines), "r.mlir")
    found = str(caught.value).splitlines()
    assert found[0].startswith(f"r.mlir:{message}")
    assert not hint or found[-1] == f"hint: {hint}"


def test_op_of_an_expression_that_is_not_reached() -> None:
    body = (
        "^bb0(%u: tensor<4xf32>):",
        '%0 = "graph.exp"(%u) : (tensor<4xf32>) -> tensor<4xf32>',
        "pattern.returns %u : tensor<4xf32>",
    )
    with pytest.raises(StepwellError, match="5:1: error: 'graph.exp': the expression does not depend on this op"):
        rules_of_text(text_of("%root = pattern.expression (%x) {", *body, "}", KEEP), "r.mlir")


RIGHT = {
    "list of integers": made('%v = pattern.create "graph.permute_dims"(%x) with {axes = [1, 0]}'),
    "attribute of a dialect": made('%v = pattern.create "graph.exp"(%x) with {my.tag = 1}'),
    "tests in two alternatives": (
        "%a = pattern.has_dtype %x, f32", "%b = pattern.has_dtype %x, i32", "%c = pattern.or %a, %b",
        '%root = pattern.op "graph.relu"(%c)', KEEP,
    ),
    "the opposite of a test": (
        "%a = pattern.has_dtype %x, f32", "%b = pattern.not %a", "%c = pattern.has_dtype %b, i32",
        '%root = pattern.op "graph.relu"(%c)', "pattern.replace %root with %c",
    ),
    "two tests that agree": (
        "%a = pattern.has_shape %x, [?, 3]", "%b = pattern.has_shape %a, [4, ?]",
        '%root = pattern.op "graph.relu"(%b)', KEEP,
    ),
    "one of several ops": ('%root = pattern.op "graph.sum | graph.mean"(%x) with {keepdims = true}', KEEP),
}  # fmt: skip


@pytest.mark.parametrize("case", RIGHT)
def test_right_rule_is_loaded(case: str) -> None:
    (found,) = rules_of_text(text_of(*RIGHT[case]))
    assert found.name == "r"
