"""
ONNX models that are imported when they are called: for the shapes of the arrays, and for the values of the inputs that
decide shapes or branches.

Where `from_onnx` makes one module for all sizes, this makes one for each tuple of sizes, of which all are known at
import. So nothing is refused for an open size, and branches may differ in rank.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from ...runtime.compile import compile as compile_module
from ...runtime.errors import wrong_count
from ...runtime.program.arrays import ArrayType, check_type, note_size
from ...runtime.program.dlpack import as_inputs
from ...runtime.specialisations import Specialisations
from ...te.dtypes import numpy_dtype
from .errors import OnnxError, fail
from .files.reading import load_model
from .importer import Importer, initialisers_of
from .inputs import Fixed, Inputs, size_names
from .unsupported import check_supported

if TYPE_CHECKING:
    from onnx import ModelProto, ValueInfoProto

    from ...runtime.executable import Executable

Key = tuple[tuple[int | str, ...], ...]
"""What a program is for: the shapes of its arguments, the text of an array for a value."""

MOST_ELEMENTS: Final = 64
"""The largest number of elements of an input that is taken for sizes without being named as such."""

VALUE_TYPES: Final = frozenset({"i1", "i32", "i64"})
"""Element types of such inputs."""


def compile_onnx(
    source: str | Path | bytes | ModelProto,
    *,
    constants: Mapping[str, np.ndarray[Any, Any]] | None = None,
    dims: Mapping[str, int] | None = None,
    values: Sequence[str] = (),
    **options: Any,
) -> OnnxExecutable:
    """
    Returns an ONNX model as a function of arrays: `compile_onnx("model.onnx")(x, state, rate)`.

    A program is compiled for each tuple of shapes, and for each tuple of values of the inputs that decide shapes or
    branches. These inputs are those named in `values`. Integers and booleans of rank 0 or 1 and at most 64 elements
    are found by themselves. The other arguments are those of `from_onnx` and `compile`. A model whose inputs all have
    known sizes is compiled at once.

    Raises `OnnxError` for a model that is damaged or uses what is not supported.
    """
    return OnnxExecutable(source, dict(constants or {}), dict(dims or {}), tuple(values), options)


@dataclass(frozen=True)
class _Input:
    """An input that a call gives. Its `type` has no shape when the model declares none."""

    name: str
    dtype: str
    type: ArrayType | None
    sizes: tuple[str, ...]
    """The name of each extent, `""` for none."""

    @property
    def may_be_value(self) -> bool:
        """True if the input may hold sizes or choose a branch, as few integers or booleans may."""
        if self.dtype not in VALUE_TYPES or self.type is None or len(self.type.shape) > 1:
            return False
        return prod(size or 1 for size in self.type.shape) <= MOST_ELEMENTS


@dataclass(frozen=True)
class _Program:
    """What is compiled for some shapes and values, and the numbers of the inputs that are arguments of it."""

    executable: Executable
    numbers: tuple[int, ...]

    def arguments(self, arrays: Sequence[Any]) -> list[Any]:
        return [arrays[number] for number in self.numbers]


class OnnxExecutable:
    """
    A model that is called with the arrays of its inputs, in their order. A call returns a tuple of new arrays.

    It may be called from several threads at once. `specialised` gives the program behind a call, to export or profile
    it.
    """

    def __init__(
        self,
        source: str | Path | bytes | ModelProto,
        constants: dict[str, np.ndarray[Any, Any]],
        dims: dict[str, int],
        values: tuple[str, ...],
        options: dict[str, Any],
    ):
        self._made_of = source, constants, dims, values, options
        self._options = options
        self._model = load_model(source)
        check_supported(self._model)
        self._stored = initialisers_of(self._model)
        declared = Inputs(self._model, Fixed(constants, dims))
        self._constants = {
            name: declared.constant(declared.all[name]).known for name in constants if name in declared.all
        }
        self._inputs = [_declared(declared, info) for info in declared.free]
        declared.check_used()
        names = [each.name for each in self._inputs]
        if unknown := [name for name in values if name not in names]:
            known = ", ".join(f"'{name}'" for name in names)
            fail(self._model.name, f"there is no input '{unknown[0]}' whose values to take", f"inputs are {known}")
        self._values = set(values)
        self.specialisations = Specialisations()
        """The programs for the shapes and values met so far."""
        self._lock = Lock()
        if not values and all(each.type is not None and each.type.is_static for each in self._inputs):
            self._compile_at_once()

    @property
    def input_types(self) -> tuple[tuple[str, ArrayType | None], ...]:
        """Name and type of each argument. The type is `None` where the model declares no rank."""
        return tuple((each.name, each.type) for each in self._inputs)

    @property
    def value_inputs(self) -> tuple[str, ...]:
        """The inputs whose values are part of a program, as far as is known by now."""
        return tuple(each.name for each in self._inputs if each.name in self._values)

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        """
        Returns the results, newly allocated. Raises ArgumentError for arrays that do not fit, ExecutionError when the
        program fails.
        """
        program = self._program(arrays := self._own(arrays))
        return program.executable(*program.arguments(arrays))

    def run_into(self, outputs: Sequence[Any], *arrays: Any) -> None:
        """Writes the results of a call into `outputs`, contiguous arrays that overlap no other argument."""
        program = self._program(arrays := self._own(arrays))
        program.executable.run_into(outputs, *program.arguments(arrays))

    def specialised(self, *arrays: Any) -> Executable:
        """
        Returns the program for the shapes and values of `arrays`, compiled on first use.

        Its arguments are the inputs, those in `value_inputs` left out.
        """
        return self._program(self._own(arrays)).executable

    def _program(self, arrays: Sequence[Any]) -> _Program:
        found = self.specialisations.find(self._key(arrays))  # pyright: ignore[reportArgumentType]
        if found is None:
            self._check(arrays)
            with self._lock:
                found = self.specialisations.find(self._key(arrays))  # pyright: ignore[reportArgumentType]
                if found is None:
                    return self._compiled(arrays)
        return cast("_Program", found)

    def _compile_at_once(self) -> None:
        """Compiles a model without open sizes. Inputs whose values decide something wait for a call."""
        shapes = [each.type.sizes for each in self._inputs if each.type is not None]
        types = [numpy_dtype(each.dtype) for each in self._inputs]
        start = time.perf_counter()
        try:
            program = self._imported(dict(zip((i.name for i in self._inputs), shapes, strict=True)), {})
        except OnnxError as error:
            if not self._learn(error):
                raise
            return
        arrays = tuple(np.empty(shape, dtype) for shape, dtype in zip(shapes, types, strict=True))
        self._keep(arrays, program, time.perf_counter() - start)

    def _compiled(self, arrays: Sequence[Any]) -> _Program:
        """Compiles the program for `arrays`, and finds out which inputs it needs the values of."""
        start = time.perf_counter()
        while True:
            given = {each.name: array for each, array in zip(self._inputs, arrays, strict=True)}
            fixed = {name: array for name, array in given.items() if name in self._values}
            shapes = {name: array.shape for name, array in given.items()}
            try:
                program = self._imported(shapes, fixed)
            except OnnxError as error:
                if not self._learn(error):
                    raise
                continue
            self._keep(arrays, program, time.perf_counter() - start)
            return program

    def _learn(self, error: OnnxError) -> bool:
        """Returns whether the error goes when the values of the inputs that it depends on are known."""
        open_ = [each for each in self._inputs if each.name in error.inputs and each.name not in self._values]
        if open_ and all(each.may_be_value for each in open_):
            self._values |= {each.name for each in open_}
            return True
        if open_:
            names = ", ".join(repr(each.name) for each in open_)
            hint = f"if a program for each value is what you want: compile_onnx(…, values=[{names}])"
            error.diagnostic = replace(error.diagnostic, hint=hint)
        return False

    def _keep(self, arrays: Sequence[Any], program: _Program, seconds: float) -> None:
        self.specialisations.add(self._key(arrays), program, seconds)  # pyright: ignore[reportArgumentType]

    def _imported(self, shapes: dict[str, tuple[int, ...]], values: dict[str, Any]) -> _Program:
        shapes = {name: shape for name, shape in shapes.items() if name not in values}
        constants = cast("dict[str, Any]", self._constants) | {name: np.array(array) for name, array in values.items()}
        importer = Importer(self._model, Fixed(constants, {}, shapes), stored=self._stored)
        module = importer.module("main")
        module.verify()
        executable = compile_module(module, weights=importer.builder.weights, **self._options)
        return _Program(executable, tuple(n for n, each in enumerate(self._inputs) if each.name not in values))

    # Arguments

    def _own(self, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(as_inputs(arrays, [each.name for each in self._inputs]))

    def _key(self, arrays: Sequence[Any]) -> Key:
        """Shapes, and the texts of values: `3x8`, `= [1, -1]`."""
        return tuple(
            ("?",)
            if not isinstance(array, np.ndarray)
            else (f"= {array.tolist()}",)
            if each.name in self._values
            else array.shape
            for each, array in zip(self._inputs, arrays, strict=False)
        )

    def _check(self, arrays: Sequence[Any]) -> None:
        """Raises ArgumentError for arrays that are not of the declared types, or give one name two sizes."""
        if len(arrays) != len(self._inputs):
            raise wrong_count("the model", [each.name for each in self._inputs], arrays)
        sizes: dict[str, tuple[int, str]] = {}
        for array, each in zip(arrays, self._inputs, strict=True):
            type_ = each.type or ArrayType(each.dtype, (None,) * np.ndim(array))
            check_type(array, type_, each.name)
            for name, size in zip(each.sizes, array.shape, strict=False):
                note_size(sizes, name, size, each.name)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the source of the model. Programs are compiled anew, or taken from the compile cache."""
        return OnnxExecutable, self._made_of

    def __repr__(self) -> str:
        inputs = ", ".join(f"{each.name}: {each.type or f'tensor<*x{each.dtype}>'}" for each in self._inputs)
        return f"<stepwell.OnnxExecutable {self._model.graph.name}({inputs})>"


def _declared(inputs: Inputs, info: ValueInfoProto) -> _Input:
    """An input that a call gives, as the model declares it."""
    dtype = inputs.element_type(info.name, info.type)
    if not info.type.tensor_type.HasField("shape"):
        return _Input(info.name, dtype, None, ())
    shaped = inputs.shaped(info.name, info.type)
    return _Input(info.name, dtype, ArrayType(dtype, shaped.shape), tuple(size_names(info, shaped)))
