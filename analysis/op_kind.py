"""
Tells what fusion may do with an op, from its tensor expressions: which elements of its operands each result needs.

The rules follow the pattern kinds of TVM (J. Roesch et al., "Relay: A High-Level Compiler for Deep Learning", 2019).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial
from itertools import count
from weakref import ref

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, Operation

from .. import te
from ..core.ir.element_types import dtype_name
from ..core.roles import GROUP, GROUP_REASON
from ..dialects.graph.calls import CallKernelOp
from ..dialects.traits import LoopSemantics, may_fail
from ..te import dtypes
from ..te.expr import Axis, Binary, Expr
from ..te.nodes import Cast, Check
from ..te.reductions import ReductionResult
from ..te.tensor import Load, results_of
from .kernel_kind import facts_of_kernel
from .kinds import OPAQUE_FACTS, OpFacts, OpKind, kind_of_stages
from .reduced_rows import rows_of_stages

PLAN = frozenset({GROUP, GROUP_REASON})
"""The attributes of a fusion plan. They differ from op to op and say nothing about what the op computes."""

_MAX_KNOWN = 4096
_known: dict[Hashable, OpFacts] = {}


class _Numbers:
    """
    Gives each attribute a number, the same for equal ones.

    Identical layers share few attributes, and hashing a type takes 5 µs. So objects are known by identity as long as
    they live. When there are too many values, all are forgotten, and no number is used again.
    """

    def __init__(self, most: int = 4 * _MAX_KNOWN):
        self._most, self._next = most, count()
        self._by_identity: dict[int, tuple[ref[Attribute], int]] = {}
        self._by_value: dict[Attribute, int] = {}

    def of(self, attribute: Attribute) -> int:
        known = self._by_identity.get(id(attribute))
        if known is None:
            number = self._by_value.get(attribute)
            if number is None:
                if len(self._by_value) >= self._most:
                    self._by_identity.clear()
                    self._by_value.clear()
                number = self._by_value[attribute] = next(self._next)
            forget = partial(self._by_identity.pop, id(attribute))
            known = self._by_identity[id(attribute)] = (ref(attribute, forget), number)
        return known[1]


_numbers = _Numbers()


def kind_of_op(op: Operation) -> OpKind:
    """
    Returns the kind of an op with loop semantics, or of the loop function that a `graph.call_kernel` calls.

    The kind is `OPAQUE` for every other op, constants and weights among them. So it is for ops that may fail, and for
    ops whose meaning needs sizes that are not known yet.
    """
    return facts_of_op(op).kind


def facts_of_op(op: Operation) -> OpFacts:
    """Returns the kind and the rows of an op. See `kind_of_op`."""
    if isinstance(op, CallKernelOp):
        return facts_of_kernel(op.kernel())
    if not isinstance(op, LoopSemantics) or may_fail(op):
        return OPAQUE_FACTS
    if op.regions:
        return _computed_facts(op)
    number = _numbers.of
    key = (
        type(op),
        tuple(sorted((name, number(value)) for name, value in op.properties.items())),
        tuple(sorted((name, number(value)) for name, value in op.attributes.items() if name not in PLAN)),
        tuple([number(operand.type) for operand in op.operands]),
        tuple([number(result.type) for result in op.results]),
    )
    if (facts := _known.get(key)) is None:
        if len(_known) >= _MAX_KNOWN:
            _known.clear()
        facts = _known[key] = _computed_facts(op)
    return facts


def _computed_facts(op: Operation) -> OpFacts:
    assert isinstance(op, LoopSemantics)
    placeholders = [_placeholder(operand.type, number) for number, operand in enumerate(op.operands)]
    inputs = [tensor for tensor in placeholders if tensor is not None]
    if len(inputs) != len(placeholders):
        return OPAQUE_FACTS
    try:
        outputs = results_of(op, inputs)
        return OpFacts(kind_of_tensors(outputs, inputs), rows_of_stages(_stages_between(outputs, inputs)))
    except te.TEError:
        # A size is `?` where the meaning needs a number. Nothing can be said before shapes are specialised.
        return OPAQUE_FACTS


def _placeholder(type_: Attribute, number: int) -> te.Tensor | None:
    """
    Returns an input tensor of an IR type, with one variable per `?`, or `None` for a type that te has no tensor for.
    """
    if not isinstance(type_, TensorType):
        return None
    dtype = dtype_name(type_.element_type)
    if dtype not in dtypes.ALL:
        return None
    sizes = [
        te.var(f"size{number}_{dim}") if size == DYNAMIC_INDEX else size for dim, size in enumerate(type_.get_shape())
    ]
    return te.placeholder(sizes, dtype, f"operand{number}")


def kind_of_tensors(outputs: Sequence[te.Tensor], inputs: Sequence[te.Tensor]) -> OpKind:
    """
    Returns the kind of the computation from `inputs` to `outputs`.

    Stages that map have the kind of the hardest of them. One reduction or contraction at the end gives its own kind. A
    reduction with mapping stages after it (softmax, a mean) is `OUT_FUSABLE`. A check, a reduction of a reduction, a
    result that is an input, or a reduction beside several results makes it `OPAQUE`.
    """
    stages = _stages_between(outputs, inputs)
    if not stages or {id(tensor.source) for tensor in outputs} - {id(stage) for stage in stages}:
        return OpKind.OPAQUE
    return kind_of_stages([_kind_of_stage(stage) for stage in stages], [tensor.shape for tensor in outputs])


def _stages_between(outputs: Sequence[te.Tensor], inputs: Sequence[te.Tensor]) -> list[te.Compute]:
    """Returns the stages below `outputs` down to `inputs`, producers first."""
    given = {id(tensor) for tensor in inputs}
    inside: set[int] = set()
    stack = list(outputs)
    while stack:
        tensor = stack.pop()
        if id(tensor) in given or tensor.source is None or id(tensor.source) in inside:
            continue
        inside.add(id(tensor.source))
        stack.extend(tensor.source.inputs)
    return [stage for stage in te.stages(*outputs) if id(stage) in inside]


def _kind_of_stage(stage: te.Compute) -> OpKind:
    nodes = list(te.post_order(*stage.bodies))
    if any(isinstance(node, Check) for node in nodes):
        return OpKind.OPAQUE
    loads = [node for node in nodes if isinstance(node, Load)]
    first = stage.bodies[0]
    if isinstance(first, ReductionResult):
        return _kind_of_reduction(first, loads)
    if len(stage.bodies) > 1:
        return OpKind.OPAQUE
    kinds = {_kind_of_load(stage, load) for load in loads}
    if OpKind.INJECTIVE in kinds:
        return OpKind.INJECTIVE
    # Broadcast operands beside an elementwise one cost nothing more. A constant tensor has no operand at all.
    return OpKind.BROADCAST if kinds == {OpKind.BROADCAST} else OpKind.ELEMENTWISE


def _kind_of_load(stage: te.Compute, load: Load) -> OpKind:
    """Returns how the place of an element that is read relates to the place of the element that is computed."""
    axes = [axis for axis in stage.axes if axis.extent != 1]
    read: list[Axis] = []
    for index, size in zip(load.indices, load.tensor.shape, strict=True):
        if size == 1:
            continue
        if not isinstance(index, Axis) or not _covers(index, size) or index not in axes:
            return OpKind.INJECTIVE
        read.append(index)
    if read == axes:
        return OpKind.ELEMENTWISE
    places = [axes.index(axis) for axis in read]
    in_order = all(a < b for a, b in zip(places, places[1:], strict=False))
    return OpKind.BROADCAST if in_order else OpKind.INJECTIVE


def _covers(axis: Axis, size: te.Dim) -> bool:
    """
    Returns whether the axis runs over a whole dimension of `size`. Two symbolic sizes that meet in one index are equal.
    """
    if isinstance(axis.extent, int) and isinstance(size, int):
        return axis.extent == size and axis.lower == 0
    return True


def _kind_of_reduction(result: ReductionResult, loads: Sequence[Load]) -> OpKind:
    reduction = result.reduction
    if any(isinstance(node, Load) for load in loads for node in te.post_order(*load.indices)):
        return OpKind.OPAQUE
    if _is_product_sum(result):
        return OpKind.OUT_FUSABLE
    # A proper reduction reads whole dimensions, so its axes stand alone in indices. Windows overlap.
    for load in loads:
        for index in load.indices:
            if not isinstance(index, Axis) and any(node in reduction.axes for node in te.post_order(index)):
                return OpKind.OUT_FUSABLE
    return OpKind.REDUCTION


def _is_product_sum(result: ReductionResult) -> bool:
    """Returns whether the reduction sums products of elements of two tensors, apart from casts."""
    combined, value = result.reduction.reducer.results[0], _without_casts(result.reduction.values[0])
    if not (isinstance(combined, Binary) and combined.function == "add"):
        return False
    if not (isinstance(value, Binary) and value.function == "mul"):
        return False
    lhs, rhs = _without_casts(value.lhs), _without_casts(value.rhs)
    return isinstance(lhs, Load) and isinstance(rhs, Load) and lhs is not rhs


def _without_casts(expr: Expr) -> Expr:
    while isinstance(expr, Cast):
        expr = expr.operand
    return expr
