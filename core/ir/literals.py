"""Numbers that ops of arith spell out, and the attributes that hold them. Making one takes longer than an op."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, IntegerType, i64
from xdsl.ir import SSAValue


@lru_cache(maxsize=4096)
def index_attribute(value: int) -> IntegerAttr[IndexType]:
    """Returns `value : index`, shared."""
    return IntegerAttr(value, IndexType())


@lru_cache(maxsize=4096)
def i64_attribute(value: int) -> IntegerAttr[IntegerType]:
    """Returns `value : i64`, shared."""
    return IntegerAttr(value, i64)


def constant_of(value: SSAValue) -> int | None:
    """Returns the integer that `value` is known to be, when an `arith.constant` defines it."""
    owner: Any = value.owner
    if owner.__class__ is arith.ConstantOp:
        literal = owner.properties["value"]
        if literal.__class__ is IntegerAttr:
            return literal.value.data
    return None


def float_of(value: SSAValue) -> float | None:
    """Returns the float that `value` is known to be, when an `arith.constant` defines it."""
    owner = value.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, FloatAttr):
        return owner.value.value.data
    return None
