"""
Evaluates tensor expressions on NumPy arrays: `evaluate([y], {x: array})`.

Each stage is computed over its whole grid of axes at once, in blocks of bounded memory. Results follow
docs/semantics.md bit for bit where it fixes them, so constant folding may use them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any, Protocol

import numpy as np

from . import dtypes, numeric
from .expr import Axis, Binary, Compare, Const, Expr, TEError, Unary, Var, const
from .lines import line_of
from .nodes import BitCast, Cast, Check, FusedMultiplyAdd, Select
from .numeric import Array, dtype_of, numpy_dtype
from .reductions import Reducer, ReductionResult, post_order
from .tensor import Compute, Dim, Load, Tensor, placeholder, results_of, stages
from .words import listed, shortened

MEMORY_LIMIT = 64 * 2**20
"""The most bytes that the intermediate values of one block may take."""

Range = tuple[int, int]
"""The first value of an axis, and the one after its last."""


class CheckFailed(Exception):
    """Raised when the condition of a `te.Check` does not hold. The text is its message."""


def evaluate(outputs: Sequence[Tensor], inputs: Mapping[Tensor | Var, Array]) -> list[Array]:
    """
    Returns the values of `outputs`, given those of the placeholders and of the `te.var`s that are no sizes.

    Raises CheckFailed when a check does not hold. Raises TEError for outputs that are no list of tensors, for an array
    that is missing or has another shape or type, for a symbolic size that no input fixes, for an index outside a
    tensor, and for selections that are nested too deeply.
    """
    wanted = listed(outputs, "te.evaluate")
    for output in wanted:
        if not isinstance(output, Tensor):
            raise TEError(f"te.evaluate takes a list of tensors, one of them is {shortened(output)}")
    with np.errstate(all="ignore"):
        given = {tensor: array for tensor, array in inputs.items() if isinstance(tensor, Tensor)}
        sizes = _bind_sizes(given)
        for scalar, number in inputs.items():
            if isinstance(scalar, Var):
                sizes.setdefault(scalar, _number(scalar, number))
        arrays: dict[tuple[int, int], Array] = {}

        def value_of(tensor: Tensor) -> Array:
            if tensor.source is not None:
                return arrays[id(tensor.source), tensor.index]
            if tensor not in given:
                raise TEError(f"no array is given for placeholder '{tensor.name}'")
            return given[tensor]

        for stage in stages(*wanted):
            try:
                found = _evaluate_stage(stage, value_of, sizes)
            except RecursionError:
                raise TEError(f"the selections and checks of stage '{stage.name}' are nested too deeply") from None
            arrays.update({(id(stage), index): array for index, array in enumerate(found)})
        return [np.array(value_of(output)) for output in wanted]


class HasTensorSemantics(Protocol):
    """An op whose meaning is a tensor expression (see `LoopSemantics`)."""

    def te(self, *operands: Tensor) -> tuple[Tensor, ...]: ...


def evaluate_op(op: HasTensorSemantics, arrays: Sequence[Array]) -> list[Array]:
    """Returns the results of an op on operand values `arrays`, by its tensor expression. Raises like `evaluate`."""
    operands, results = expressions_of(op, arrays)
    return evaluate(results, dict(zip(operands, arrays, strict=True)))


def expressions_of(op: HasTensorSemantics, arrays: Sequence[Array]) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
    """Returns a placeholder for each operand of an op, of the shape of its value, and the results made of them."""
    operands = [placeholder(array.shape, dtype_of(array), f"operand{number}") for number, array in enumerate(arrays)]
    return operands, results_of(op, operands)


def _number(variable: Var, number: Any) -> np.generic:
    """Returns the value given for a variable in its type. Raises TEError for what the type cannot hold."""
    found = np.asarray(number)
    if found.ndim or found.dtype.kind not in "biuf":
        raise TEError(f"the value of '{variable.name}' is {shortened(number)}, expected a number of {variable.type}")
    return numpy_dtype(variable.type).type(const(found.item(), variable.type).value)


def _bind_sizes(inputs: Mapping[Tensor, Array]) -> dict[Expr, Any]:
    """Returns the values of the variables that are sizes of inputs."""
    sizes: dict[Expr, Any] = {}
    for tensor, array in inputs.items():
        if not isinstance(array, np.ndarray | np.generic):
            raise TEError(f"the array of '{tensor.name}' is {shortened(array)}, expected an array of NumPy")
        if array.ndim != tensor.rank or array.dtype != numpy_dtype(tensor.dtype):
            raise TEError(
                f"the array of '{tensor.name}' has {array.ndim} dimensions of {array.dtype}, expected {tensor.rank} of "
                f"{numpy_dtype(tensor.dtype)}"
            )
        for size, found in zip(tensor.shape, array.shape, strict=True):
            if isinstance(size, Var):
                sizes.setdefault(size, found)
    for tensor, array in inputs.items():
        expected = tuple(_size(size, sizes) for size in tensor.shape)
        if expected != array.shape:
            raise TEError(f"the array of '{tensor.name}' has shape {array.shape}, expected {expected}")
    return sizes


def _size(size: Dim, sizes: Mapping[Expr, Any]) -> int:
    if isinstance(size, int):
        return size
    return int(_Grid({}, sizes, _no_tensor).value(size, _Scope()))


def _no_tensor(tensor: Tensor) -> Array:
    raise TEError(f"a size depends on the elements of '{tensor.name}'")


def _evaluate_stage(stage: Compute, value_of: Callable[[Tensor], Array], sizes: Mapping[Expr, Any]) -> list[Array]:
    spatial = [_axis_range(axis, sizes) for axis in stage.axes]
    reduce = [_axis_range(axis, sizes) for axis in stage.reduce_axes]
    shape = tuple(high - low for low, high in spatial)
    results = [np.empty(shape, numpy_dtype(body.dtype)) for body in stage.bodies]
    first = stage.bodies[0]
    roots = first.reduction.values if isinstance(first, ReductionResult) else stage.bodies
    # A block keeps every intermediate value until its end.
    limit = max(MEMORY_LIMIT // (8 * sum(not isinstance(node, Const | Axis) for node in post_order(*roots)) + 8), 1024)
    inner = min(prod(high - low for low, high in reduce), limit)
    for block in _blocks(spatial, max(limit // max(inner, 1), 1)):
        if isinstance(first, ReductionResult):
            values = _reduce_block(stage, first, block, reduce, limit, value_of, sizes)
        else:
            grid = _Grid(dict(zip(stage.axes, block, strict=True)), sizes, value_of)
            scope = _Scope()
            values = [grid.value(body, scope) for body in stage.bodies]
        place = tuple(slice(low - start, high - start) for (low, high), (start, _) in zip(block, spatial, strict=True))
        for result, value in zip(results, values, strict=True):
            result[place] = value
    return results


def _axis_range(axis: Axis, sizes: Mapping[Expr, Any]) -> Range:
    return axis.lower, axis.lower + max(_size(axis.extent, sizes), 0)


def _blocks(ranges: Sequence[Range], limit: int) -> Iterator[tuple[Range, ...]]:
    """Yields boxes of at most about `limit` points that cover `ranges`. No points give no box, and rank 0 gives one."""
    extents = [high - low for low, high in ranges]
    if 0 in extents:
        return
    steps: list[int] = []
    room = limit
    for extent in reversed(extents):
        steps.append(max(min(extent, room), 1))
        room //= extent
    steps.reverse()
    starts = [range(low, high, step) for (low, high), step in zip(ranges, steps, strict=True)]
    for corner in product(*starts):
        yield tuple((low, min(low + step, high)) for low, step, (_, high) in zip(corner, steps, ranges, strict=True))


def _reduce_block(
    stage: Compute,
    result: ReductionResult,
    block: tuple[Range, ...],
    reduce: Sequence[Range],
    limit: int,
    value_of: Callable[[Tensor], Array],
    sizes: Mapping[Expr, Any],
) -> list[Array]:
    """Returns the components of the reduction for one block of the spatial axes."""
    reducer = result.reduction.reducer
    shape = tuple(high - low for low, high in block)
    constants = _Grid({}, sizes, value_of)
    running = [np.broadcast_to(constants.value(identity, _Scope()), shape) for identity in reducer.identity]
    for part in _blocks(reduce, max(limit // max(prod(shape), 1), 1)):
        axes = dict(zip(stage.axes + stage.reduce_axes, block + part, strict=True))
        grid = _Grid(axes, sizes, value_of)
        scope = _Scope()
        values = [np.broadcast_to(grid.value(v, scope), grid.shape) for v in result.reduction.values]
        running = _combine(reducer, running, _fold(reducer, values, len(shape)))
    return running


def _simple_function(reducer: Reducer) -> str | None:
    """
    Returns the binary function that a one-component reducer applies to its two variables. The result is `None` unless
    it is a single function that NumPy can reduce by.
    """
    match reducer.results:
        case (Binary(function, lhs, rhs),) if {lhs, rhs} == {*reducer.lhs, *reducer.rhs}:
            return function if function in ("add", "mul", "max", "min", "and", "or", "xor") else None
        case _:
            return None


def _fold(reducer: Reducer, values: list[Array], rank: int) -> list[Array]:
    """
    Returns the reduction of `values` over all dimensions from `rank` on. A reducer that NumPy does not know combines
    pairwise halves.
    """
    if values[0].ndim == rank:
        return values
    if (function := _simple_function(reducer)) is not None:
        axes = tuple(range(rank, values[0].ndim))
        return [numeric.reduce(function, reducer.identity[0].dtype, values[0], axes)]
    flat = [value.reshape(*value.shape[:rank], -1) for value in values]
    while (count := flat[0].shape[-1]) > 1:
        half = count // 2
        combined = _combine(reducer, [v[..., :half] for v in flat], [v[..., half : 2 * half] for v in flat])
        flat = [np.concatenate([c, v[..., 2 * half :]], axis=-1) for c, v in zip(combined, flat, strict=True)]
    return [value[..., 0] for value in flat]


def _combine(reducer: Reducer, lhs: Sequence[Array], rhs: Sequence[Array]) -> list[Array]:
    scope = _Scope()
    scope.values.update(zip((*reducer.lhs, *reducer.rhs), (*lhs, *rhs), strict=True))
    grid = _Grid({}, {}, _no_tensor)
    return [grid.value(result, scope) for result in reducer.results]


class _Scope:
    """
    Holds values of expressions at the points of `mask`, or everywhere when it is `None`. Values of an outer scope hold
    here too.
    """

    def __init__(self, mask: Array | None = None, outer: _Scope | None = None):
        self.mask = mask
        self.outer = outer
        self.values: dict[Expr, Array] = {}

    def find(self, expr: Expr) -> Array | None:
        scope: _Scope | None = self
        while scope is not None:
            if (value := scope.values.get(expr)) is not None:
                return value
            scope = scope.outer
        return None

    def inside(self, condition: Array) -> _Scope:
        """Returns the scope of those points of this one where `condition` holds."""
        return _Scope(condition if self.mask is None else condition & self.mask, self)

    def holds_anywhere(self, condition: Array) -> bool:
        return bool(np.any(condition if self.mask is None else condition & self.mask))


class _Grid:
    """
    Computes expressions over a box of axes. Values are arrays that broadcast to `shape`, with one dimension per axis.
    """

    def __init__(self, axes: Mapping[Axis, Range], sizes: Mapping[Expr, Any], value_of: Callable[[Tensor], Array]):
        self.axes = axes
        self.sizes = sizes
        self.value_of = value_of
        self.positions = {axis: position for position, axis in enumerate(axes)}
        self.shape = tuple(high - low for low, high in axes.values())

    def value(self, root: Expr, scope: _Scope) -> Array:
        """
        Returns the value of `root` in `scope`. Recurses only into the sides of lazy selections and the values of
        checks.
        """
        stack = [root]
        while stack:
            expr = stack[-1]
            if scope.find(expr) is not None:
                stack.pop()
                continue
            result = self.lines(expr, scope) if isinstance(expr, Load) else None
            if result is None:
                missing = [operand for operand in _strict_operands(expr) if scope.find(operand) is None]
                if missing:
                    stack.extend(reversed(missing))
                    continue
                result = self.compute(expr, scope)
            scope.values[expr] = np.asarray(result)
            stack.pop()
        result = scope.find(root)
        assert result is not None
        return result

    def compute(self, expr: Expr, scope: _Scope) -> Array:
        """Returns the value of `expr`, whose strict operands are known."""
        operands = [value for o in _strict_operands(expr) if (value := scope.find(o)) is not None]
        match expr:
            case Const():
                return _constant(expr)
            case Axis() if expr in self.axes:
                low, high = self.axes[expr]
                after = len(self.shape) - self.positions[expr] - 1
                return np.arange(low, high).reshape(-1, *(1,) * after)
            case Var() if expr in self.sizes:
                return np.asarray(self.sizes[expr], dtype=np.int64)
            case Axis() | Var():
                raise TEError(f"'{expr.name}' has no value here")
            case Load():
                return self.gather(expr, operands, scope)
            case Unary():
                return numeric.unary(expr.function, expr.operand.dtype, *operands)
            case Binary():
                return numeric.binary(expr.function, expr.dtype, *operands)
            case Compare():
                return numeric.compare(expr.function, *operands)
            case FusedMultiplyAdd():
                return numeric.fma(expr.dtype, *operands)
            case Cast():
                return numeric.cast(expr.operand.dtype, expr.type, *operands)
            case BitCast():
                return operands[0].view(numeric.numpy_dtype(expr.type))
            case Select(lazy=False):
                return np.where(*operands)
            case Select():
                return self.choose(expr, operands[0], scope)
            case Check():
                if scope.holds_anywhere(~operands[0]):
                    raise CheckFailed(expr.message)
                return self.value(expr.value, scope)
            case _:
                raise TEError("a reduction must be the whole body of a stage")

    def choose(self, expr: Select, condition: Array, scope: _Scope) -> Array:
        """
        Computes a lazy selection. Each side is computed only at the points that choose it, and not at all when there
        are none.
        """
        if bool(np.all(condition)):
            return self.value(expr.if_true, scope)
        if not bool(np.any(condition)):
            return self.value(expr.if_false, scope)
        sides = [
            self.value(side, scope.inside(chosen)) if scope.holds_anywhere(chosen) else _constant(Const(0, expr.dtype))
            for side, chosen in ((expr.if_true, condition), (expr.if_false, ~condition))
        ]
        return np.where(condition, *sides)

    def gather(self, expr: Load, indices: list[Array], scope: _Scope) -> Array:
        """Returns the elements at computed indices. Outside the scope's mask they may be any element."""
        array = self.value_of(expr.tensor)
        limited: list[Array] = []
        for dim, (index, size) in enumerate(zip(indices, array.shape, strict=True)):
            outside = (index < 0) | (index >= size)
            if scope.holds_anywhere(outside):
                raise TEError(f"'{expr.tensor.name}' is read outside dimension {dim}, which has {size} elements")
            if size == 0:
                return _constant(Const(0, expr.dtype))
            limited.append(np.clip(index, 0, size - 1) if np.any(outside) else index)
        return array[tuple(limited)]

    def lines(self, expr: Load, scope: _Scope) -> Array | None:
        """
        Returns a view when every index is `axis * factor + offset`, uses an axis of its own and stays inside, else
        `None`.
        """
        array = self.value_of(expr.tensor)
        items: list[int | slice] = []
        used: list[int] = []
        for index, size in zip(expr.indices, array.shape, strict=True):
            line = line_of(index)
            if line is None or (line[0] is not None and line[0] not in self.axes):
                return None
            axis, factor, offset = line
            low, high = (0, 1) if axis is None else self.axes[axis]
            first, last = low * factor + offset, (high - 1) * factor + offset
            if not (0 <= first < size and 0 <= last < size):
                return None
            if axis is None:
                items.append(first)
                continue
            if self.positions[axis] in used or factor == 0:
                return None
            used.append(self.positions[axis])
            stop = last + (1 if factor > 0 else -1)
            items.append(slice(first, None if stop < 0 else stop, factor))
        view = np.asarray(array[tuple(items)]).transpose(np.argsort(used, kind="stable"))
        shape = [extent if position in used else 1 for position, extent in enumerate(self.shape)]
        return view.reshape(shape)


def _strict_operands(expr: Expr) -> tuple[Expr, ...]:
    """Returns the operands that are computed whatever their values are."""
    if isinstance(expr, Check) or (isinstance(expr, Select) and expr.lazy):
        return (expr.condition,)
    return expr.operands


def _constant(expr: Const) -> Array:
    if dtypes.is_float(expr.type):
        return numeric.cast("f64", expr.type, np.asarray(expr.value, dtype=np.float64))
    return np.asarray(expr.value, dtype=numpy_dtype(expr.type))
