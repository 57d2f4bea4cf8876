"""Sums, maxima and other reductions over reduction axes, and the walk over everything below an expression."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from functools import cached_property

from ..lazy_dataclass import dataclass
from .expr import Axis, Expr, TEError, Var, as_expr
from .words import shortened


@dataclass(frozen=True, eq=False)
class Reducer:
    """
    A commutative and associative combination of tuples, which starts from `identity`.

    `combined = results[lhs := running value, rhs := next value]`. There is one entry per component. An argmax has two:
    index and value.
    """

    name: str
    lhs: tuple[Var, ...]
    rhs: tuple[Var, ...]
    results: tuple[Expr, ...]
    identity: tuple[Expr, ...]

    def __post_init__(self) -> None:
        parts = self.lhs, self.rhs, self.results, self.identity
        counts = [len(part) for part in parts]
        if not all(counts) or len(set(counts)) > 1:
            found = "{} on the left, {} on the right, {} results, {} identities".format(*counts)
            raise TEError(f"reducer '{self.name}' has {found}, expected one each per component")
        for index, each in enumerate(zip(*parts, strict=True)):
            types = [part.dtype for part in each]
            if len(set(types)) > 1:
                where = f"component {index} of reducer '{self.name}'"
                raise TEError(f"{where} has the types {', '.join(types)}, expected one element type")


@dataclass(frozen=True, eq=False)
class Reduction:
    """
    `reducer` over `values` for all points of `axes`. It is legal only as the whole body of a compute stage.

    It is not an operand of an `Expr`, since reductions do not nest. `components` are what `te.compute` accepts as its
    body.
    """

    reducer: Reducer
    values: tuple[Expr, ...]
    axes: tuple[Axis, ...]
    components: tuple[ReductionResult, ...] = field(init=False)

    def __post_init__(self) -> None:
        if len(self.values) != len(self.reducer.identity):
            raise TEError(
                f"reducer '{self.reducer.name}' combines {len(self.reducer.identity)} values, found {len(self.values)}"
            )
        for value in self.values:
            if not isinstance(value, Expr):
                as_expr(value, "f32")
                raise TEError(f"reducer '{self.reducer.name}' takes an expression, found the number {value!r}")
        for value, identity in zip(self.values, self.reducer.identity, strict=True):
            if value.dtype != identity.dtype:
                what = f"reducer '{self.reducer.name}' combines values of type {identity.dtype}"
                raise TEError(f"{what}, found one of {value.dtype}")
        self._check_axes()
        results = tuple(ReductionResult(self, i) for i in range(len(self.values)))
        object.__setattr__(self, "components", results)

    def _check_axes(self) -> None:
        if not self.axes:
            raise TEError(f"reducer '{self.reducer.name}' goes over no axis, expected at least one te.reduce_axis")
        for number, axis in enumerate(self.axes):
            if any(axis is other for other in self.axes[:number]):
                raise TEError(f"a reduction goes over '{axis.name}' twice, expected each axis once")
            if axis.kind != "reduce":
                raise TEError(f"'{axis.name}' is a spatial axis; reduce over te.reduce_axis axes")


def axes_of(axis: object) -> tuple[Axis, ...]:
    """Returns one axis or several as a tuple. Raises TEError for what is no axis."""
    axes: list[Axis] = []
    for each in axis if isinstance(axis, list | tuple) else (axis,):
        if not isinstance(each, Axis):
            raise TEError(f"a reduction goes over {shortened(each)}, expected a te.reduce_axis, or several in a list")
        axes.append(each)
    return tuple(axes)


@dataclass(frozen=True, eq=False, repr=False)
class ReductionResult(Expr):
    """Component `index` of a reduction."""

    reduction: Reduction
    index: int

    def _text(self, levels: int) -> str:
        found = self.reduction
        axes = ", ".join(axis.name for axis in found.axes)
        component = f"[{self.index}]" if len(found.values) > 1 else ""
        name = "sum" if found.reducer.name == "add" else found.reducer.name
        return f"{name}({', '.join(each._text(levels) for each in found.values)}, axis={axes}){component}"

    @cached_property
    def dtype(self) -> str:
        return self.reduction.reducer.identity[self.index].dtype


def post_order(*roots: Expr) -> Iterator[Expr]:
    """
    Yields every expression below `roots` once, operands first. The values of reductions are included. Does not recurse.
    """
    seen: set[int] = set()
    stack: list[tuple[Expr, bool]] = [(root, False) for root in reversed(roots)]
    while stack:
        node, done = stack.pop()
        if done:
            yield node
            continue
        if id(node) in seen:
            continue
        seen.add(id(node))
        stack.append((node, True))
        below = node.reduction.values if isinstance(node, ReductionResult) else node.operands
        stack.extend((operand, False) for operand in reversed(below))
