"""The ops of `tensor_loop`: loops, blocks with their inits, and calls of loop functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from ...core.ir.walk import ops_of
from ...core.roles import IN_PLACE, TEMPORARY, UNCHECKED, WRITTEN
from ...dialects.tensor_loop import BlockOp, CallOp, Extent, ForOp, FuncOp, LoopOp
from .control import argument_attributes, run_parallel
from .faults import fault, listed, name_of
from .memory import forget, remember
from .state import Frame, LoopWatcher, Machine, Prepare, Scope, Step
from .storage import Buffer, overlap

# Affine expressions

Affine = Callable[[Sequence[int]], int]

_BINARY: dict[AffineBinaryOpKind, Callable[[int, int], int]] = {
    AffineBinaryOpKind.Add: lambda x, y: x + y,
    AffineBinaryOpKind.Mul: lambda x, y: x * y,
    AffineBinaryOpKind.Mod: lambda x, y: x % y,
    AffineBinaryOpKind.FloorDiv: lambda x, y: x // y,
    AffineBinaryOpKind.CeilDiv: lambda x, y: -(-x // y),
}


def affine(expr: AffineExpr) -> Affine:
    """Returns an affine expression as a function of the values of its dimensions."""
    if isinstance(expr, AffineConstantExpr):
        value = expr.value
        return lambda dims: value
    if isinstance(expr, AffineDimExpr):
        position = expr.position
        return lambda dims: dims[position]
    assert isinstance(expr, AffineBinaryOpExpr)
    combine, one, other = _BINARY[expr.kind], affine(expr.lhs), affine(expr.rhs)
    return lambda dims: combine(one(dims), other(dims))


# Loops


class _Extents:
    """Extents of loops or axes: numbers, and slots of those that are values."""

    def __init__(self, scope: Scope, extents: Sequence[Extent]):
        self._numbers = [extent if isinstance(extent, int) else 0 for extent in extents]
        self._slots = [(n, scope.slot(each)) for n, each in enumerate(extents) if isinstance(each, SSAValue)]

    def read(self, frame: Frame) -> list[int]:
        """Returns the extents now."""
        if not self._slots:
            return self._numbers
        found = list(self._numbers)
        for number, slot in self._slots:
            found[number] = int(frame[slot])
        return found


def _loop(scope: Scope, op: Operation) -> Step:
    """Prepares a loop. Each variable runs from 0, the last one fastest."""
    assert isinstance(op, LoopOp)
    extents = _Extents(scope, op.extents)
    body, machine = scope.region(op.body), scope.machine
    watchers = scope.around_loops.get(op, [])
    is_parallel = isinstance(op, ForOp) and op.kind_name == "parallel"

    def step(frame: Frame) -> None:
        for watcher in watchers:
            watcher.begin(frame)
        points: Iterator[tuple[int, ...]] = product(*(machine.some(range(each)) for each in extents.read(frame)))
        if is_parallel:
            run_parallel(machine, op, points, lambda point: body(frame, [np.int64(point[0])]))
        else:
            for point in points:
                body(frame, [np.int64(index) for index in point])
        for watcher in watchers:
            watcher.end(frame)

    return step


# Blocks


class _Block:
    """A block that is ready to run: the values of its axes, its condition, its init and its body."""

    def __init__(self, scope: Scope, op: BlockOp):
        self.op = op
        self.operands = scope.slots_of(op.binding_operands)
        self.axes = scope.slots_of(op.axes)
        self.bindings = [affine(expr) for expr in op.binding_exprs]
        self.constraints = [(affine(expr), bound) for expr, bound in op.constraints]
        self.extents = _Extents(scope, op.extents)
        self._all = range(len(self.axes))
        self.init = None if op.init is None else _Init(scope, op, self)
        self.body = scope.block(op.body.block, skip=op.init)

    def step(self, frame: Frame) -> None:
        """Runs the block for the current values of the loop variables."""
        dims = [int(frame[slot]) for slot in self.operands]
        if any(constraint(dims) >= bound for constraint, bound in self.constraints):
            return
        self.bind(frame, dims, self._all)
        if self.init is not None:
            self.init.first(frame)
        self.body(frame, [frame[slot] for slot in self.axes])

    def bind(self, frame: Frame, dims: Sequence[int], positions: Sequence[int]) -> None:
        """Gives axes their values. Raises `LoopFault` for a value outside of the extent of its axis."""
        extents = self.extents.read(frame)
        for position in positions:
            value, extent = self.bindings[position](dims), extents[position]
            if not 0 <= value < extent:
                name = name_of(self.op.axes[position])
                raise fault("extent", self.op, f"axis {name} is {value}, but its extent is {extent}")
            frame[self.axes[position]] = np.int64(value)


class _Init(LoopWatcher):
    """
    The init of a block, which runs once per point of the spatial axes, before any iteration of the reduce axes.

    It runs when the block is reached for a point for the first time since the outermost loop has begun on which a
    reduce axis depends. At the end of that loop it runs for the points that were not reached. Other loops in there,
    which no axis depends on, make new points.
    """

    def __init__(self, scope: Scope, op: BlockOp, block: _Block):
        assert op.init is not None
        self._block = block
        self._body = scope.region(op.init.body)
        self._spatial = [p for p, kind in enumerate(op.kinds) if kind == "spatial"]
        of_reduce = _variables(op, [p for p, kind in enumerate(op.kinds) if kind == "reduce"])
        loops = _loops_around(op)
        outermost = next((n for n, loop in enumerate(loops) if of_reduce & set(loop.variables)), None)
        inner = [] if outermost is None else loops[outermost:]
        others = [(loop, v) for loop in inner for v in loop.variables if v not in of_reduce]
        self._others = scope.slots_of([variable for _, variable in others])
        self._sizes = _Extents(scope, [loop.extents[variable.index] for loop, variable in others])
        self._constraints = [  # Those that no reduce axis has a part in.
            block.constraints[number]
            for number, (expr, _) in enumerate(op.constraints)
            if not of_reduce & _sources([op.binding_operands[dim] for dim in expr.used_dims()])
        ]
        self._completes = not of_reduce & _variables(op, self._spatial) and _known_before(inner, others, op)
        self._done: set[tuple[int, ...]] | None = None
        if inner:
            scope.around_loops.setdefault(inner[0], []).append(self)

    def begin(self, frame: Frame) -> None:
        self._done = set()

    def first(self, frame: Frame) -> None:
        """Runs the init where the block is reached for the first time. The axes have their values."""
        if self._done is not None:
            point = self._point(frame)
            if point in self._done:
                return
            self._done.add(point)
        self._body(frame)

    def end(self, frame: Frame) -> None:
        done, self._done = self._done, None
        if not self._completes or done is None:
            return
        for values in product(*map(range, self._sizes.read(frame))):
            for slot, value in zip(self._others, values, strict=True):
                frame[slot] = np.int64(value)
            dims = [0 if frame[slot] is None else int(frame[slot]) for slot in self._block.operands]
            if any(constraint(dims) >= bound for constraint, bound in self._constraints):
                continue
            self._block.bind(frame, dims, self._spatial)
            if self._point(frame) not in done:
                done.add(self._point(frame))
                self._body(frame)

    def _point(self, frame: Frame) -> tuple[int, ...]:
        slots = [*self._others, *(self._block.axes[position] for position in self._spatial)]
        return tuple(int(frame[slot]) for slot in slots)


def _loops_around(op: Operation) -> list[LoopOp]:
    """Returns the loops of the dialect around an op, outermost first, whatever lies between them."""
    found: list[LoopOp] = []
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, FuncOp):
        if isinstance(parent, LoopOp):
            found.append(parent)
        parent = parent.parent_op()
    return found[::-1]


def _variables(op: BlockOp, positions: Sequence[int]) -> set[SSAValue]:
    """Returns what the bindings of some axes depend on."""
    return _sources([op.binding_operands[dim] for p in positions for dim in op.binding_exprs[p].used_dims()])


def _sources(values: Sequence[SSAValue]) -> set[SSAValue]:
    """Returns values with all that they are computed from."""
    pending, found = list(values), set[SSAValue]()
    while pending:
        value = pending.pop()
        if value not in found:
            found.add(value)
            if isinstance(value.owner, Operation):
                pending += value.owner.operands
    return found


def _known_before(inner: Sequence[LoopOp], others: Sequence[tuple[LoopOp, BlockArgument]], op: BlockOp) -> bool:
    """Returns whether extents and bindings need nothing that is computed inside of the outermost of the loops."""
    values = [loop.extents[variable.index] for loop, variable in others]
    for value in (*values, *op.binding_operands, *op.dynamic_extents):
        owner = value.owner if isinstance(value, SSAValue) else None
        if isinstance(owner, Operation) and inner and inner[0].is_ancestor(owner):
            return False
    return True


def _block(scope: Scope, op: Operation) -> Step:
    assert isinstance(op, BlockOp)
    return _Block(scope, op).step


# Calls


def _call(scope: Scope, op: Operation) -> Step:
    assert isinstance(op, CallOp)
    arguments, machine, name = scope.slots_of(op.operands), scope.machine, op.callee.string_value()

    def step(frame: Frame) -> None:
        call_loops(machine, op, name, [frame[slot] for slot in arguments])

    return step


def call_loops(machine: Machine, op: Operation, name: str, values: Sequence[Any]) -> None:
    """
    Calls `tensor_loop.func @name` on inputs and outputs.

    Inputs may only be read. Temporaries and outputs hold nothing before, but for outputs in place. Raises `LoopFault`
    where an output or a temporary shares memory with another argument, or an output is not written as a whole. It does
    so as well where a loop function gives an input that is not written as a whole. A function marked as written is
    trusted.
    """
    function = machine.function(name, op)
    kernel = function.op
    assert isinstance(kernel, FuncOp)
    attributes_of = argument_attributes(kernel, len(values))
    _check_apart(op, name, values, len(kernel.inputs), [TEMPORARY in each for each in attributes_of])
    given: list[Any] = []
    emptied: list[tuple[Buffer, Any]] = []
    for position, (value, attributes) in enumerate(zip(values, attributes_of, strict=True)):
        is_input = position < len(kernel.inputs)
        if isinstance(value, Buffer) and TEMPORARY in attributes:
            forget(value)
            emptied.append((value, None))
        elif isinstance(value, Buffer) and is_input:
            if not machine.samples and _is_asked(_loop_function_around(op)):
                _check_whole(op, value, f"of input {position} of @{name} is read, but nothing has written it")
            value = value.protected(f"it is an input of @{name}")
        elif isinstance(value, Buffer) and IN_PLACE not in attributes:
            emptied.append((value, forget(value)))
        given.append(value)
    if machine.watch is not None:
        machine.watch(kernel, given, False)
    function.run(op, given)
    if machine.watch is not None:
        machine.watch(kernel, given, True)
    for buffer, before in emptied:
        if before is None:
            forget(buffer)
        else:
            if (
                op is not kernel and not machine.samples and _is_asked(kernel)
            ):  # The outputs of an entry are looked at when they are returned.
                _check_whole(op, buffer, f"of an output of @{name} is returned, but nothing has written it")
            remember(buffer, before)


def _loop_function_around(op: Operation) -> FuncOp | None:
    current: Operation | None = op
    while current is not None and not isinstance(current, FuncOp):
        current = current.parent_op()
    return current


def _is_asked(function: FuncOp | None) -> bool:
    """Returns whether a loop function makes no promise about what is written in it."""
    if function is None or WRITTEN in function.attributes:
        return False
    return not any(UNCHECKED in block.attributes for block in ops_of(function, BlockOp))


def _check_whole(op: Operation, buffer: Buffer, what: str) -> None:
    missing = ~buffer.are_written()
    if missing.any():
        raise fault("unwritten", op, f"element {listed(np.argwhere(missing)[0])} {what}")


def _check_apart(op: Operation, name: str, values: Sequence[Any], inputs: int, temporary: Sequence[bool]) -> None:
    """Raises `LoopFault` where an output or a temporary of a call shares memory with another argument."""
    names = _kinds(inputs, temporary)
    for position, value in enumerate(values):
        if not isinstance(value, Buffer) or (position < inputs and not temporary[position]):
            continue
        for other, found in enumerate(values):
            if other != position and isinstance(found, Buffer) and overlap(value, found):
                (kind, which), (other_kind, where) = names[position], names[other]
                of = "them" if kind == other_kind else f"the {other_kind}"
                message = f"number {which} of the {kind} shares memory with number {where} of {of}"
                raise fault("alias", op, f"call of @{name}: {message}")


def _kinds(inputs: int, temporary: Sequence[bool]) -> list[tuple[str, int]]:
    """Returns for each argument of a call what it is, and its number among those."""
    counts: dict[str, int] = {}
    found: list[tuple[str, int]] = []
    for position, is_temporary in enumerate(temporary):
        kind = "temporaries" if is_temporary else "inputs" if position < inputs else "outputs"
        found.append((kind, counts.setdefault(kind, 0)))
        counts[kind] += 1
    return found


TABLE: dict[str, Prepare] = {
    "tensor_loop.for": _loop,
    "tensor_loop.grid": _loop,
    "tensor_loop.block": _block,
    "tensor_loop.call": _call,
}
