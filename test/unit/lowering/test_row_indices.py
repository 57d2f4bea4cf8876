"""Which rows an index of a buffer stands for."""

from __future__ import annotations

import pytest
from stepwell.core.ir.walk import ops_of
from stepwell.core.text.parsing import parse
from stepwell.lowering.shared.row_indices import rows_at
from xdsl.dialects import memref, scf

LOOPS = """
func.func @f(%b: memref<64xf32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {{
    %s = scf.for %r = {bounds} step %c1 iter_args(%carried = %c0) -> (index) {{
      %first = arith.muli %i, %c4 : index
      %row = arith.addi {row} : index
      %x = memref.load %b[{index}] : memref<64xf32>
      scf.yield %row : index
    }}
  }}
  func.return
}}"""


@pytest.mark.parametrize(
    ("bounds", "row", "index", "rows"),
    [
        ("%c0 to %c4", "%first, %r", "%row", 4),
        ("%c0 to %c4", "%first, %r", "%i", 1),
        ("%c0 to %c5", "%first, %r", "%row", 0),
        ("%c1 to %c4", "%first, %r", "%row", 0),
        ("%c0 to %c4", "%first, %carried", "%row", 0),
        ("%c0 to %c4", "%r, %first", "%row", 0),
        ("%c0 to %c4", "%first, %r", "%r", 0),
    ],
)
def test_rows_at(bounds: str, row: str, index: str, rows: int) -> None:
    """What a loop carries may be any number, and rows that overlap or begin later are no rows of their own."""
    module = parse(LOOPS.format(bounds=bounds, row=row, index=index))
    outer = ops_of(module, scf.ForOp)[0]
    (load,) = ops_of(module, memref.LoadOp)
    assert rows_at(load.indices[0], outer.body.block.args[0]) == rows
