"""The choice for the parallel loops of a kernel: the work in one chunk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, i64

from ....analysis.work import GRAIN as DEFAULT
from ....core.roles import GRAIN
from ....lazy_dataclass import dataclass
from ....schedule.program.interactive import Schedule

FACTORS = (1.0, 0.25, 0.5, 2.0, 4.0, 16.0)
"""The factors of the default. With large ones small loops stay serial."""


@dataclass(frozen=True)
class GrainSpace:
    """The knob of a function, which its first block stands for."""

    block: str

    def knobs(self) -> Mapping[str, tuple[Any, ...]]:
        return {"grain": tuple(int(factor * DEFAULT) for factor in FACTORS)}

    def apply(self, schedule: Schedule, values: Mapping[str, Any]) -> None:
        block = schedule.get_block(self.block, "kernel")
        schedule.annotate(block, GRAIN, IntegerAttr(values["grain"], i64))
