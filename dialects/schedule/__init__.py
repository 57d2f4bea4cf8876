"""
The schedule dialect: how loop functions are to run, as a program of steps on handles.

    schedule.program {
      %b = schedule.get_block "matmul" in @f
      %i, %j, %k = schedule.get_loops %b : 3
      %i0, %i1 = schedule.split %i [?, 8]
      schedule.reorder %i0, %j, %k, %i1
      schedule.unroll %i1
    }

The steps are in `ops.py`, `staging.py` and `sampling.py`; `schedule/replay.py` runs them. A step of another package is a subclass of
`InProgram` with a loader of kind "schedule-step" (docs/schedules.md).
"""

from xdsl.ir import Dialect

from .base import FROM_HANDLE as FROM_HANDLE
from .base import Field as Field
from .base import StepOp as StepOp
from .base import known_numbers as known_numbers
from .base import numbers_attribute as numbers_attribute
from .base import numbers_of as numbers_of
from .choices import DepthwiseAttr as DepthwiseAttr
from .choices import DotsAttr as DotsAttr
from .choices import TileRegistersAttr as TileRegistersAttr
from .choices import WinogradAttr as WinogradAttr
from .handles import BLOCK as BLOCK
from .handles import LOOP as LOOP
from .handles import NUMBER as NUMBER
from .handles import BlockType as BlockType
from .handles import LoopType as LoopType
from .handles import NumberType as NumberType
from .ops import STEPS as STEPS
from .ops import ProgramOp as ProgramOp
from .program import InProgram as InProgram
from .tiling import TilingAttr as TilingAttr

Schedule = Dialect(
    "schedule",
    [ProgramOp, *STEPS],
    [LoopType, BlockType, NumberType, TilingAttr, DepthwiseAttr, WinogradAttr, DotsAttr, TileRegistersAttr],
)
