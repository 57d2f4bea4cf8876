"""
Schedules from Python: every call runs a primitive and records it as a step of a `schedule.program`.

    s = Schedule(module)
    b = s.get_block("matmul", "f")
    i, j, k = s.get_loops(b)
    i0, i1 = s.split(i, [None, 8])
    s.reorder(i0, j, k, i1)
    s.unroll(i1)
    print(s.program())           # replays by apply-schedule
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import (
    AffineMapAttr,
    DenseArrayBase,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.utils.exceptions import VerifyException

from ..core.diagnostics import OperationError
from ..dialects.schedule import FROM_HANDLE, ProgramOp, StepOp, numbers_attribute
from ..dialects.schedule import ops as steps
from ..dialects.tensor_loop import BlockOp, ForOp
from .replay import Replay


@dataclass(frozen=True)
class Handle:
    """A loop or block of the function that is scheduled; stays valid until a primitive removes what it stands for."""

    value: SSAValue
    replay: Replay = field(repr=False, compare=False)

    @property
    def is_stale(self) -> bool:
        """Whether what it stood for is gone."""
        return self.value not in self.replay.values and self.replay.number(self.value) is None


@dataclass(frozen=True)
class LoopHandle(Handle):
    """A `tensor_loop.for`."""

    @property
    def op(self) -> ForOp:
        """The loop itself; raises when it is gone."""
        owner = self.value.owner
        assert isinstance(owner, StepOp)
        found = self.replay.look_up(owner, self.value)
        assert isinstance(found, ForOp)
        return found


@dataclass(frozen=True)
class BlockHandle(Handle):
    """A `tensor_loop.block`."""

    @property
    def op(self) -> BlockOp:
        owner = self.value.owner
        assert isinstance(owner, StepOp)
        found = self.replay.look_up(owner, self.value)
        assert isinstance(found, BlockOp)
        return found


@dataclass(frozen=True)
class NumberHandle(Handle):
    """A number that was sampled; stands for itself in lists of numbers, such as the factors of a split."""

    @property
    def number(self) -> int:
        """The number that was chosen."""
        found = self.replay.number(self.value)
        assert found is not None
        return found


Number = int | NumberHandle
"""What may stand in lists of numbers."""


class Schedule:
    """
    Schedules the loop functions of `module` in place. With `check` every step is tried on random inputs. What is sampled follows
    from `seed`: the same seed and calls give the same program, which holds the decisions and so replays as it ran.

    A primitive that is not legal raises `PassFailedException` with the loop or block to blame; the module and the program stay as
    they were before it.
    """

    def __init__(self, module: ModuleOp, check: bool = False, seed: int = 0):
        observer = None
        if check:
            from .check import Checker

            observer = Checker(module).after
        self.module = module
        self._program = ProgramOp()
        self._replay = Replay(module, observer, seed)

    def program(self) -> ProgramOp:
        """The trace: the steps so far with what was sampled, as a copy."""
        return self._program.clone()

    def _run(
        self,
        op_type: type[StepOp],
        handles: Sequence[Handle],
        results: int | None = None,
        **parameters: Attribute | None,
    ):
        for handle in handles:
            if not isinstance(handle, Handle):
                raise TypeError(f"{handle!r} is no handle of a loop or block")
            if handle.replay is not self._replay:
                raise ValueError("a handle is of another schedule")
        op = op_type([handle.value for handle in handles], results, **parameters)
        return self._perform(op)

    def _perform(self, op: StepOp) -> list[Handle]:
        try:
            op.verify()
        except VerifyException as error:
            raise OperationError(op, str(error)) from error
        block = self._program.body.block
        block.add_op(op)
        try:
            made = self._replay.run(op)
        except BaseException:
            op.detach()
            raise
        for value, target in zip(op.made, made, strict=True):
            value.name_hint = "t"
            if isinstance(target, ForOp):
                value.name_hint = target.variable.name_hint
            elif isinstance(target, BlockOp):
                value.name_hint = _identifier(target.block_name.data)
        return [_kind_of(target)(value, self._replay) for target, value in zip(made, op.made, strict=True)]

    def _loops(self, op_type: type[StepOp], handles: Sequence[Handle], results: int, **parameters: Attribute | None):
        return [each for each in self._run(op_type, handles, results, **parameters) if isinstance(each, LoopHandle)]

    def _blocks(self, op_type: type[StepOp], handles: Sequence[Handle], results: int, **parameters: Attribute | None):
        return [each for each in self._run(op_type, handles, results, **parameters) if isinstance(each, BlockHandle)]

    # Finding

    def get_block(self, name: str, function: str) -> BlockHandle:
        (found,) = self._blocks(steps.GetBlockOp, (), 1, block_name=StringAttr(name), function=SymbolRefAttr(function))
        return found

    def get_loops(self, block: BlockHandle) -> list[LoopHandle]:
        from .primitives.nests import loops_of

        return self._loops(steps.GetLoopsOp, (block,), len(loops_of(block.op)))

    def get_producers(self, block: BlockHandle) -> list[BlockHandle]:
        from .primitives.queries import get_producers

        return self._blocks(steps.GetProducersOp, (block,), len(get_producers(block.op)))

    def get_consumers(self, block: BlockHandle) -> list[BlockHandle]:
        from .primitives.queries import get_consumers

        return self._blocks(steps.GetConsumersOp, (block,), len(get_consumers(block.op)))

    # Loops

    def split(self, loop: LoopHandle, factors: Sequence[Number | None], balanced: bool = False) -> list[LoopHandle]:
        numbers, handles = _numbers(factors)
        flag = UnitAttr() if balanced else None
        return self._loops(steps.SplitOp, (loop, *handles), len(factors), factors=numbers, balanced=flag)

    def fuse(self, *loops: LoopHandle) -> LoopHandle:
        (fused,) = self._loops(steps.FuseOp, loops, 1)
        return fused

    def reorder(self, *loops: LoopHandle) -> None:
        self._run(steps.ReorderOp, loops)

    def loop_partition(self, loop: LoopHandle, points: Sequence[Number]) -> list[LoopHandle]:
        numbers, handles = _numbers(points)
        return self._loops(steps.LoopPartitionOp, (loop, *handles), len(points) + 1, points=numbers)

    def add_unit_loop(self, target: Handle) -> LoopHandle:
        (loop,) = self._loops(steps.AddUnitLoopOp, (target,), 1)
        return loop

    def unroll(self, loop: LoopHandle) -> None:
        self._run(steps.UnrollOp, (loop,))

    def vectorize(self, loop: LoopHandle) -> None:
        self._run(steps.VectorizeOp, (loop,))

    def parallel(self, loop: LoopHandle) -> None:
        self._run(steps.ParallelOp, (loop,))

    def annotate(self, target: Handle, key: str, value: Attribute | int | str) -> None:
        if isinstance(value, int):
            value = IntegerAttr(value, i64)
        elif isinstance(value, str):
            value = StringAttr(value)
        elif not isinstance(value, Attribute):
            raise TypeError(f"{value!r} is no annotation, expected a number, a string or an attribute")
        self._run(steps.AnnotateOp, (target,), key=StringAttr(key), value=value)

    # Blocks

    def compute_at(self, block: BlockHandle, loop: LoopHandle) -> None:
        self._run(steps.ComputeAtOp, (block, loop))

    def reverse_compute_at(self, block: BlockHandle, loop: LoopHandle) -> None:
        self._run(steps.ReverseComputeAtOp, (block, loop))

    def compute_inline(self, block: BlockHandle) -> None:
        self._run(steps.ComputeInlineOp, (block,))

    def reverse_compute_inline(self, block: BlockHandle) -> None:
        self._run(steps.ReverseComputeInlineOp, (block,))

    def cache_read(self, block: BlockHandle, index: int, scope: str = "global") -> BlockHandle:
        (made,) = self._blocks(steps.CacheReadOp, (block,), 1, index=_number(index), scope=StringAttr(scope))
        return made

    def cache_write(self, block: BlockHandle, index: int, scope: str = "global") -> BlockHandle:
        (made,) = self._blocks(steps.CacheWriteOp, (block,), 1, index=_number(index), scope=StringAttr(scope))
        return made

    def reindex(self, block: BlockHandle, which: str, index: int) -> BlockHandle:
        (made,) = self._blocks(steps.ReindexOp, (block,), 1, which=StringAttr(which), index=_number(index))
        return made

    def storage_align(self, block: BlockHandle, index: int, dimension: int, factor: int, offset: int = 0) -> None:
        self._run(
            steps.StorageAlignOp,
            (block,),
            index=_number(index),
            dimension=_number(dimension),
            factor=_number(factor),
            offset=_number(offset),
        )

    def set_scope(self, block: BlockHandle, index: int, scope: str) -> None:
        self._run(steps.SetScopeOp, (block,), index=_number(index), scope=StringAttr(scope))

    def transform_layout(self, block: BlockHandle, which: str, index: int, mapping: AffineMap) -> None:
        self._run(
            steps.TransformLayoutOp,
            (block,),
            which=StringAttr(which),
            index=_number(index),
            mapping=AffineMapAttr(mapping),
        )

    def pad_to_tile(self, block: BlockHandle, multiples: Sequence[Number]) -> None:
        numbers, handles = _numbers(multiples)
        self._run(steps.PadToTileOp, (block, *handles), multiples=numbers)

    def decompose_reduction(self, block: BlockHandle, loop: LoopHandle) -> BlockHandle:
        (made,) = self._blocks(steps.DecomposeReductionOp, (block, loop), 1)
        return made

    def rfactor(self, loop: LoopHandle, axis: int = 0) -> tuple[BlockHandle, BlockHandle]:
        partial, final = self._blocks(steps.RFactorOp, (loop,), 2, axis=_number(axis))
        return partial, final

    def blockize(self, loop: LoopHandle) -> BlockHandle:
        (made,) = self._blocks(steps.BlockizeOp, (loop,), 1)
        return made

    def tensorize(self, target: Handle, form: str, shape: Sequence[Number] | None = None, packed: bool = False) -> None:
        numbers, handles = (None, []) if shape is None else _numbers(shape)
        self._run(
            steps.TensorizeOp,
            (target, *handles),
            form=StringAttr(form),
            shape=numbers,
            packed=UnitAttr() if packed else None,
        )

    # Sampling

    def sample_perfect_tile(
        self, loop: LoopHandle, count: int, most: int | None = None, decision: Sequence[int] | None = None
    ) -> list[NumberHandle]:
        made = self._run(
            steps.SamplePerfectTileOp,
            (loop,),
            count,
            most=None if most is None else _number(most),
            decision=None if decision is None else numbers_attribute(decision),
        )
        return [each for each in made if isinstance(each, NumberHandle)]

    def sample_categorical(
        self, candidates: Sequence[int], weights: Sequence[int] | None = None, decision: int | None = None
    ) -> NumberHandle:
        (made,) = self._run(
            steps.SampleCategoricalOp,
            (),
            1,
            candidates=numbers_attribute(candidates),
            weights=None if weights is None else numbers_attribute(weights),
            decision=None if decision is None else _number(decision),
        )
        assert isinstance(made, NumberHandle)
        return made


def _kind_of(target: object) -> type[Handle]:
    if isinstance(target, ForOp):
        return LoopHandle
    return BlockHandle if isinstance(target, BlockOp) else NumberHandle


def _numbers(numbers: Sequence[Number | None]) -> tuple[DenseArrayBase, list[Handle]]:
    """A list of numbers as a parameter, and the handles that stand in it."""
    for number in numbers:
        if not isinstance(number, int | NumberHandle | None):
            raise TypeError(f"{number!r} is no number, expected an int, None or what a step has sampled")
    written = [FROM_HANDLE if isinstance(number, NumberHandle) else number for number in numbers]
    return numbers_attribute(written), [each for each in numbers if isinstance(each, NumberHandle)]


def _number(value: int) -> IntegerAttr:
    return IntegerAttr(value, i64)


def _identifier(name: str) -> str | None:
    """A name for a handle: letters, digits and underscores."""
    cleaned = "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
    return cleaned if cleaned and not cleaned[0].isdigit() else None
