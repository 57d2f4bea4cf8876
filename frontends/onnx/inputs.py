"""The inputs of a model: what it declares, and what the caller fixes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...core.messages.articles import with_article
from ...dialects.graph.shapes import Shaped, compatible
from ...lazy_dataclass import dataclass
from ...runtime.program.shapes import is_integer
from .emitting.values import KnownValue
from .errors import fail
from .files.tensors import check_extents
from .types import DTYPES, type_text
from .value import Value

if TYPE_CHECKING:
    from onnx import TypeProto, ValueInfoProto

    from .files.model import Model

MOST_NAMED: Final = 4
"""The most inputs and sizes that a hint names."""

_WORD: Final = re.compile(r"\w")
"""The form of the name of a size. Exporters write `?` for one without a name."""


@dataclass
class Fixed:
    """
    What the caller fixes: values of inputs, sizes by name or by `"input:axis"`, and whole shapes of inputs.

    The model need not declare them.
    """

    constants: Mapping[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    dims: Mapping[str, int] = field(default_factory=dict)
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


class Inputs:
    """
    What is known of the inputs of a model. Raises `OnnxError` for types that are not supported, and what fits nothing.
    """

    def __init__(self, model: Model, fixed: Fixed):
        self._model = model.name
        self._fixed = fixed
        self._check_fixed()
        self._open: dict[str, None] = {}
        stored = {tensor.name for tensor in model.initialisers}
        self.all = {info.name: info for info in model.graph.input}
        self.free = [info for info in model.graph.input if info.name not in stored and info.name not in fixed.constants]
        """Those that a call gives, in the order of the model."""

    def _check_fixed(self) -> None:
        """Fails for a value that is no array and for a size that is no integer."""
        for name, value in self._fixed.constants.items():
            if not isinstance(value, np.ndarray | np.generic):
                kind = with_article(type(value).__name__)
                fail(self._model, f"the value given to input '{name}' is {kind}, expected a numpy array")
        for name, size in self._fixed.dims.items():
            if not is_integer(size):
                fail(self._model, f"the size given to '{name}' is {size!r}, expected an integer")

    def check_used(self) -> None:
        """
        Fails for a name of a constant or of a size that the model does not have. The types must have been asked for.
        """
        if unused := set(self._fixed.constants) - set(self.all):
            names = ", ".join(f"'{name}'" for name in self.all)
            fail(self._model, f"there is no input '{min(unused)}' to give a value", f"inputs are {names}")
        if unknown := [name for name in self._fixed.dims if name not in self._open]:
            names = ", ".join(f"'{name}'" for name in self._open) or "none"
            fail(self._model, f"there is no size '{unknown[0]}' to give a value", f"sizes are {names}")

    def constant(self, info: ValueInfoProto) -> Value:
        """The value that the caller gives an input for good."""
        given = KnownValue(self._fixed.constants[info.name], info.name)
        declared = self.shaped(info.name, info.type)
        if given.dtype != declared.dtype or not compatible(given.shape, declared.shape):
            fail(self._model, f"the value given to input '{info.name}' is {given.shaped}, expected {declared}")
        return given

    def shaped(self, name: str, type_: TypeProto) -> Shaped:
        """The type of an input, with what the caller fixes."""
        dtype = self.element_type(name, type_)
        if name in self._fixed.shapes:
            return Shaped(self._fixed.shapes[name], dtype)
        if not type_.tensor_type.HasField("shape"):
            hint = (
                "run shape inference over the model first, or use stepwell.compile_onnx, which takes the ranks of "
                "the arrays it is called with"
            )
            fail(self._model, f"'{name}' has no declared rank", hint)
        dims = enumerate(type_.tensor_type.shape.dim)
        extents = tuple(self._extent(name, number, dim) for number, dim in dims)
        check_extents(self._model, f"'{name}'", extents)
        return Shaped(extents, dtype)

    def element_type(self, name: str, type_: TypeProto) -> str:
        """The name of the element type of an input, which must be a tensor."""
        if not type_.HasField("tensor_type"):
            kind = (type_.WhichOneof("value") or "no").removesuffix("_type").replace("_", " ")
            fail(self._model, f"'{name}' has {kind} type, expected that of a tensor")
        number = type_.tensor_type.elem_type
        if number not in DTYPES:
            fail(self._model, f"'{name}' has element type {type_text(number)}, which is not supported")
        return DTYPES[number]

    def _extent(self, name: str, number: int, dim: Any) -> int | None:
        """Returns the extent that is declared, or given in `dims`. Exporters write -1 for one that is not known."""
        if dim.HasField("dim_value") and dim.dim_value != -1:
            return dim.dim_value
        names = [key for key in (f"{name}:{number}", dim.dim_param) if key]
        self._open |= dict.fromkeys(names)
        dims = self._fixed.dims
        return next((dims[key] for key in names if key in dims), None)

    def open_sizes(self) -> list[str]:
        """The extents of inputs that are not known, as `dims` may call them."""
        found: dict[str, None] = {}
        for info in self.free:
            shaped = self.shaped(info.name, info.type)
            names = size_names(info, shaped) or [""] * len(shaped.shape)
            for axis, (size, name) in enumerate(zip(shaped.shape, names, strict=True)):
                if size is None:
                    found[name or f"{info.name}:{axis}"] = None
        return list(found)


def hint_for(values: Sequence[str], sizes: Sequence[str]) -> str | None:
    """
    Returns a hint at how to give the values of inputs, and the open sizes, that may decide what can be imported.

    Returns `None` if there are none.
    """
    if not values and not sizes:
        return None
    quoted = [f"'{name}'" for name in values]
    why = f"the value of {_listed(quoted)} decides this" if values else ""
    if sizes:
        be = "size {} is" if len(sizes) == 1 else "sizes {} are"
        why += f"{', and ' if why else ''}the {be.format(_listed(sizes))} open"
    flags = [f"--bind {name}=…" for name in values] + [f"--dim {name}=…" for name in sizes[:MOST_NAMED]]
    what = "it" if len(flags) == 1 else "them"
    python = " and ".join(["constants="] * bool(values) + ["dims="] * bool(sizes))
    return (
        f"{why}: give {what} for good with {' '.join(flags)} (in Python {python}), or with each call: "
        "stepwell.compile_onnx"
    )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def size_names(info: ValueInfoProto, shaped: Shaped) -> list[str]:
    """The name of each extent of an input that is not known, `""` for one without."""
    return [
        dim.dim_param if extent is None and _WORD.search(dim.dim_param) else ""
        for dim, extent in zip(info.type.tensor_type.shape.dim, shaped.shape, strict=False)
    ]
