"""The ops of primitives on buffers: which copies there are, where they live and how they are laid out."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import AffineMapAttr, DenseArrayBase, IntegerAttr, StringAttr
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def
from xdsl.utils.exceptions import VerifyException

from .base import Field, known_numbers, numbers_of
from .program import InProgram

_INDEX = Field("index", "number")
_SCOPE = Field("scope", "string", "scope", optional=True)
_WHICH = Field("which", "string")


@irdl_op_definition
class CacheReadOp(InProgram):
    """
    Copies the first buffer that a block reads, and has it read the copy: `%c = schedule.cache_read %b 0 scope "local"`.
    """

    name = "schedule.cache_read"
    index = prop_def(IntegerAttr)
    scope = opt_prop_def(StringAttr)
    TAKES: ClassVar = ("block",)
    MAKES: ClassVar = ("block",)
    FIELDS: ClassVar = (_INDEX, _SCOPE)


@irdl_op_definition
class CacheWriteOp(InProgram):
    """Has a block write a copy of the first buffer that it writes: `%c = schedule.cache_write %b 0 scope "local"`."""

    name = "schedule.cache_write"
    index = prop_def(IntegerAttr)
    scope = opt_prop_def(StringAttr)
    TAKES: ClassVar = ("block",)
    MAKES: ClassVar = ("block",)
    FIELDS: ClassVar = (_INDEX, _SCOPE)


WRONG_BUFFER = 'which buffer is "{}", expected "read" or "write"'


def _check_which(which: StringAttr) -> None:
    if which.data not in ("read", "write"):
        raise VerifyException(WRONG_BUFFER.format(which.data))


@irdl_op_definition
class ReindexOp(InProgram):
    """
    Has a block access a buffer through one with a dimension per axis that chooses the element: `%c = schedule.reindex
    %b "read" 0`.
    """

    name = "schedule.reindex"
    which = prop_def(StringAttr)
    index = prop_def(IntegerAttr)
    TAKES: ClassVar = ("block",)
    MAKES: ClassVar = ("block",)
    FIELDS: ClassVar = (_WHICH, _INDEX)

    def verify_parameters(self) -> None:
        _check_which(self.which)


@irdl_op_definition
class SetScopeOp(InProgram):
    """Says where a temporary that a block writes should live: `schedule.set_scope %b 0 to "local"`."""

    name = "schedule.set_scope"
    index = prop_def(IntegerAttr)
    scope = prop_def(StringAttr)
    TAKES: ClassVar = ("block",)
    FIELDS: ClassVar = (_INDEX, Field("scope", "string", "to"))


@irdl_op_definition
class StorageAlignOp(InProgram):
    """
    Sets how far apart neighbours along a dimension of a temporary stand, here 16 n + 8 elements:
    `schedule.storage_align %b 0 dimension 0 factor 16 offset 8`.
    """

    name = "schedule.storage_align"
    index = prop_def(IntegerAttr)
    dimension = prop_def(IntegerAttr)
    factor = prop_def(IntegerAttr)
    offset = opt_prop_def(IntegerAttr)
    TAKES: ClassVar = ("block",)
    FIELDS: ClassVar = (
        _INDEX,
        Field("dimension", "number", "dimension"),
        Field("factor", "number", "factor"),
        Field("offset", "number", "offset", optional=True),
    )

    def verify_parameters(self) -> None:
        factor = self.factor.value.data
        offset = 0 if self.offset is None else self.offset.value.data
        if factor < 1 or not 0 <= offset < factor:
            raise VerifyException(f"factor {factor} and offset {offset}, expected 0 <= offset < factor")


@irdl_op_definition
class TransformLayoutOp(InProgram):
    """
    Stores the elements of a buffer at other places: `schedule.transform_layout %b "read" 1 by affine_map<(k, j) -> (j
    floordiv 16, k, j mod 16)>`.
    """

    name = "schedule.transform_layout"
    which = prop_def(StringAttr)
    index = prop_def(IntegerAttr)
    mapping = prop_def(AffineMapAttr)
    TAKES: ClassVar = ("block",)
    FIELDS: ClassVar = (_WHICH, _INDEX, Field("mapping", "map", "by"))

    def verify_parameters(self) -> None:
        _check_which(self.which)


@irdl_op_definition
class PadToTileOp(InProgram):
    """Rounds the extents of the axes of a block up to multiples: `schedule.pad_to_tile %b [8, 16, 1]`."""

    name = "schedule.pad_to_tile"
    multiples = prop_def(DenseArrayBase)
    TAKES: ClassVar = ("block",)
    FIELDS: ClassVar = (Field("multiples", "numbers"),)

    def verify_parameters(self) -> None:
        if None in numbers_of(self.multiples) or any(number < 1 for number in known_numbers(self.multiples)):
            raise VerifyException("multiples must be positive numbers")
