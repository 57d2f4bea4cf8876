"""
ONNX models that are imported when they are called: for the shapes of the arrays, and for the values of the inputs that
decide shapes or branches.

Where `from_onnx` makes one module for all sizes, this makes one for each tuple of sizes, of which all are known at
import. So nothing is refused for an open size, and branches may differ in rank.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from ...core.messages.collector import patient_collector
from ...lazy_dataclass import dataclass
from ...runtime.compile import compile as compile_module
from ...runtime.donation import donated_numbers
from ...runtime.errors import CompileError, in_order, wrong_count
from ...runtime.executable import Executable
from ...runtime.program.results import Results
from ...runtime.program.shapes import check_rounds, check_tolerance, checked_shapes
from ...runtime.specialisations import Shapes
from ...te.dtypes import numpy_dtype
from .declared import check_all, declared_input, declared_outputs
from .errors import OnnxError, fail
from .files.reading import load_model, whole_model
from .given import as_read_only, check_options, kept
from .importer import Importer, initialisers_of
from .inputs import Fixed, Inputs
from .unsupported import check_supported

if TYPE_CHECKING:
    from onnx import ModelProto
    from xdsl.passes import ModulePass

    from ...analysis.memory import Memory
    from ...runtime.exporting.export import Exported
    from ...runtime.looking.profile import Profile
    from ...runtime.looking.values import Trace
    from ...runtime.program.arrays import ArrayType
    from ...runtime.program.program import Program
    from ...runtime.source import Source

ENTRY: Final = "main"

Key = tuple[tuple[int | str, ...], ...]
"""What a program is for: the shapes of its arguments, the text of an array for a value."""


def compile_onnx(
    source: str | Path | bytes | ModelProto,
    *,
    constants: Mapping[str, np.ndarray[Any, Any]] | None = None,
    dims: Mapping[str, int] | None = None,
    values: Sequence[str] = (),
    pipeline: str | ModulePass | Sequence[ModulePass | str] | None = None,
    opt_level: int = 3,
    threads: int | None = None,
    numerics: str = "default",
    cache: bool = True,
    donate: str | Sequence[str] = (),
    target: str | None = None,
    verify_each: bool = False,
    tuning: bool | str | Path | None = None,
    progress: bool | None = None,
) -> OnnxExecutable:
    """
    Returns an ONNX model as a function of arrays: `compile_onnx("model.onnx")(x, state, rate)`.

    A program is compiled for each tuple of shapes, and for each tuple of values of the inputs that decide shapes or
    branches. These inputs are those named in `values`. Integers and booleans of rank 0 or 1 and at most 64 elements
    are found by themselves. `constants`, which are copied unless they are read-only, and `dims` are those of
    `from_onnx`, the other arguments those of `compile`. A model whose inputs all have known sizes is compiled at once.

    Raises `OnnxError` for a model that is damaged or uses what is not supported, and the errors of `compile`.
    """
    options: dict[str, Any] = {"pipeline": pipeline, "opt_level": opt_level, "threads": threads, "numerics": numerics}
    options |= {"cache": cache, "donate": donate, "target": target, "verify_each": verify_each, "tuning": tuning}
    options |= {"progress": progress}
    check_options(options)
    fixed = {name: kept(value) for name, value in (constants or {}).items()}
    with patient_collector():
        return OnnxExecutable(source, fixed, dict(dims or {}), tuple(values), options)


@dataclass(frozen=True)
class _Program:
    """What is compiled for some shapes and values, and the numbers of the inputs that are arguments of it."""

    executable: Executable
    numbers: tuple[int, ...]

    def arguments(self, arrays: Sequence[Any]) -> list[Any]:
        return [arrays[number] for number in self.numbers]


class OnnxExecutable(Executable):
    """
    A model that is called with the arrays of its inputs. Results have the names of its outputs.

    It is an `Executable`. Where sizes are open, a program is compiled for each tuple of shapes, and methods that look
    at one take `shapes`, those of all inputs. `specialised` gives the program behind a call.
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
        self._name = self._model.graph.name
        check_supported(self._model)
        self._stored = initialisers_of(self._model)
        declared = Inputs(self._model, Fixed(constants, dims))
        known = {name: declared.constant(declared.all[name]).known for name in constants if name in declared.all}
        self._fixed = Fixed(cast("dict[str, Any]", known), dims)
        self._free = [declared_input(declared, info) for info in declared.free]
        declared.check_used()
        names = [each.name for each in self._free]
        if unknown := [name for name in values if name not in names]:
            known = ", ".join(f"'{name}'" for name in names)
            fail(self._model.name, f"there is no input '{unknown[0]}' whose values to take", f"inputs are {known}")
        self._donated = [names[number] for number in donated_numbers(options.get("donate", ()), names, "the model")]
        self._values = set(values)
        self._whole: Executable | None = None
        inputs = cast("list[tuple[str, ArrayType]]", [(each.name, each.type) for each in self._free])
        outputs = cast("list[tuple[str, ArrayType]]", declared_outputs(self._model.graph))
        super().__init__(ENTRY, inputs, outputs, [ENTRY], self._load_for, self._text_for, None, self._open_source)
        if not values and all(each.type is not None and each.type.is_static for each in self._free):
            self._compile_at_once()

    @property
    def signature(self) -> str:
        """Returns text such as `main(x: tensor<?x784xf32>) -> (y: tensor<?x10xf32>)`, `*` for a rank that is open."""
        inputs = ", ".join(map(str, self._free))
        outputs = ", ".join(f"{name}: {type_ or 'tensor<*>'}" for name, type_ in self._outputs)
        return f"{self.entry}({inputs}) -> ({outputs})"

    @property
    def value_inputs(self) -> tuple[str, ...]:
        """The inputs whose values are part of a program, as far as is known by now."""
        return tuple(each.name for each in self._free if each.name in self._values)

    def __call__(self, /, *arrays: Any, **named: Any) -> Results:
        """
        Returns the results, newly allocated. Raises ArgumentError for arrays that do not fit, ExecutionError when the
        program fails.
        """
        if self._bound is not None:
            return super().__call__(*arrays, **named)
        if named:
            arrays = in_order(self.entry, [each.name for each in self._free], arrays, named)
        program = self._program_for(arrays := self._own(arrays))
        return program.executable(*program.arguments(arrays))

    def run_into(self, outputs: Sequence[Any], *arrays: Any) -> None:
        """Writes the results of a call into `outputs`, contiguous arrays that overlap no other argument."""
        program = self._program_for(arrays := self._own(arrays))
        program.executable.run_into(outputs, *program.arguments(arrays))

    def apart(self, *arrays: Any) -> tuple[Any, ...]:
        """Returns the arguments of a call, with copies of those that it overwrites (`Executable.apart`)."""
        if self._bound is not None:
            return super().apart(*arrays)
        program = self._program_for(arrays := self._own(arrays))
        found = list(arrays)
        for number, array in zip(program.numbers, program.executable.apart(*program.arguments(arrays)), strict=True):
            found[number] = array
        return tuple(found)

    def prepare(self, shapes: Shapes) -> None:
        """Compiles the program for inputs of these `shapes`, before a call has them (`Executable.prepare`)."""
        if self._bound is None:
            self._at(shapes)

    def specialised(self, *arrays: Any) -> Executable:
        """
        Returns the program for the shapes and values of `arrays`, compiled on first use.

        Its arguments are the inputs, those in `value_inputs` left out.
        """
        return self._program_for(self._own(arrays)).executable

    def profile(self, *arrays: Any, rounds: int | None = None) -> Profile:
        """Measures how long each kernel takes on these arrays (`Executable.profile`)."""
        check_rounds(rounds)
        program = self._program_for(arrays := self._own(arrays))
        return program.executable.profile(*program.arguments(arrays), rounds=rounds)

    def trace(self, *arrays: Any, tolerance: float | None = None) -> Trace:
        """Compares every value that the program computes with the reference (`Executable.trace`)."""
        check_tolerance(tolerance)
        program = self._program_for(arrays := self._own(arrays))
        return program.executable.trace(*program.arguments(arrays), tolerance=tolerance)

    def memory_for(self, shapes: Shapes | None) -> Memory:
        """Returns the plan of the arena for inputs of these `shapes`, with sizes in bytes."""
        return self._at(shapes).memory

    def export(
        self,
        path: str | Path,
        header: bool = True,
        *,
        target: str | None = None,
        threads: int | None = None,
        shapes: Shapes | None = None,
    ) -> Exported:
        """Writes the program for C (`Executable.export`). A model with open sizes needs `shapes`."""
        return self._at(shapes).export(path, header, target=target, threads=threads)

    def save(self, path: str | Path, *, cpu: Sequence[str] = (), prepared: bool = True) -> None:
        """
        Writes the model into one file (`Executable.save`).

        A model with open sizes is imported for all sizes first, as `from_onnx` does, and compiled for the shapes met
        so far. Raises OnnxError where it cannot be imported so: give `dims` or `constants`, or save `specialised(…)`.
        """
        if self._program is not None:
            super().save(path, cpu=cpu, prepared=prepared)
            return
        importer = Importer(self._model, self._fixed, stored=self._stored)
        executable = self._compile_imported(importer)
        for each in self.specialisations:
            if not self._values:
                executable.prepare(each.shapes)
        executable.save(path, cpu=cpu, prepared=prepared)

    def programs(self) -> dict[Shapes | None, Program]:
        """Returns the programs loaded by now, by shapes and values. There is one under None without open sizes."""
        if self._program is not None:
            return super().programs()
        kept = cast("dict[Shapes, _Program]", self.specialisations.entries())
        return {key: each for key, found in kept.items() for each in found.executable.programs().values()}

    def _program_for(self, arrays: Sequence[Any]) -> _Program:
        if len(arrays) != len(self._free):
            raise wrong_count("the model", [each.name for each in self._free], arrays)
        for array, each in zip(arrays, self._free, strict=True):
            if each.name in self._values:
                each.check(array)
        found = self.specialisations.find(self._key(arrays))  # pyright: ignore[reportArgumentType]
        if found is None:
            check_all(self._free, arrays)
            with self._compile_lock:
                found = self.specialisations.find(self._key(arrays))  # pyright: ignore[reportArgumentType]
                if found is None:
                    with patient_collector():
                        return self._compiled(arrays)
        return cast("_Program", found)

    def _compile_at_once(self) -> None:
        """Compiles a model without open sizes. Inputs whose values decide something wait for a call."""
        shapes = [each.type.sizes for each in self._free if each.type is not None]
        types = [numpy_dtype(each.dtype) for each in self._free]
        start = time.perf_counter()
        try:
            program = self._imported(dict(zip((i.name for i in self._free), shapes, strict=True)), {})
        except OnnxError as error:
            if not self._learn(error):
                raise
            return
        arrays = tuple(np.empty(shape, dtype) for shape, dtype in zip(shapes, types, strict=True))
        self._keep(arrays, program, time.perf_counter() - start)
        self._become(program.executable)

    def _become(self, whole: Executable) -> None:
        """Makes this the one program that the model is, which has all inputs and no open sizes."""
        self._whole = whole
        loaded = whole.programs().get(None)
        if loaded is None:  # It is for another processor.
            return
        # Nothing is imported any more: a model that was given in memory may be large.
        del self._made_of, self._model, self._stored
        self._program, self._bound = loaded, loaded.entry(ENTRY)
        self._inputs, self._outputs = whole.input_types, whole.output_types
        self._source = whole._source
        self.run_into = self._bound.native_run_into()  # pyright: ignore[reportAttributeAccessIssue]

    def _adopt(self, values: Sequence[str], programs: Sequence[tuple[Any, Any]]) -> None:
        """Takes over what another one has learned and compiled, for pickles."""
        self._values |= set(values)
        for key, program in programs:
            self.specialisations.add(key, program, 0.0)

    def _compiled(self, arrays: Sequence[Any]) -> _Program:
        """Compiles the program for `arrays`, and finds out which inputs it needs the values of."""
        start = time.perf_counter()
        while True:
            given = {each.name: array for each, array in zip(self._free, arrays, strict=True)}
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
        open_ = [each for each in self._free if each.name in error.inputs and each.name not in self._values]
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
        constants = {**self._fixed.constants, **{name: np.array(array) for name, array in values.items()}}
        executable = self._compile_imported(Importer(self._model, Fixed(constants, {}, shapes), stored=self._stored))
        return _Program(executable, tuple(n for n, each in enumerate(self._free) if each.name not in values))

    def _compile_imported(self, importer: Importer) -> Executable:
        module = importer.module(ENTRY)
        options: dict[str, Any] = {**self._options, "donate": self._donated_arguments()}
        weights = {key: as_read_only(value) for key, value in importer.builder.weights.items()}
        return compile_module(module, weights=weights, **options)

    def _donated_arguments(self) -> tuple[str, ...]:
        """Returns the donated inputs. Raises CompileError for one that is no argument, as programs have its values."""
        if wrong := next((name for name in self._donated if name in self._values), None):
            raise CompileError(
                f"donate is '{wrong}', whose values are part of each program, expected an input whose values are not"
            )
        return tuple(self._donated)

    # Arguments

    def _key(self, arrays: Sequence[Any]) -> Key:
        """Shapes, and the texts of values: `3x8`, `= [1, -1]`."""
        return tuple(
            ("?",)
            if not isinstance(array, np.ndarray)
            else (f"= {array.tolist()}",)
            if each.name in self._values
            else array.shape
            for each, array in zip(self._free, arrays, strict=False)
        )

    # One program, for methods that look at it

    def _at(self, shapes: Shapes | None) -> Executable:
        """Returns the program for inputs of these shapes. Raises CompileError where shapes do not decide which."""
        if shapes is None:
            if self._whole is None:
                raise CompileError("the model takes arrays of unknown sizes (?): give shapes=, one per input")
            return self._whole
        shapes = checked_shapes(shapes, [(each.name, each.type) for each in self._free], "the model")
        arrays = [
            np.broadcast_to(np.zeros((), numpy_dtype(i.dtype)), s) for i, s in zip(self._free, shapes, strict=True)
        ]
        found = None if self._values else self._program_for(arrays)
        if found is None or self._values:
            names = ", ".join(f"'{name}'" for name in self.value_inputs)
            raise CompileError(f"the program depends on the values of {names}, not on shapes alone: use specialised(…)")
        return found.executable

    def _load_for(self, shapes: Shapes | None) -> Program:
        return next(iter(self._at(shapes).programs().values()))

    def _text_for(self, level: str, shapes: Shapes | None) -> str:
        if shapes is None and level == "graph" and self._whole is None:
            return str(Importer(self._model, self._fixed, stored=self._stored).module(ENTRY))
        return self._at(shapes).ir(level)

    def _open_source(self) -> Source:
        raise CompileError("the model is compiled for each call: use specialised(…)")

    def __reduce__(self) -> tuple[Any, ...]:
        """
        Makes models picklable. A model without open sizes becomes an `Executable`.

        Other pickles hold the model with all of its tensors, and the programs compiled by now.
        """
        if self._program is not None:
            return super().__reduce__()
        source, *others = self._made_of
        kept = cast("dict[Shapes, _Program]", self.specialisations.entries())
        return restored, ((whole_model(source, self._model), *others), sorted(self._values), list(kept.items()))

    def __repr__(self) -> str:
        return f"<stepwell.OnnxExecutable {self._name}: {self.signature}>"


def restored(made_of: tuple[Any, ...], values: list[str], programs: list[tuple[Any, _Program]]) -> OnnxExecutable:
    """Returns the model of a pickle, with its programs."""
    model = OnnxExecutable(*made_of)
    model._adopt(values, programs)
    return model
