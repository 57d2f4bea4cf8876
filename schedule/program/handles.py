"""The objects that stand for a loop, a block or a sampled number in a schedule that is written in Python."""

from __future__ import annotations

from dataclasses import field

from xdsl.ir import SSAValue

from ...dialects.schedule.base import StepOp
from ...dialects.tensor_loop import BlockOp, ForOp
from ...lazy_dataclass import dataclass
from .replay import Replay


@dataclass(frozen=True, repr=False)
class Handle:
    """
    A loop or block of the function that is scheduled. It stays valid until a primitive removes what it stands for.
    """

    value: SSAValue
    replay: Replay = field(repr=False, compare=False)

    @property
    def is_stale(self) -> bool:
        """Returns whether what it stood for is gone."""
        return self.value not in self.replay.values and self.replay.number(self.value) is None

    def __repr__(self) -> str:
        return f"<stepwell.{type(self).__name__} {self._name()}{self._details()}>"

    def _name(self) -> str:
        return self.value.name_hint or "?"

    def _details(self) -> str:
        return " (stale)" if self.is_stale else ""


def extent_text(loop: ForOp) -> str:
    """Returns the extent of a loop as it is written, with its kind: `8 vectorize`."""
    extent = loop.extent
    size = str(extent) if isinstance(extent, int) else f"%{extent.name_hint or '?'}"
    return size if loop.kind_name == "serial" else f"{size} {loop.kind_name}"


@dataclass(frozen=True, repr=False)
class LoopHandle(Handle):
    """The handle of a `tensor_loop.for`."""

    @property
    def op(self) -> ForOp:
        """Returns the loop itself, and raises when it is gone."""
        owner = self.value.owner
        assert isinstance(owner, StepOp)
        found = self.replay.look_up(owner, self.value)
        assert isinstance(found, ForOp)
        return found

    def _details(self) -> str:
        return super()._details() or f" in {extent_text(self.op)}"


@dataclass(frozen=True, repr=False)
class BlockHandle(Handle):
    """The handle of a `tensor_loop.block`."""

    @property
    def op(self) -> BlockOp:
        """Returns the block itself, and raises when it is gone."""
        owner = self.value.owner
        assert isinstance(owner, StepOp)
        found = self.replay.look_up(owner, self.value)
        assert isinstance(found, BlockOp)
        return found

    def _name(self) -> str:
        return super()._name() if self.is_stale else f'"{self.op.block_name.data}"'


@dataclass(frozen=True, repr=False)
class NumberHandle(Handle):
    """A number that was sampled. It stands for itself in lists of numbers, such as the factors of a split."""

    @property
    def number(self) -> int:
        """Returns the number that was chosen."""
        found = self.replay.number(self.value)
        assert found is not None
        return found

    def _details(self) -> str:
        return f" = {self.number}"


Number = int | NumberHandle
"""The type of an item in a list of numbers."""
