"""
The schedule dialect says how loop functions are to run, as a program of steps on handles.

    schedule.program {
      %b = schedule.get_block "matmul" in @f
      %i, %j, %k = schedule.get_loops %b : 3
      %i0, %i1 = schedule.split %i [?, 8]
      schedule.reorder %i0, %j, %k, %i1
      schedule.unroll %i1
    }

The steps are in `ops.py`, `staging.py` and `sampling.py`, and `schedule/program/replay.py` runs them. A step of another
package is a subclass of `InProgram` with a loader of kind "schedule-step" (docs/schedules.md).
"""

from xdsl.ir import Dialect

from .base import FROM_HANDLE, Field, StepOp, known_numbers, numbers_attribute, numbers_of
from .choices import DepthwiseAttr, DotsAttr, PackedAttr, TileRegistersAttr, WinogradAttr
from .handles import BLOCK, LOOP, NUMBER, BlockType, LoopType, NumberType
from .ops import STEPS, ProgramOp
from .plans import FlatRowsAttr, LeftOutAttr, OnTilesAttr, OrderAttr, TransposeAttr
from .program import InProgram
from .tiling import TilingAttr

Schedule = Dialect(
    "schedule",
    [ProgramOp, *STEPS],
    [
        *(LoopType, BlockType, NumberType),
        *(TilingAttr, DepthwiseAttr, WinogradAttr, DotsAttr, PackedAttr, TileRegistersAttr),
        *(FlatRowsAttr, TransposeAttr, OrderAttr, OnTilesAttr, LeftOutAttr),
    ],
)
"""The dialect as xDSL loads it."""

__all__ = [
    "BLOCK",
    "BlockType",
    "DepthwiseAttr",
    "DotsAttr",
    "FROM_HANDLE",
    "Field",
    "FlatRowsAttr",
    "InProgram",
    "LOOP",
    "LeftOutAttr",
    "LoopType",
    "NUMBER",
    "NumberType",
    "OnTilesAttr",
    "OrderAttr",
    "PackedAttr",
    "ProgramOp",
    "STEPS",
    "Schedule",
    "StepOp",
    "TileRegistersAttr",
    "TilingAttr",
    "TransposeAttr",
    "WinogradAttr",
    "known_numbers",
    "numbers_attribute",
    "numbers_of",
]
