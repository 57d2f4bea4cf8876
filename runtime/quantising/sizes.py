"""The size of what a program has beside its code."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import ModuleOp

from ...core.ir.walk import walk
from ...dialects.graph.constants import ConstantOp, WeightOp
from ...te.dtypes import TABLE


def constant_bytes(module: ModuleOp) -> int:
    """Returns the bytes of the constants and weights of a program, of equal keys once."""
    seen: dict[object, int] = {}
    for op in walk(module):
        if isinstance(op, ConstantOp | WeightOp):
            key = op.weight_key if isinstance(op, WeightOp) else op.dense
            size = prod(each or 0 for each in op.shaped.shape)
            seen[key] = size * TABLE[op.shaped.dtype].storage_bytes
    return sum(seen.values())
