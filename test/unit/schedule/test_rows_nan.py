"""Which maxima may pass over NaNs: softmax in elementary blocks, and what is almost one."""

from __future__ import annotations

import pytest
from stepwell.core.ir.walk import ops_of
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.dialects.tensor_loop import BlockOp, FuncOp
from stepwell.schedule.rows.maxima import relax_maxima

SOFTMAX = """
tensor_loop.func @f(%x: memref<6x80xf32>, %w: memref<6x80xf32>) outs(%y: memref<6x80xf32>) {
  %m = tensor_loop.alloc : memref<6xf32>
  %e = tensor_loop.alloc : memref<6x80xf32>
  %s = tensor_loop.alloc : memref<6xf32>
  %other = tensor_loop.alloc : memref<6xf32>
  tensor_loop.grid (%i, %k) in (6, 80) {
    tensor_loop.block "max" spatial(%vi in 6 = %i) reduce(%vk in 80 = %k) {
      init {
        %low = arith.constant 0xff800000 : f32
        memref.store %low, %m[%vi] : memref<6xf32>
      }
      %c = arith.constant 2.0 : f32
      %v0 = memref.load %x[%vi, %vk] : memref<6x80xf32>
      %v = arith.mulf %v0, %c : f32
      %a = memref.load %m[%vi] : memref<6xf32>
      %n = arith.maximumf %a, %v : f32
      memref.store %n, %m[%vi] : memref<6xf32>
    }
  }
  tensor_loop.grid (%i, %j) in (6, 80) {
    tensor_loop.block "exp" spatial(%vi in 6 = %i, %vj in 80 = %j) {
      %c = arith.constant 2.0 : f32
      %v0 = memref.load %x[%vi, %vj] : memref<6x80xf32>
      %v = arith.mulf %v0, %c : f32
      %a = memref.load %m[%vi] : memref<6xf32>
      %d = arith.subf %v, %a : f32
      %r = math.exp %d : f32
      memref.store %r, %e[%vi, %vj] : memref<6x80xf32>
    }
  }
  tensor_loop.grid (%i, %k) in (6, 80) {
    tensor_loop.block "sum" spatial(%vi in 6 = %i) reduce(%vk in 80 = %k) {
      init {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %s[%vi] : memref<6xf32>
      }
      %v = memref.load %e[%vi, %vk] : memref<6x80xf32>
      %a = memref.load %s[%vi] : memref<6xf32>
      %n = arith.addf %a, %v fastmath<reassoc> : f32
      memref.store %n, %s[%vi] : memref<6xf32>
    }
  }
  tensor_loop.grid (%i) in (6) {
    tensor_loop.block "scale" spatial(%vi in 6 = %i) {
      %one = arith.constant 1.0 : f32
      %v = memref.load %s[%vi] : memref<6xf32>
      %n = arith.divf %one, %v : f32
      memref.store %n, %s[%vi] : memref<6xf32>
    }
  }
  tensor_loop.grid (%i, %j) in (6, 80) {
    tensor_loop.block "out" spatial(%vi in 6 = %i, %vj in 80 = %j) {
      %v = memref.load %e[%vi, %vj] : memref<6x80xf32>
      %a = memref.load %s[%vi] : memref<6xf32>
      %n = arith.mulf %v, %a : f32
      memref.store %n, %y[%vi, %vj] : memref<6x80xf32>
    }
  }
}
"""


def relaxed(text: str, wide: bool = True) -> str:
    module = parse_text(make_context(), text, "test.mlir")
    module.verify()
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    relax_maxima(ops_of(function, BlockOp), wide)
    module.verify()
    return str(module)


def test_softmax_passes_over_nans_in_wide_registers() -> None:
    assert "arith.maxnumf" in relaxed(SOFTMAX)
    assert "arith.maxnumf" not in relaxed(SOFTMAX, wide=False)


def test_it_may_be_stored_in_the_place_of_the_result() -> None:
    text = SOFTMAX.replace("%e[", "%y[").replace("  %e = tensor_loop.alloc : memref<6x80xf32>\n", "")
    assert "arith.maxnumf" in relaxed(text)


def test_it_may_be_divided_by_the_sum() -> None:
    divided = SOFTMAX.replace("arith.mulf %v, %a", "arith.divf %v, %a")
    assert "arith.maxnumf" in relaxed(divided)


BLOCK = """
  tensor_loop.grid (%i, %j) in (6, 80) {
    tensor_loop.block "more" spatial(%vi in 6 = %i, %vj in 80 = %j) {
      BODY
    }
  }
}
"""

ALMOST = {
    "of other numbers": ("memref.load %x[%vi, %vj]", "memref.load %w[%vi, %vj]"),
    "of half of the numbers": (
        '(6, 80) {\n    tensor_loop.block "exp" spatial(%vi in 6 = %i, %vj in 80 = %j)',
        '(6, 40) {\n    tensor_loop.block "exp" spatial(%vi in 6 = %i, %vj in 40 = %j)',
    ),
    "of numbers computed otherwise": (
        "%v = arith.mulf %v0, %c : f32\n      %a = memref.load %m[%vi] : memref<6xf32>\n      %d",
        "%v = arith.addf %v0, %c : f32\n      %a = memref.load %m[%vi] : memref<6xf32>\n      %d",
    ),
    "without a sum": ("%n = arith.addf %a, %v fastmath<reassoc>", "%n = arith.mulf %a, %v fastmath<reassoc>"),
    "with a sum that is chosen from": (
        "%n = arith.divf %one, %v : f32\n      memref.store %n, %s",
        "%n = arith.maxnumf %one, %v : f32\n      memref.store %n, %s",
    ),
    "a result without the sum": (
        "memref.load %s[%vi] : memref<6xf32>\n      %n = arith.mulf",
        "memref.load %other[%vi] : memref<6xf32>\n      %n = arith.mulf",
    ),
    "a result that adds the sum": ("%n = arith.mulf %v, %a", "%n = arith.addf %v, %a"),
    "the exponentials are read elsewhere": (
        "}\n}\n",
        "}"
        + BLOCK.replace(
            "BODY",
            "%v = memref.load %e[%vi, %vj] : memref<6x80xf32>\n memref.store %v, %w[%vi, %vj] : memref<6x80xf32>",
        ),
    ),
    "the maximum is read elsewhere": (
        "}\n}\n",
        "}"
        + BLOCK.replace(
            "BODY",
            "%v = memref.load %m[%vi] : memref<6xf32>\n memref.store %v, %w[%vi, %vj] : memref<6x80xf32>",
        ),
    ),
}


@pytest.mark.parametrize("name", ALMOST)
def test_almost_softmax_keeps_its_nans(name: str) -> None:
    old, new = ALMOST[name]
    head, found, tail = SOFTMAX.rpartition(old) if name.endswith("elsewhere") else SOFTMAX.partition(old)
    assert found
    text = relaxed(head + new + tail)
    assert "arith.maximumf" in text


def test_exponentials_that_stay_in_a_result_keep_their_nans() -> None:
    """%e is a result: its other numbers are not NaN where one is."""
    text = SOFTMAX.replace("outs(%y: memref<6x80xf32>)", "outs(%y: memref<6x80xf32>, %e: memref<6x80xf32>)")
    text = text.replace("  %e = tensor_loop.alloc : memref<6x80xf32>\n", "")
    assert "arith.maximumf" in relaxed(text)
