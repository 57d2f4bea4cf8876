"""Tensors: placeholders and compute stages. `te.compute` is the one way to make a tensor out of others."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cached_property
from math import prod

from ..lazy_dataclass import dataclass
from .expr import Axis, Expr, Number, TEError, Var, as_expr
from .reductions import ReductionResult, post_order

Dim = int | Expr
"""A size in elements: a number, or an index expression over `te.var`s."""


@dataclass(frozen=True, eq=False)
class Tensor:
    """
    A tensor of `shape` (elements) and element type `dtype`. `source` is the stage that computes it, or `None` for a
    placeholder. `index` tells which of the stage's results it is.
    """

    shape: tuple[Dim, ...]
    dtype: str
    name: str
    source: Compute | None = None
    index: int = 0

    def __getitem__(self, indices: Expr | int | tuple[Expr | int, ...]) -> Load:
        items = indices if isinstance(indices, tuple) else (indices,)
        return Load(self, tuple(as_expr(item, "index") for item in items))

    def __call__(self, *indices: Expr | int) -> Load:
        return self[tuple(indices)]

    @property
    def rank(self) -> int:
        """Returns the number of dimensions."""
        return len(self.shape)

    @property
    def static_shape(self) -> tuple[int, ...]:
        """Returns the shape as numbers. Raises TEError when a size is symbolic."""
        sizes = tuple(size for size in self.shape if isinstance(size, int))
        if len(sizes) != len(self.shape):
            raise TEError(f"tensor '{self.name}' has a symbolic size, expected a static shape")
        return sizes

    @property
    def size(self) -> int:
        """Returns the number of elements of a static tensor."""
        return prod(self.static_shape)


@dataclass(frozen=True, eq=False)
class Load(Expr):
    """Element `indices` of `tensor`. Every index must lie within the tensor."""

    tensor: Tensor
    indices: tuple[Expr, ...]

    @cached_property
    def dtype(self) -> str:
        return self.tensor.dtype

    @property
    def operands(self) -> tuple[Expr, ...]:
        return self.indices

    def check(self) -> None:
        if len(self.indices) != len(self.tensor.shape):
            raise TEError(
                f"tensor '{self.tensor.name}' has {len(self.tensor.shape)} dimensions but {len(self.indices)} "
                "indices were given"
            )
        for index in self.indices:
            if index.dtype != "index":
                raise TEError(
                    f"tensor '{self.tensor.name}' is indexed by a value of type {index.dtype}, expected index"
                )


@dataclass(frozen=True, eq=False)
class Compute:
    """
    A stage that computes the results `bodies` for every point of the spatial `axes`. Either all bodies are components
    of one `Reduction`, or none is.
    """

    name: str
    axes: tuple[Axis, ...]
    bodies: tuple[Expr, ...]

    @property
    def reduce_axes(self) -> tuple[Axis, ...]:
        """Returns the axes of the reduction. There are none where the stage reduces nothing."""
        body = self.bodies[0]
        return body.reduction.axes if isinstance(body, ReductionResult) else ()

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """The tensors that the bodies load from, each once, in order of first use."""
        loads = (node.tensor for node in post_order(*self.bodies) if isinstance(node, Load))
        return tuple({id(tensor): tensor for tensor in loads}.values())


def placeholder(shape: Sequence[Dim], dtype: str = "f32", name: str = "placeholder") -> Tensor:
    """Makes an input tensor."""
    return Tensor(_checked_shape(shape, name), dtype, name)


def var(name: str, dtype: str = "index") -> Var:
    """Makes a symbolic scalar, by default a size. It is one parameter, even when several shapes use it."""
    return Var(name, dtype)


def reduce_axis(domain: Dim | tuple[int, int], name: str = "k") -> Axis:
    """Makes a reduction axis over `0 <= k < domain`, or over `lo <= k < hi` for a pair of numbers."""
    if isinstance(domain, tuple):
        low, high = domain
        return Axis(name, max(high - low, 0), "reduce", low)
    return Axis(name, domain, "reduce")


Body = Expr | Number | tuple["Expr | Number", ...]


def compute(
    shape: Sequence[Dim],
    function: Callable[..., Body],
    name: str = "compute",
    dtype: str | None = None,
    varargs_names: Sequence[str] | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """
    Makes the tensor `T[i, j, …] = function(i, j, …)` of `shape` (elements).

    The names of the function's arguments become the axis names. `*args` takes the rest, named by `varargs_names` or
    `i1, i2, …`. A function of fewer arguments than dimensions is constant along the remaining ones. A tuple result
    gives one tensor per component. `dtype` types a body that is a plain Python number.

    Raises TEError for too many arguments, for keyword or default arguments, for bodies that mix reductions and other
    expressions, and for a reduction inside a larger expression.
    """
    sizes = _checked_shape(shape, name)
    axes = tuple(
        Axis(axis_name, size)
        for axis_name, size in zip(_axis_names(function, sizes, name, varargs_names), sizes, strict=True)
    )
    count = _positional_count(function, len(sizes))
    value = function(*axes[:count])
    items = value if isinstance(value, tuple) else (value,)
    bodies = tuple(as_expr(item, dtype or "f32") for item in items)
    if not bodies:
        raise TEError(f"compute '{name}' has an empty tuple as its body")
    stage = Compute(name, axes, _checked_bodies(bodies, name))
    results = tuple(
        Tensor(sizes, body.dtype, name if len(bodies) == 1 else f"{name}_v{i}", stage, i)
        for i, body in enumerate(bodies)
    )
    return results if isinstance(value, tuple) else results[0]


def stages(*outputs: Tensor) -> tuple[Compute, ...]:
    """Returns every compute stage below `outputs` once, producers first. Does not recurse."""
    order: dict[int, Compute] = {}
    stack: list[tuple[Tensor, bool]] = [(tensor, False) for tensor in reversed(outputs)]
    while stack:
        tensor, done = stack.pop()
        stage = tensor.source
        if stage is None or id(stage) in order:
            continue
        if done:
            order[id(stage)] = stage
            continue
        stack.append((tensor, True))
        stack.extend((producer, False) for producer in reversed(stage.inputs))
    return tuple(order.values())


def free_vars(*outputs: Tensor) -> tuple[Var, ...]:
    """
    Returns the `te.var`s that `outputs` depend on, in sizes or in bodies, each once and in order of first use.

    They are the parameters of the loop function besides its buffers. Variables of reducers are not among them.
    """
    found: dict[int, Var] = {}

    def visit(*roots: Dim) -> None:
        for node in post_order(*(root for root in roots if isinstance(root, Expr))):
            if isinstance(node, Var):
                found.setdefault(id(node), node)
            elif isinstance(node, Load):
                visit(*node.tensor.shape)

    for stage in stages(*outputs):
        visit(*(axis.extent for axis in (*stage.axes, *stage.reduce_axes)), *stage.bodies)
    visit(*(size for output in outputs for size in output.shape))
    return tuple(found.values())


def _checked_shape(shape: Sequence[Dim], name: str) -> tuple[Dim, ...]:
    for size in shape:
        if isinstance(size, Expr):
            if size.dtype != "index":
                raise TEError(f"'{name}' has a size of type {size.dtype}, expected index")
        elif isinstance(size, bool) or not isinstance(size, int) or size < 0:
            raise TEError(f"'{name}' has size {size!r}, expected a number of elements that is not negative")
    return tuple(shape)


def _positional_count(function: Callable[..., Body], rank: int) -> int:
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind == p.VAR_POSITIONAL for p in parameters):
        return rank
    return len(parameters)


def _axis_names(
    function: Callable[..., Body], shape: Sequence[Dim], name: str, varargs_names: Sequence[str] | None
) -> list[str]:
    names: list[str] = []
    variadic = False
    for parameter in inspect.signature(function).parameters.values():
        if (
            parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD)
            or parameter.default is not parameter.empty
        ):
            raise TEError(f"compute '{name}': argument '{parameter.name}' is not a plain positional argument")
        if parameter.kind == parameter.VAR_POSITIONAL:
            variadic = True
        else:
            names.append(parameter.name)
    rest = len(shape) - len(names)
    if rest < 0:
        raise TEError(
            f"compute '{name}': the function takes {len(names)} arguments but the shape has {len(shape)} dimensions"
        )
    if varargs_names is not None:
        if not variadic or len(varargs_names) != rest:
            raise TEError(
                f"compute '{name}': {len(varargs_names)} names given for {rest if variadic else 0} variable arguments"
            )
        return names + list(varargs_names)
    start = len(names) + 1
    return names + [f"i{start + i}" if variadic else f"ax{i}" for i in range(rest)]


def _checked_bodies(bodies: tuple[Expr, ...], name: str) -> tuple[Expr, ...]:
    reductions = [body.reduction for body in bodies if isinstance(body, ReductionResult)]
    if reductions and (len(reductions) != len(bodies) or any(r is not reductions[0] for r in reductions)):
        raise TEError(f"compute '{name}': all results must be components of one reduction, or none")
    inner = [value for r in reductions[:1] for value in r.values] if reductions else list(bodies)
    if any(isinstance(node, ReductionResult) for node in post_order(*inner)):
        raise TEError(f"compute '{name}': a reduction must be the whole body; give the sum a stage of its own")
    return bodies
