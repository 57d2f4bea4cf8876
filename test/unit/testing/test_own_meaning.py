"""Rules over ops without a reference in NumPy are compared by what the ops themselves say, and the output tells."""

from __future__ import annotations

import pytest
from stepwell import te
from stepwell.core.text.parsing import make_context
from stepwell.dialects import graph
from stepwell.dialects.graph.base import PureTemplateOp, TensorOp, shaped_of
from stepwell.patterns.text.loading import rules_of_text
from stepwell.testing.rules.checking import Settings, check_rule
from stepwell.testing.rules.reporting import Report, report_text, summary
from xdsl.ir import Dialect
from xdsl.irdl import irdl_op_definition


class OfOneOp(TensorOp):
    """An op whose result is like its operand."""

    operand = graph.tensor_operand("F")
    result = graph.tensor_result()

    @classmethod
    def infer(cls, operand: graph.Shaped) -> tuple[graph.Shaped, ...]:
        return (operand,)


@irdl_op_definition
class SquareOp(graph.PureGraphOp, OfOneOp):
    name = "own.square"

    def te(self, *operands: te.Tensor) -> tuple[te.Tensor, ...]:
        (x,) = operands
        return (te.compute(x.shape, lambda *at: x[at] * x[at], name="square"),)


@irdl_op_definition
class PositiveOp(graph.PureGraphOp, OfOneOp):
    name = "own.positive"

    def te(self, *operands: te.Tensor) -> tuple[te.Tensor, ...]:
        (x,) = operands
        zero = te.const(0, x.dtype)
        checked = lambda *at: te.check(x[at] > zero, x[at], "own.positive: not positive")  # noqa: E731
        return (te.compute(x.shape, checked, name="positive"),)


@irdl_op_definition
class TwiceOp(PureTemplateOp, OfOneOp):
    name = "own.twice"

    def loop_function(self) -> str:
        shape, dtype = shaped_of(self.operands[0].type, "the operand")
        type_ = f"memref<{'x'.join(map(str, (*shape, dtype)))}>"
        grid = ", ".join(f"%i{axis}" for axis in range(len(shape)))
        bound = ", ".join(f"%v{axis} in {size} = %i{axis}" for axis, size in enumerate(shape))
        at = ", ".join(f"%v{axis}" for axis in range(len(shape)))
        return f"""tensor_loop.func @twice(%x: {type_}) outs(%y: {type_}) {{
          tensor_loop.grid ({grid}) in ({", ".join(map(str, shape))}) {{
            tensor_loop.block "twice" spatial({bound}) {{
              %a = memref.load %x[{at}] : {type_}
              %b = arith.addf %a, %a : {dtype}
              memref.store %b, %y[{at}] : {type_}
            }}
          }}
        }}"""


@irdl_op_definition
class SecretOp(OfOneOp):
    name = "own.secret"


CTX = make_context()
CTX.load_dialect(Dialect("own", [SquareOp, PositiveOp, TwiceOp, SecretOp], []))


def check(text: str) -> Report:
    (one,) = rules_of_text(text, ctx=CTX)
    return check_rule(one, Settings(cases=6), CTX)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('"square" : own.square(-%x) => own.square(%x)', "'own.square' is computed by its te"),
        ('"twice" : own.twice(-%x) => -own.twice(%x)', "'own.twice' is computed by its loop_function"),
    ],
)
def test_a_right_rule_passes(text: str, told: str) -> None:
    report = check(f"pattern.rule {text}")
    assert report.is_good, report_text(report)
    assert summary([report]) == f"no reference in NumPy: {told}\n1 rules: 1 right, 0 wrong, 0 not exercised"


@pytest.mark.parametrize("text", ["own.square(-%x) => -own.square(%x)", "own.twice(-%x) => own.twice(%x)"])
def test_a_wrong_rule_is_found(text: str) -> None:
    report = check(f'pattern.rule "wrong" : {text}')
    assert report.verdict == "different"


def test_a_check_that_fails_in_te_is_a_failure_of_the_program() -> None:
    report = check('pattern.rule "checked" : own.square(%x) => own.positive(own.square(%x))')
    assert report.reason == "the program fails after the rule: own.positive: not positive"


def test_an_op_without_any_meaning_is_named() -> None:
    report = check('pattern.rule "secret" : own.secret(own.secret(%x)) => own.secret(%x)')
    assert report.reason == "there is nothing to compare: 'own.secret' has no reference in NumPy, nor a te"
    assert summary([report]) == "1 rules: 0 right, 0 wrong, 1 not exercised"
