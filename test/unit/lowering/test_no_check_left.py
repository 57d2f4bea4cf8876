"""Of what our own lowering makes nothing is checked when it runs: every access is proven, and every read too."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from counts import FULL
from stepwell.core.passes.base import collecting_statistics
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "bench"))

from suite.programs import describe, load_cases
from suite.stepwell_engine import program_text

CASES = {case["name"]: case for case in load_cases() if case["class"] != "C8-call"}
"""All but the program that does nothing."""

FEW = ("gemm_100x100x768", "grouped3x3_512to512_g32_28x28_s2_b1", "softmax_128x1024", "mlp_784_128_10_b1")
TO_LOOPS = "graph-optimize,to-loops,prepack-weights,schedule-cpu,bufferize,lower-loops-to-scf"


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize("name", CASES if FULL else FEW)
def test_all_accesses_of_a_kernel_are_proven(name: str) -> None:
    module = parse(program_text(describe(CASES[name])))
    with collecting_statistics() as counted:
        run_pipeline(make_context(), module, TO_LOOPS)
    assert counted["accesses proven"] > 0
    assert {what for what in counted if what.endswith("checked")} == set()


def test_an_access_by_data_is_counted() -> None:
    """What the test above relies on: a check is counted."""
    text = """
    tensor_loop.func @main(%A: memref<64xf32>, %I: memref<16xi64>) outs(%S: memref<16xf32>) {
      tensor_loop.for %i in 16 {
        tensor_loop.block "take" spatial(%vi in 16 = %i) {
          %k = memref.load %I[%vi] : memref<16xi64>
          %j = arith.index_cast %k : i64 to index
          %a = memref.load %A[%j] : memref<64xf32>
          memref.store %a, %S[%vi] : memref<16xf32>
        }
      }
    }"""
    with collecting_statistics() as counted:
        run_pipeline(make_context(), parse(text), TO_LOOPS)
    assert counted["accesses checked"] == 1
