"""The kind and the rows of every graph op, read off its tensor expressions and off the loop function made from it."""

from __future__ import annotations

import pytest
import stepwell
from counts import FULL
from stepwell.analysis.kinds import OpKind
from stepwell.analysis.op_kind import facts_of_op, kind_of_op
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context
from stepwell.dialects.graph.calls import CallKernelOp
from stepwell.dialects.traits import LoopSemantics, LoopTemplate
from stepwell.testing.programs.ir_generators import RandomChooser, batch_text
from stepwell.testing.programs.movement_generators import FAMILIES, random_case

CASES = 30 if FULL else 3
OPS = [(family, op) for family, generators in FAMILIES.items() for op in generators]


@pytest.mark.ci_cases(11)
@pytest.mark.parametrize(("family", "op"), OPS, ids=[op for _, op in OPS])
def test_both_ways_agree(family: str, op: str) -> None:
    choose = RandomChooser(sum(map(ord, op)))
    cases = [random_case(choose, family, op) for _ in range(CASES)]
    module = stepwell.parse(batch_text(cases))
    ops = [each for each in module.walk() if isinstance(each, LoopSemantics | LoopTemplate)]
    assert len(ops) >= len(cases)
    expected = [facts_of_op(each) for each in ops]
    shown = [str(each) for each in ops]
    run_pipeline(make_context(), module, "lower-graph-to-loops")
    calls = [each for each in module.walk() if isinstance(each, CallKernelOp)]
    for text, facts, call in zip(shown, expected, calls, strict=True):
        found = facts_of_op(call)
        assert (found.kind.name, found.rows) == (facts.kind.name, facts.rows), f"{text}\n{call.kernel()}"


def test_what_is_opaque_has_no_rows() -> None:
    module = stepwell.parse(
        """func.func @main(%x: tensor<5x8xi32>) -> tensor<5x8xi32> {
          %0 = graph.cumulative_sum %x, axis = 0 : (tensor<5x8xi32>)
          func.return %0 : tensor<5x8xi32>
        }"""
    )
    run_pipeline(make_context(), module, "lower-graph-to-loops")
    (call,) = [each for each in module.walk() if isinstance(each, CallKernelOp)]
    facts = facts_of_op(call)
    assert (facts.kind.name, facts.rows) == ("OPAQUE", None)


def kernel_kind(body: str, outputs: str = "%o: memref<4x6xf32>") -> OpKind:
    program = f"""
    func.func @main(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {{
      %0 = graph.call_kernel @k(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>
      func.return %0 : tensor<4x6xf32>
    }}
    tensor_loop.func private @k(%a: memref<4x6xf32>) outs({outputs}) {{ {body} }}
    """
    (call,) = [op for op in stepwell.parse(program).walk() if isinstance(op, CallKernelOp)]
    return kind_of_op(call)


def spatial(body: str) -> str:
    return f"""tensor_loop.grid (%i, %j) in (4, 6) {{
      tensor_loop.block "b" spatial(%vi in 4 = %i, %vj in 6 = %j) {{ {body} }}
    }}"""


LOAD = "%v = memref.load %a[%vi, %vj] : memref<4x6xf32>"
STORE = "memref.store %v, %o[%vi, %vj] : memref<4x6xf32>"


class TestWrittenByHand:
    def test_a_map(self) -> None:
        assert kernel_kind(spatial(f"{LOAD} {STORE}")) is OpKind.ELEMENTWISE

    def test_a_scatter_is_opaque(self) -> None:
        two = spatial(f"{LOAD} {STORE} {STORE}")
        assert kernel_kind(two) is OpKind.OPAQUE

    def test_no_block_is_opaque(self) -> None:
        assert kernel_kind("") is OpKind.OPAQUE

    def test_a_store_elsewhere_is_opaque(self) -> None:
        first = "%first = arith.constant 0 : index memref.store %v, %o[%vi, %first] : memref<4x6xf32>"
        assert kernel_kind(spatial(f"{LOAD} {first}")) is OpKind.OPAQUE

    def test_an_assert_is_opaque(self) -> None:
        ok = '%t = arith.constant true cf.assert %t, "no"'
        assert kernel_kind(f"{ok} {spatial(f'{LOAD} {STORE}')}") is OpKind.OPAQUE
