"""Primitives that say how a loop runs: unroll, vectorize, parallel, annotate."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation

from ...analysis.loop_nests import body_ops
from ...analysis.ranges.accesses import Accesses
from ...analysis.ranges.races import Race, races
from ...core.messages.articles import quoted
from ...core.messages.diagnostics import did_you_mean
from ...core.roles import DECIDED, NAMES, PREFIXES
from ...dialects.schedule.ops import AnnotateOp, ParallelOp, UnrollOp, VectorizeOp
from ...dialects.tensor_loop import BlockOp, ForOp, LoopOp
from ...dialects.tensor_loop.syntax import value_name
from .dependences import Dependences, only_reduces
from .errors import refuse
from .nests import function_of, loop_name
from .steps import as_attribute, step

MOST_UNROLLED = 1024
"""The most iterations that may be written out."""


def _set_kind(loop: ForOp, kind: str) -> None:
    if loop.kind_name != "serial":
        refuse(f"{loop_name(loop)} is {loop.kind_name} already, expected a serial loop", loop)
    loop.kind = StringAttr(kind)


@step(UnrollOp)
def unroll(loop: ForOp) -> None:
    """
    Marks a loop to have its iterations written out.

    Args:
        loop: A serial loop.

    Legal for a loop of known extent, at most 1024.

    Before and after `unroll(%i)`:

        for %i in 4 { B }
        for %i in 4 unrolled { B }
    """
    if not isinstance(loop.extent, int) or loop.extent > MOST_UNROLLED:
        refuse(f"{loop_name(loop)} has no known extent of at most {MOST_UNROLLED}, so it cannot be unrolled", loop)
    _set_kind(loop, "unrolled")


@step(VectorizeOp)
def vectorize(loop: ForOp) -> None:
    """
    Marks a loop to run several iterations at a time.

    Args:
        loop: A serial loop without loops inside.

    Legal for an innermost loop whose iterations do not depend on each other, or update accumulators in an order that is
    free.

    Before and after `vectorize(%j)`:

        for %j in 64 { block (%vj = %j) }
        for %j in 64 vectorized { block (%vj = %j) }
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


@step(ParallelOp)
def parallel(loop: ForOp) -> None:
    """
    Marks a loop to run its iterations on several threads.

    Args:
        loop: A serial loop.

    Legal for a loop whose iterations do not depend on each other, as far as the verifier proves that. It knows less of
    a loop that comes from a fused one.

    Before and after `parallel(%i)`:

        for %i in 64 { B }
        for %i in 64 parallel { B }
    """
    blame = Dependences(loop).blame(loop)
    if blame is not None:
        refuse(f"{loop_name(loop)} cannot run in parallel: {blame.reason}", loop, blame.op)
    before = loop.kind
    _set_kind(loop, "parallel")
    race = _race(loop)
    if race is not None:
        loop.kind = before
        name = value_name(race.buffer)
        refuse(
            f"{loop_name(loop)} cannot run in parallel: it is not proven that its iterations touch different elements "
            f"of {name}",
            loop,
            hint="mark another loop of the nest, or mark it before loops are fused",
        )


def _race(loop: ForOp) -> Race | None:
    """Returns two accesses in a parallel loop that the verifier refuses. What a step leaves has to verify."""
    accesses = Accesses()
    found = list(accesses.of(function_of(loop)))
    return next((race for race in races(accesses, found) if race.loop is loop), None)


@step(AnnotateOp)
def annotate(target: ForOp | BlockOp, key: str, value: Attribute | int | str) -> None:
    """
    Sets an attribute of a loop or block, which changes no result.

    Args:
        target: The loop or block.
        key: The name of the attribute, in ASCII and with a prefix.
        value: An attribute, or a number or text that becomes one.

    Legal for names with a prefix. A name without one would be a property of the loop or block, as `kind` is. Of the
    prefixes of Stepwell, a block takes the names of the decisions that a plan makes, such as `stepwell.tiling`.

    Before and after `annotate(%i, "mypkg.grain", 4)`:

        for %i in 64 { B }
        for %i in 64 attributes {mypkg.grain = 4 : i64} { B }
    """
    if not key:
        refuse("the key is empty, expected a name", target)
    if not key.isascii() or not key.isprintable():
        refuse(f'the key "{key}" has characters other than ASCII ones', target)
    assert isinstance(target, IRDLOperation)
    if key in target.get_irdl_definition().properties:
        refuse(f'"{key}" is a property of {quoted(target.name)}, expected another key', target)
    if "." not in key:
        refuse(f'the key "{key}" has no prefix, expected a name such as "mypkg.{key}"', target)
    if key.startswith(PREFIXES):
        _check_decided(target, key)
    target.attributes[key] = as_attribute(value)


def _check_decided(target: ForOp | BlockOp, key: str) -> None:
    """Refuses a key of Stepwell that is no decision: others switch checks off, or are without effect."""
    if isinstance(target, ForOp):
        refuse(f'a schedule cannot set "{key}" on a loop, expected a prefix of your own, as in "mypkg.key"', target)
    if key not in DECIDED:
        hint = None if key in NAMES else did_you_mean(key, DECIDED)
        known = f"expected a prefix of your own, or one of {', '.join(sorted(DECIDED))}"
        refuse(f'a schedule cannot set "{key}" on a block, {known}', target, hint=hint)
