"""The ops of the dialect, one per primitive. docs/schedules.md says what each does and when it is legal."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr, SymbolRefAttr, UnitAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def
from xdsl.utils.exceptions import VerifyException

from .base import Field, known_numbers, numbers_of
from .program import InProgram
from .program import ProgramOp as ProgramOp
from .sampling import SampleCategoricalOp, SamplePerfectTileOp
from .staging import CacheReadOp, CacheWriteOp, PadToTileOp, ReindexOp, SetScopeOp, StorageAlignOp, TransformLayoutOp


@irdl_op_definition
class GetBlockOp(InProgram):
    """Finds the block of that name: `%b = schedule.get_block "matmul" in @f`."""

    name = "schedule.get_block"
    block_name = prop_def(StringAttr)
    function = prop_def(SymbolRefAttr)
    MAKES: ClassVar = ("block",)
    FIELDS: ClassVar = (Field("block_name", "string"), Field("function", "symbol", "in"))


@irdl_op_definition
class GetLoopsOp(InProgram):
    """
    Finds the loops around a block, outermost first: `%i, %j = schedule.get_loops %b : 2`. Grids become single loops.
    """

    name = "schedule.get_loops"
    TAKES: ClassVar = ("block",)
    MAKES: ClassVar = ("loop", "...")


@irdl_op_definition
class GetProducersOp(InProgram):
    """Finds the blocks that write what a block reads: `%p = schedule.get_producers %b : 1`."""

    name = "schedule.get_producers"
    TAKES: ClassVar = ("block",)
    MAKES: ClassVar = ("block", "...")


@irdl_op_definition
class GetConsumersOp(InProgram):
    """Finds the blocks that read what a block writes: `%c = schedule.get_consumers %b : 1`."""

    name = "schedule.get_consumers"
    TAKES: ClassVar = ("block",)
    MAKES: ClassVar = ("block", "...")


@irdl_op_definition
class SplitOp(InProgram):
    """
    Replaces a loop by a nest of loops: `%i0, %i1 = schedule.split %i [?, 8]`. With `balanced` the inner loops are only
    as long as needed. A factor may be a handle: `[?, %n]`.
    """

    name = "schedule.split"
    factors = prop_def(DenseArrayBase)
    balanced = opt_prop_def(UnitAttr)
    TAKES: ClassVar = ("loop",)
    MAKES: ClassVar = ("loop", "...")
    FIELDS: ClassVar = (Field("factors", "numbers"), Field("balanced", "flag"))

    @property
    def num_made(self) -> int:
        return len(self.factors)

    def verify_parameters(self) -> None:
        inferred = numbers_of(self.factors).count(None)
        if inferred > 1:
            raise VerifyException(f"{inferred} factors are to be inferred, expected one at most")
        for factor in known_numbers(self.factors):
            if factor < 1:
                raise VerifyException(f"factor {factor}, expected a positive number")


@irdl_op_definition
class FuseOp(InProgram):
    """Replaces loops directly inside each other by one: `%ij = schedule.fuse %i, %j`."""

    name = "schedule.fuse"
    TAKES: ClassVar = ("loop", "loop", "...")
    MAKES: ClassVar = ("loop",)


@irdl_op_definition
class ReorderOp(InProgram):
    """Puts loops of one perfect nest into another order: `schedule.reorder %j, %i`."""

    name = "schedule.reorder"
    TAKES: ClassVar = ("loop", "loop", "...")


@irdl_op_definition
class LoopPartitionOp(InProgram):
    """Cuts the range of a loop into loops after each other: `%a, %b = schedule.loop_partition %i [96]`."""

    name = "schedule.loop_partition"
    points = prop_def(DenseArrayBase)
    TAKES: ClassVar = ("loop",)
    MAKES: ClassVar = ("loop", "...")
    FIELDS: ClassVar = (Field("points", "numbers"),)

    @property
    def num_made(self) -> int:
        return len(self.points) + 1

    def verify_parameters(self) -> None:
        if None in numbers_of(self.points):
            raise VerifyException("a point is '?', expected numbers")


@irdl_op_definition
class FissionOp(InProgram):
    """Cuts the body of a loop after a block: `%j = schedule.fission %i, %b`."""

    name = "schedule.fission"
    TAKES: ClassVar = ("loop", "block")
    MAKES: ClassVar = ("loop",)


@irdl_op_definition
class AddUnitLoopOp(InProgram):
    """Puts a loop of one iteration around a loop or block: `%u = schedule.add_unit_loop %b`."""

    name = "schedule.add_unit_loop"
    TAKES: ClassVar = ("any",)
    MAKES: ClassVar = ("loop",)


@irdl_op_definition
class UnrollOp(InProgram):
    """Marks a loop to have its iterations written out: `schedule.unroll %i`."""

    name = "schedule.unroll"
    TAKES: ClassVar = ("loop",)


@irdl_op_definition
class VectorizeOp(InProgram):
    """Marks a loop to run several iterations at a time: `schedule.vectorize %i`."""

    name = "schedule.vectorize"
    TAKES: ClassVar = ("loop",)


@irdl_op_definition
class ParallelOp(InProgram):
    """Marks a loop to run its iterations on several threads: `schedule.parallel %i`."""

    name = "schedule.parallel"
    TAKES: ClassVar = ("loop",)


@irdl_op_definition
class AnnotateOp(InProgram):
    """Sets an attribute of a loop or block: `schedule.annotate %i "mypkg.grain" with 4 : i64`."""

    name = "schedule.annotate"
    key = prop_def(StringAttr)
    value = prop_def(Attribute)
    TAKES: ClassVar = ("any",)
    FIELDS: ClassVar = (Field("key", "string"), Field("value", "attribute", "with"))


@irdl_op_definition
class ComputeAtOp(InProgram):
    """Computes in each iteration of a loop just the part of a temporary that it reads: `schedule.compute_at %b, %i`."""

    name = "schedule.compute_at"
    TAKES: ClassVar = ("block", "loop")


@irdl_op_definition
class ReverseComputeAtOp(InProgram):
    """
    Computes a block in each iteration of a loop on just the part that it has completed: `schedule.reverse_compute_at
    %b, %i`.
    """

    name = "schedule.reverse_compute_at"
    TAKES: ClassVar = ("block", "loop")


@irdl_op_definition
class ComputeInlineOp(InProgram):
    """Computes the elements of a temporary where they are loaded: `schedule.compute_inline %b`."""

    name = "schedule.compute_inline"
    TAKES: ClassVar = ("block",)


@irdl_op_definition
class ReverseComputeInlineOp(InProgram):
    """Computes a block on the elements of a temporary where they are stored: `schedule.reverse_compute_inline %b`."""

    name = "schedule.reverse_compute_inline"
    TAKES: ClassVar = ("block",)


@irdl_op_definition
class DecomposeReductionOp(InProgram):
    """
    Makes the init of a reduction a block of its own, before a loop: `%init = schedule.decompose_reduction %b, %k`.
    """

    name = "schedule.decompose_reduction"
    TAKES: ClassVar = ("block", "loop")
    MAKES: ClassVar = ("block",)


@irdl_op_definition
class RFactorOp(InProgram):
    """
    Sums up the iterations of a reduce loop apart: `%parts, %sum = schedule.rfactor %k axis 0`. It makes the block of
    the partial sums and the block that adds them up.
    """

    name = "schedule.rfactor"
    axis = opt_prop_def(IntegerAttr)
    TAKES: ClassVar = ("loop",)
    MAKES: ClassVar = ("block", "block")
    FIELDS: ClassVar = (Field("axis", "number", "axis", optional=True),)


@irdl_op_definition
class BlockizeOp(InProgram):
    """Makes the part of a nest from a loop inwards one block: `%b = schedule.blockize %i`."""

    name = "schedule.blockize"
    TAKES: ClassVar = ("loop",)
    MAKES: ClassVar = ("block",)


@irdl_op_definition
class TensorizeOp(InProgram):
    """
    Computes a contraction on register tiles, or the iterations of a loop as one row of a tile.

    The forms are `schedule.tensorize %b "mma" shape [8, 48]`, with the rows and columns of the register tile, and
    `schedule.tensorize %j "row"`.
    """

    name = "schedule.tensorize"
    form = prop_def(StringAttr)
    shape = opt_prop_def(DenseArrayBase)
    packed = opt_prop_def(UnitAttr)
    TAKES: ClassVar = ("any",)
    FIELDS: ClassVar = (
        Field("form", "string"),
        Field("shape", "numbers", "shape", optional=True),
        Field("packed", "flag"),
    )

    def verify_parameters(self) -> None:
        if self.form.data not in ("mma", "row"):
            raise VerifyException(f'unknown form "{self.form.data}", expected "mma" or "row"')
        if self.shape is not None and len(self.shape) != 2:
            raise VerifyException(f"a tile of {len(self.shape)} sizes, expected rows and columns")


STEPS: tuple[type[InProgram], ...] = (
    GetBlockOp,
    GetLoopsOp,
    GetProducersOp,
    GetConsumersOp,
    SplitOp,
    FuseOp,
    ReorderOp,
    LoopPartitionOp,
    FissionOp,
    AddUnitLoopOp,
    UnrollOp,
    VectorizeOp,
    ParallelOp,
    AnnotateOp,
    ComputeAtOp,
    ReverseComputeAtOp,
    ComputeInlineOp,
    ReverseComputeInlineOp,
    CacheReadOp,
    CacheWriteOp,
    ReindexOp,
    SetScopeOp,
    StorageAlignOp,
    TransformLayoutOp,
    PadToTileOp,
    DecomposeReductionOp,
    RFactorOp,
    BlockizeOp,
    TensorizeOp,
    SamplePerfectTileOp,
    SampleCategoricalOp,
)
"""Every step of a schedule, in the order of the documentation."""
