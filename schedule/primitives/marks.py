"""Primitives that say how a loop runs: unroll, vectorize, parallel, annotate."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Operation
from xdsl.irdl import IRDLOperation

from ...analysis.loop_nests import body_ops
from ...dialects.tensor_loop import BlockOp, ForOp, LoopOp
from .dependences import Dependences, only_reduces
from .errors import refuse
from .nests import loop_name

MOST_UNROLLED = 1024
"""Iterations that may be written out."""


def _set_kind(loop: ForOp, kind: str) -> None:
    if loop.kind_name != "serial":
        refuse(f"{loop_name(loop)} is {loop.kind_name} already, expected a serial loop", loop)
    loop.kind = StringAttr(kind)


def unroll(loop: ForOp) -> None:
    """
    Has the iterations written out.

        for %i in 4 { B }                                                       unroll(%i)
        for %i in 4 unrolled { B }

    Legal always; the extent must be known, at most 1024.
    """
    if not isinstance(loop.extent, int) or loop.extent > MOST_UNROLLED:
        refuse(
            f"{loop_name(loop)} has no known extent of at most {MOST_UNROLLED}, so it cannot be unrolled",
            loop,
        )
    _set_kind(loop, "unrolled")


def vectorize(loop: ForOp) -> None:
    """
    Has several iterations run at a time.

        for %j in 64 { block (%vj = %j) }                                       vectorize(%j)
        for %j in 64 vectorized { block (%vj = %j) }

    Legal for an innermost loop whose iterations do not depend on each other, or update accumulators in an order that is free.
    """
    if any(isinstance(op, LoopOp) for op in loop.body.walk()):
        refuse(f"{loop_name(loop)} holds other loops, so it cannot be vectorized", loop)
    blame = Dependences(loop).blame(loop)
    content = body_ops(loop.body.block)
    if blame is not None and len(content) == 1 and isinstance(content[0], BlockOp) and content[0].has_reduce_axes:
        blame = only_reduces(content[0], [loop])
    if blame is not None:
        refuse(f"{loop_name(loop)} cannot be vectorized: {blame.reason}", loop, blame.op)
    _set_kind(loop, "vectorized")


def parallel(loop: ForOp) -> None:
    """
    Has the iterations run on several threads.

        for %i in 64 { B }                                                      parallel(%i)
        for %i in 64 parallel { B }

    Legal for a loop whose iterations do not depend on each other.
    """
    blame = Dependences(loop).blame(loop)
    if blame is not None:
        refuse(f"{loop_name(loop)} cannot run in parallel: {blame.reason}", loop, blame.op)
    _set_kind(loop, "parallel")


def annotate(target: Operation, key: str, value: Attribute) -> None:
    """
    Sets an attribute of a loop or block; it changes no result.

        for %i in 64 { B }                                                      annotate(%i, "grain", 4 : i64)
        for %i in 64 attributes {grain = 4 : i64} { B }

    Legal for names that are no properties of the loop or block, such as `kind`, in ASCII.
    """
    if not key:
        refuse("the key is empty, expected a name", target)
    if not key.isascii() or not key.isprintable():
        refuse(f'the key "{key}" has characters other than ASCII ones', target)
    assert isinstance(target, IRDLOperation)
    if key in target.get_irdl_definition().properties:
        refuse(f"\"{key}\" is a property of a '{target.name}', expected another key", target)
    target.attributes[key] = value
