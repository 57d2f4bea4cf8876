"""Running the steps of a `schedule.program` on a module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import NoReturn

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ..core.diagnostics import Diagnostic, OperationError, fail
from ..core.locations import nearest_source_point
from ..core.plugins import registry
from ..core.walk import ops_of
from ..dialects.schedule import ops as steps
from ..dialects.schedule.base import FROM_HANDLE, StepOp, known_numbers, numbers_attribute, numbers_of
from ..dialects.tensor_loop import BlockOp, ForOp, FuncOp
from .primitives import (
    inline,
    layout,
    marks,
    move,
    queries,
    reduction,
    reindex,
    reshape,
    sampling,
    staging,
    tensorize,
)
from .primitives.errors import ScheduleError, excerpt, refuse
from .primitives.nests import block_name, loop_name, loops_of

Observer = Callable[[StepOp], None]
"""Told of every step that has been run."""

EXTENSION = "schedule-step"
"""The kind of what other packages add: name of the step to a loader of a function as those in `_RUN`."""


class Replay:
    """
    Handles of a module and what they stand for; `run` does one step.

    A step that samples and has no decision takes one by `seed` and writes it down, so that the same seed gives the same program.
    """

    def __init__(self, module: ModuleOp, observer: Observer | None = None, seed: int = 0):
        self.module = module
        self.random = Random(seed)
        self.values: dict[SSAValue, Operation] = {}
        self._numbers: dict[SSAValue, int] = {}
        self._gone: dict[SSAValue, str] = {}
        self._names: dict[SSAValue, str] = {}
        self._observer = observer
        self.num_steps = 0

    def run(self, op: StepOp) -> tuple[Operation | int, ...]:
        """
        Runs a step; what its results stand for: loops, blocks, numbers. Raises an error at the loop or block to blame, which says
        which step it is.
        """
        try:
            handles = [self.look_up(op, value) for value in op.targets]
            made = tuple(_function_of(op)(self, op, handles))
        except OperationError as error:
            raise _explained(error, op) from error
        self.num_steps += 1
        if len(op.made) != len(made):
            self._fail_by_count(op, made)
        for value, target in zip(op.made, made, strict=True):
            if isinstance(target, int):
                self._numbers[value] = target
                continue
            self.values[value] = target
            self._names[value] = loop_name(target) if isinstance(target, ForOp) else block_name(_block(target))
        self._mark_stale(op)
        if self._observer is not None:
            self._observer(op)
        return made

    def _fail_by_count(self, op: StepOp, made: Sequence[Operation | int]) -> NoReturn:
        """The program names another number of handles than the step makes here."""
        targets = tuple(each for each in made if isinstance(each, Operation))
        kind = "loop" if targets and isinstance(targets[0], ForOp) else "block"
        names = ", ".join(loop_name(t) if isinstance(t, ForOp) else block_name(_block(t)) for t in targets)
        found = f"{len(made)} {kind}{'' if len(made) == 1 else 's'}{f' ({names})' if names else ''}"
        reason = f"finds {found}, expected {len(op.made)}: the program is for another function"
        culprits = targets or tuple(self.values[value] for value in op.targets)
        raise _explained(ScheduleError(reason, culprits), op)

    def numbers(self, op: StepOp, name: str) -> list[int | None]:
        """A parameter of a step that is a list of numbers, the handles in it replaced by what they stand for."""
        field = next(each for each in op.FIELDS if each.name == name)
        given = iter(op.numbers(field))
        return [
            self._number(op, next(given)) if number == FROM_HANDLE else number
            for number in numbers_of(op.properties[name])
        ]

    def whole_numbers(self, op: StepOp, name: str) -> list[int]:
        """As `numbers`, of a parameter without `?`."""
        return [number for number in self.numbers(op, name) if number is not None]

    def number(self, value: SSAValue) -> int | None:
        """What a handle of a number stands for; `None` where it is of another schedule."""
        return self._numbers.get(value)

    def _number(self, op: StepOp, value: SSAValue) -> int:
        if value not in self._numbers:
            fail(op, "a number is of another schedule")
        return self._numbers[value]

    def look_up(self, op: StepOp, value: SSAValue) -> Operation:
        """What a handle stands for; an error when that is no more."""
        if value in self._gone:
            fail(op, f"the handle of {self._names[value]} is stale: {self._gone[value]}")
        if value not in self.values:
            fail(op, "a handle is of another schedule")
        return self.values[value]

    def _mark_stale(self, op: StepOp) -> None:
        for value, target in list(self.values.items()):
            if not _is_attached(target, self.module):
                self._gone[value] = f"step {self.num_steps}, '{op.name}', removed it"
                del self.values[value]


def _is_attached(op: Operation, module: ModuleOp) -> bool:
    parent: Operation | None = op
    while parent is not None and parent is not module:
        parent = parent.parent_op()
    return parent is module


def _explained(error: OperationError, op: StepOp) -> OperationError:
    """`error` with the name of the step in front, and a note where the step is written."""
    message = error.reason if isinstance(error, ScheduleError) else str(error)
    text = f"'{op.name}': {message}"
    if isinstance(error, ScheduleError):
        text = f"{text}\n{excerpt(error.culprits)}"
    new = OperationError(op, message, hint=error.diagnostic.hint)
    point = nearest_source_point(op)
    notes = () if point is None else (Diagnostic("in this step of the schedule", "note", point),)
    new.diagnostic = replace(error.diagnostic, message=text, notes=notes)
    if not isinstance(error, ScheduleError) and error.diagnostic.point == point:
        new.diagnostic = replace(new.diagnostic, notes=())
    return new


def _loop(op: Operation) -> ForOp:
    assert isinstance(op, ForOp)
    return op


def _block(op: Operation) -> BlockOp:
    assert isinstance(op, BlockOp)
    return op


def _integer(attribute: Attribute | None, default: int = 0) -> int:
    return attribute.value.data if isinstance(attribute, IntegerAttr) else default


def _text(attribute: Attribute | None, default: str) -> str:
    return attribute.data if isinstance(attribute, StringAttr) else default


Made = Sequence[Operation | int]
Run = Callable[[Replay, StepOp, list[Operation]], Made]
"""Runs a step on what its handles of loops and blocks stand for; what its results stand for."""

_RUN: dict[type[StepOp], Run] = {}


def _function_of(op: StepOp) -> Run:
    """What runs a step of that type: ours, or that of another package."""
    found = _RUN.get(type(op))
    if found is not None:
        return found
    loaders = registry().extensions_of(EXTENSION)
    if op.name not in loaders:
        fail(op, f"nothing is installed that runs this step: no plug-in has a '{EXTENSION}' of that name")
    return loaders[op.name]()


def _runs(op_type: type[StepOp]):
    def register(function: Run) -> Run:
        _RUN[op_type] = function
        return function

    return register


@_runs(steps.GetBlockOp)
def _(replay: Replay, op: StepOp, handles: list[Operation]) -> Made:
    assert isinstance(op, steps.GetBlockOp)
    return [queries.get_block(replay.module, op.function.root_reference.data, op.block_name.data)]


@_runs(steps.GetLoopsOp)
def _(replay: Replay, op: StepOp, handles: list[Operation]) -> Made:
    return loops_of(_block(handles[0]))


@_runs(steps.GetProducersOp)
def _(replay: Replay, op: StepOp, handles: list[Operation]) -> Made:
    return queries.get_producers(_block(handles[0]))


@_runs(steps.GetConsumersOp)
def _(replay: Replay, op: StepOp, handles: list[Operation]) -> Made:
    return queries.get_consumers(_block(handles[0]))


@_runs(steps.SplitOp)
def _(replay: Replay, op: StepOp, handles: list[Operation]) -> Made:
    assert isinstance(op, steps.SplitOp)
    return reshape.split(_loop(handles[0]), replay.numbers(op, "factors"), op.balanced is not None)


@_runs(steps.FuseOp)
def _(replay: Replay, op: StepOp, handles: list[Operation]) -> Made:
    return [reshape.fuse([_loop(handle) for handle in handles])]


@_runs(steps.ReorderOp)
def _(replay: Replay, op: StepOp, handles: list[Operation]) -> Made:
    reshape.reorder([_loop(handle) for handle in handles])
    return []


@_runs(steps.LoopPartitionOp)
def _(replay: Replay, op: StepOp, handles: list[Operation]) -> Made:
    return reshape.loop_partition(_loop(handles[0]), replay.whole_numbers(op, "points"))


@_runs(steps.AddUnitLoopOp)
def _(replay: Replay, op: StepOp, handles: list[Operation]) -> Made:
    return [reshape.add_unit_loop(handles[0])]


@_runs(steps.UnrollOp)
def _(replay: Replay, op: StepOp, handles: list[Operation]) -> Made:
    marks.unroll(_loop(handles[0]))
    return []


@_runs(steps.VectorizeOp)
def _(replay: Replay, op: StepOp, handles: list[Operation]) -> Made:
    marks.vectorize(_loop(handles[0]))
    return []


@_runs(steps.ParallelOp)
def _(replay: Replay, op: StepOp, handles: list[Operation]) -> Made:
    marks.parallel(_loop(handles[0]))
    return []


@_runs(steps.AnnotateOp)
def _(replay: Replay, op: StepOp, handles: list[Operation]) -> Made:
    assert isinstance(op, steps.AnnotateOp)
    marks.annotate(handles[0], op.key.data, op.value)
    return []


@_runs(steps.ComputeAtOp)
def _(replay: Replay, op: StepOp, handles: list[Operation]) -> Made:
    move.compute_at(_block(handles[0]), _loop(handles[1]))
    return []


@_runs(steps.ReverseComputeAtOp)
def _(replay: Replay, op: StepOp, handles: list[Operation]) -> Made:
    move.reverse_compute_at(_block(handles[0]), _loop(handles[1]))
    return []


@_runs(steps.ComputeInlineOp)
def _(replay: Replay, op: StepOp, handles: list[Operation]) -> Made:
    inline.compute_inline(_block(handles[0]))
    return []


@_runs(steps.ReverseComputeInlineOp)
def _(replay: Replay, op: StepOp, handles: list[Operation]) -> Made:
    inline.reverse_compute_inline(_block(handles[0]))
    return []


@_runs(steps.CacheReadOp)
def _(replay: Replay, op: StepOp, handles: list[Operation]) -> Made:
    assert isinstance(op, steps.CacheReadOp)
    return [staging.cache_read(_block(handles[0]), _integer(op.index), _text(op.scope, "global"))]


@_runs(steps.CacheWriteOp)
def _(replay: Replay, op: StepOp, handles: list[Operation]) -> Made:
    assert isinstance(op, steps.CacheWriteOp)
    return [staging.cache_write(_block(handles[0]), _integer(op.index), _text(op.scope, "global"))]


@_runs(steps.SetScopeOp)
def _(replay: Replay, op: StepOp, handles: list[Operation]) -> Made:
    assert isinstance(op, steps.SetScopeOp)
    staging.set_scope(_block(handles[0]), _integer(op.index), op.scope.data)
    return []


@_runs(steps.ReindexOp)
def _(replay: Replay, op: StepOp, handles: list[Operation]) -> Made:
    assert isinstance(op, steps.ReindexOp)
    return [reindex.reindex(_block(handles[0]), op.which.data, _integer(op.index))]


@_runs(steps.StorageAlignOp)
def _(replay: Replay, op: StepOp, handles: list[Operation]) -> Made:
    assert isinstance(op, steps.StorageAlignOp)
    index, dimension, factor, offset = map(_integer, (op.index, op.dimension, op.factor, op.offset))
    staging.storage_align(_block(handles[0]), index, dimension, factor, offset)
    return []


@_runs(steps.TransformLayoutOp)
def _(replay: Replay, op: StepOp, handles: list[Operation]) -> Made:
    assert isinstance(op, steps.TransformLayoutOp)
    layout.transform_layout(_block(handles[0]), op.which.data, _integer(op.index), op.mapping.data)
    return []


@_runs(steps.PadToTileOp)
def _(replay: Replay, op: StepOp, handles: list[Operation]) -> Made:
    layout.pad_to_tile(_block(handles[0]), replay.whole_numbers(op, "multiples"))
    return []


@_runs(steps.DecomposeReductionOp)
def _(replay: Replay, op: StepOp, handles: list[Operation]) -> Made:
    return [reduction.decompose_reduction(_block(handles[0]), _loop(handles[1]))]


@_runs(steps.RFactorOp)
def _(replay: Replay, op: StepOp, handles: list[Operation]) -> Made:
    assert isinstance(op, steps.RFactorOp)
    return reduction.rfactor(_loop(handles[0]), _integer(op.axis))


@_runs(steps.BlockizeOp)
def _(replay: Replay, op: StepOp, handles: list[Operation]) -> Made:
    return [tensorize.blockize(_loop(handles[0]))]


@_runs(steps.TensorizeOp)
def _(replay: Replay, op: StepOp, handles: list[Operation]) -> Made:
    assert isinstance(op, steps.TensorizeOp)
    target = handles[0]
    if op.form.data == "row":
        if not isinstance(target, ForOp):
            refuse('the form "row" takes a loop, found a block', target)
        tensorize.tensorize_row(target)
    else:
        if not isinstance(target, BlockOp):
            refuse('the form "mma" takes a block, found a loop', target)
        shape = None if op.shape is None else replay.whole_numbers(op, "shape")
        tensorize.tensorize_mma(target, shape, op.packed is not None)
    return []


@_runs(steps.SamplePerfectTileOp)
def _(replay: Replay, op: StepOp, handles: list[Operation]) -> Made:
    assert isinstance(op, steps.SamplePerfectTileOp)
    loop = _loop(handles[0])
    if op.decision is None:
        most = None if op.most is None else _integer(op.most)
        factors = sampling.sample_perfect_tile(loop, len(op.made), most, replay.random)
        op.decision = numbers_attribute(factors)
    factors = known_numbers(op.decision)
    sampling.check_tile(loop, factors)
    return factors


@_runs(steps.SampleCategoricalOp)
def _(replay: Replay, op: StepOp, handles: list[Operation]) -> Made:
    assert isinstance(op, steps.SampleCategoricalOp)
    candidates = known_numbers(op.candidates)
    if op.decision is None:
        weights = None if op.weights is None else known_numbers(op.weights)
        op.decision = IntegerAttr(sampling.sample_categorical(candidates, weights, replay.random), i64)
    return [candidates[_integer(op.decision)]]


def functions_of(module: ModuleOp) -> list[FuncOp]:
    """The loop functions of a module."""
    return ops_of(module, FuncOp)
