"""Tensors: placeholders and compute stages. `te.compute` is the one way to make a tensor out of others."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from math import prod
from operator import index
from types import FunctionType
from typing import Any, SupportsIndex, overload

from ..lazy_dataclass import dataclass
from . import dtypes
from .expr import Axis, Expr, Number, TEError, Var, as_expr
from .reductions import ReductionResult, post_order
from .words import SHOWN_LEVELS, Whole, checked_name, shortened

Dim = int | Expr
"""A size in elements: a number, or an index expression over `te.var`s."""


@dataclass(frozen=True, eq=False, repr=False)
class Tensor(Whole):
    """
    A tensor of `shape` (elements) and element type `dtype`. `source` is the stage that computes it, or `None` for a
    placeholder. `index` tells which of the stage's results it is.
    """

    shape: tuple[Dim, ...]
    dtype: str
    name: str
    source: Compute | None = None
    index: int = 0

    @overload
    def __getitem__(self, indices: Expr | int | tuple[Expr | int, ...]) -> Load: ...  # pyright: ignore
    @overload
    def __getitem__(self, indices: slice | tuple[Expr | int | slice, ...]) -> Tensor: ...
    def __getitem__(self, indices: Any) -> Load | Tensor:
        """Returns an element, or with slices a stage that copies part of the tensor. Raises TEError."""
        items = indices if isinstance(indices, tuple) else (indices,)
        if any(isinstance(item, slice) or item is Ellipsis for item in items):
            return _sliced(self, items)
        return Load(self, tuple(as_expr(item, "index") for item in items))

    def __repr__(self) -> str:
        sizes = ", ".join(_size_text(size) for size in self.shape)
        body = "" if self.source is None else f" = {self.source.bodies[self.index]._text(SHOWN_LEVELS)}"
        return f"<te.Tensor {self.name}: {self.dtype}[{sizes}]{body}>"

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


@dataclass(frozen=True, eq=False, repr=False)
class Load(Expr):
    """Element `indices` of `tensor`. Every index must lie within the tensor."""

    tensor: Tensor
    indices: tuple[Expr, ...]

    def _spelled(self, parts: Sequence[str]) -> str:
        return f"{self.tensor.name}[{', '.join(parts)}]"

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
        for each in self.indices:
            if each.dtype != "index":
                raise TEError(f"tensor '{self.tensor.name}' is indexed by a value of type {each.dtype}, expected index")


@dataclass(frozen=True, eq=False, repr=False)
class Compute:
    """
    A stage that computes the results `bodies` for every point of the spatial `axes`. Either all bodies are components
    of one `Reduction`, or none is.
    """

    name: str
    axes: tuple[Axis, ...]
    bodies: tuple[Expr, ...]

    def __repr__(self) -> str:
        bodies = ", ".join(body._text(SHOWN_LEVELS) for body in self.bodies)
        return f"<te.Compute {self.name}[{', '.join(axis.name for axis in self.axes)}] = {bodies}>"

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
    """Makes an input tensor. Raises TEError for sizes and types that there are not, and for a name that is no text."""
    name = checked_name(name)
    return Tensor(_checked_shape(shape, name), _checked_type(dtype, name), name)


def var(name: str, dtype: str = "index") -> Var:
    """
    Makes a symbolic scalar, by default a size. It is one parameter, even when several shapes use it.

    One that is no size is a number that the program takes: `create_prim_func([A, n, B])`. Raises TEError for an element
    type that there is not, and for a name that is no text.
    """
    return Var(checked_name(name), _checked_type(dtype, name, index=True))


def reduce_axis(domain: Dim | tuple[int, Dim], name: str = "k") -> Axis:
    """
    Makes a reduction axis over `0 <= k < domain`, or over `lo <= k < hi` for a pair, whose `lo` is a number.

    Raises TEError for what is no size, and for a name that is no text.
    """
    name = checked_name(name)
    if not isinstance(domain, tuple | list):
        return Axis(name, _checked_shape((domain,), name)[0], "reduce")
    if len(domain) != 2 or not hasattr(domain[0], "__index__"):
        raise TEError(f"axis '{name}' goes over {shortened(domain)}, expected a size or (number, size)")
    low, high = index(domain[0]), domain[1]
    if isinstance(high, Expr):
        return Axis(name, high - low, "reduce", low)
    if not hasattr(high, "__index__"):
        raise TEError(f"axis '{name}' ends at {shortened(high)}, expected a size")
    return Axis(name, max(index(high) - low, 0), "reduce", low)


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
    expressions, for a reduction inside a larger expression, and for names that are no text.
    """
    name = checked_name(name)
    sizes = _checked_shape(shape, name)
    axes = tuple(
        Axis(axis_name, size)
        for axis_name, size in zip(_axis_names(function, sizes, name, varargs_names), sizes, strict=True)
    )
    count = _positional_count(function, len(sizes))
    value = function(*axes[:count])
    items = value if isinstance(value, tuple) else (value,)
    bodies = tuple(_body(item, dtype or "f32", name) for item in items)
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


def _body(item: object, dtype: str, name: str) -> Expr:
    """Returns what a function gave for an element. Raises TEError that says what it may give."""
    if item is None:
        raise TEError(f"compute '{name}': the function returns None, expected an element; is there a return?")
    if isinstance(item, list):
        raise TEError(f"compute '{name}': the function returns a list; a tuple gives several tensors")
    try:
        return as_expr(item, _checked_type(dtype, name))  # pyright: ignore[reportArgumentType]
    except TEError as error:
        raise TEError(f"compute '{name}': {error}") from None


def _checked_shape(shape: Sequence[Dim], name: str) -> tuple[Dim, ...]:
    if isinstance(shape, Expr) or not isinstance(shape, Iterable):
        raise TEError(f"'{name}' has shape {_size_text(shape)}, expected a tuple of sizes: ({_size_text(shape)},)")
    return tuple([_checked_size(size, name) for size in shape])


def _checked_size(size: object, name: str) -> Dim:
    if type(size) is int and size >= 0:
        return size  # `SupportsIndex` is a protocol, which takes 20 µs to look for.
    if isinstance(size, Expr):
        if size.dtype != "index":
            raise TEError(f"'{name}' has a size of type {size.dtype}, expected index")
        return size
    if isinstance(size, bool) or not isinstance(size, SupportsIndex) or index(size) < 0:
        raise TEError(f"'{name}' has size {size!r}, expected a number of elements that is not negative")
    return index(size)


def _checked_type(dtype: object, name: str, index: bool = False) -> str:
    """Returns an element type that tensors may hold. Raises TEError, with the name that NumPy gives to another."""
    known = dtypes.EVERY if index else dtypes.ALL
    if isinstance(dtype, str) and dtype in known:
        return dtype
    other = dtypes.of_numpy(str(getattr(dtype, "__name__", dtype)))
    hint = f"; did you mean '{other}'?" if other is not None else f", expected one of {', '.join(known)}"
    raise TEError(f"'{name}' has element type {dtype!r}, which there is not{hint}")


def _size_text(size: object) -> str:
    return size._text(SHOWN_LEVELS) if isinstance(size, Expr) else str(size)


def _sliced(tensor: Tensor, items: tuple[Any, ...]) -> Tensor:
    """Returns the stage `tensor[items]` for slices and numbers as in NumPy. Raises TEError for any other index."""
    count = sum(item is not Ellipsis for item in items)
    place = next((at for at, item in enumerate(items) if item is Ellipsis), len(items))
    if count > tensor.rank:
        raise TEError(f"tensor '{tensor.name}' has {tensor.rank} dimensions but {count} indices were given")
    full = [slice(None)] * (tensor.rank - count)
    whole = [*items[:place], *full, *items[place + 1 :]]
    kept = [_slice_of(tensor, size, item) for size, item in zip(tensor.shape, whole, strict=True)]

    def element(*axes: Axis) -> Expr:
        rest = iter(axes)
        return tensor[tuple([at if extent is None else next(rest) * step + at for at, step, extent in kept])]

    sizes = [extent for _, _, extent in kept if extent is not None]
    made = compute(sizes, element, f"{tensor.name}_slice")
    assert isinstance(made, Tensor)
    return made


def _slice_of(tensor: Tensor, size: Dim, item: object) -> tuple[int, int, Dim | None]:
    """Returns the first index, the step and the number of elements. A number has no number of elements."""
    if not isinstance(item, slice):
        if not isinstance(item, SupportsIndex) or isinstance(item, bool):
            what = f"tensor '{tensor.name}' is sliced beside the index {shortened(item)}"
            raise TEError(f"{what}; beside slices an index is a number, te.compute takes others")
        at = index(item)
        return (at + size if at < 0 and isinstance(size, int) else at), 1, None
    if item == slice(None):
        return 0, 1, size
    bounds = [each for each in (item.start, item.stop, item.step) if each is not None]
    if item.step is not None and isinstance(item.step, SupportsIndex) and index(item.step) == 0:
        raise TEError(f"tensor '{tensor.name}' is sliced by the step 0, expected a step that is not 0")
    if not isinstance(size, int) or not all(isinstance(each, SupportsIndex) for each in bounds):
        what = f"tensor '{tensor.name}' is sliced by {shortened(item)}"
        raise TEError(f"{what}, expected numbers and a dimension whose size is a number")
    found = range(size)[item]
    return found.start, found.step, len(found)


def _plain_arguments(function: Callable[..., Body]) -> tuple[tuple[str, ...], bool] | None:
    """
    Returns the names of the arguments of a Python function, and whether it takes any number of more. It is `None` for
    what only `inspect.signature` can tell, which takes 12 times as long.
    """
    if function.__class__ is not FunctionType or function.__dict__ or function.__defaults__:
        return None
    code = function.__code__
    if code.co_kwonlyargcount or code.co_flags & inspect.CO_VARKEYWORDS:
        return None
    return code.co_varnames[: code.co_argcount], bool(code.co_flags & inspect.CO_VARARGS)


def _positional_count(function: Callable[..., Body], rank: int) -> int:
    if (plain := _plain_arguments(function)) is not None:
        return rank if plain[1] else len(plain[0])
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind == p.VAR_POSITIONAL for p in parameters):
        return rank
    return len(parameters)


def _inspected_arguments(function: Callable[..., Body], name: str) -> tuple[tuple[str, ...], bool]:
    """Returns what `_plain_arguments` does for anything that can be called."""
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
    return tuple(names), variadic


def _axis_names(
    function: Callable[..., Body], shape: Sequence[Dim], name: str, varargs_names: Sequence[str] | None
) -> list[str]:
    plain = _plain_arguments(function)
    found, variadic = plain if plain is not None else _inspected_arguments(function, name)
    names = list(found)
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
        return names + [checked_name(each) for each in varargs_names]
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


def results_of(op: Any, operands: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Returns what the method `te` of an op says of its results. Raises TEError where it returns anything else."""
    found = op.te(*operands)
    wanted = len(op.results)
    if isinstance(found, tuple | list) and all(isinstance(each, Tensor) for each in found) and len(found) == wanted:
        return tuple(found)
    shown = f"the tensor '{found.name}'" if isinstance(found, Tensor) else shortened(found)
    hint = "; is the comma of (y,) missing?" if isinstance(found, Tensor) else ""
    plural = "tensors, one per result" if wanted != 1 else "tensor"
    raise TEError(f"'te' of {type(op).__name__} returns {shown}, expected a tuple of {wanted} {plural}{hint}")
