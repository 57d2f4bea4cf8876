"""The program that `stepwell.compile` returns, which is called like a function."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..core.messages.diagnostics import OperationError
from ..core.messages.forks import free_in_children
from .errors import ArgumentError, ProcessorError, SizesError, in_order, wrong_count
from .program.arguments import as_arrays
from .program.arrays import ArrayType, check_type
from .program.bound_entry import BoundEntry
from .program.program import Program
from .program.results import Results
from .program.shapes import check_rounds, check_tolerance, checked_shapes
from .specialisations import Shapes, Specialisations

# Modules that calls do not need are imported inside methods, since they take long to load.
if TYPE_CHECKING:
    from ..analysis.memory import Memory
    from ..schedule.program.interactive import Schedule
    from .exporting.export import Exported
    from .looking.profile import Measuring, Profile
    from .looking.values import Trace
    from .source import Named, Source

NO_SHAPE = (-1,)
"""This stands for the shape of a value that is not an array."""


class Executable:
    """
    A compiled program. `exe(*arrays)` runs the entry on NumPy arrays and returns a tuple of new arrays.

    Arguments come in the order of the IR, or by name: `exe(x=array)`. Numbers and lists of numbers stand for arrays
    where no value changes. Results are a tuple whose items have names: `exe(x).logits`. Calls may come from several
    threads at once. `exe["other"]` is another entry of the same program.
    """

    def __init__(
        self,
        entry: str,
        inputs: Sequence[tuple[str, ArrayType]],
        outputs: Sequence[tuple[str, ArrayType]],
        entry_names: Sequence[str],
        load: Callable[[Shapes | None], Program],
        text_of: Callable[[str, Shapes | None], str],
        program: Program | None,
        source: Callable[[], Source],
    ):
        self.entry = entry
        self.entry_names = tuple(entry_names)
        self._inputs = tuple(inputs)
        self._outputs = tuple(outputs)
        self._load = load
        self._text_of = text_of
        self._source = source
        self._bound = program.entry(entry) if program is not None else None
        self._program = program
        if self._bound is not None:
            # This hides the method, so no Python runs between the caller and machine code.
            self.run_into = self._bound.native_run_into()  # pyright: ignore[reportAttributeAccessIssue]
        self.specialisations = Specialisations()
        """The programs for the shapes met so far. There are none for a program without `?`."""
        self._measuring: dict[Shapes | None, Measuring] = {}
        self._compile_lock = Lock()
        free_in_children(self, "_compile_lock")

    @property
    def signature(self) -> str:
        """Returns text such as `main(x: tensor<1x784xf32>) -> (result0: tensor<1x10xf32>)`."""
        inputs = ", ".join(f"{name}: {type_}" for name, type_ in self._inputs)
        outputs = ", ".join(f"{name}: {type_}" for name, type_ in self._outputs)
        return f"{self.entry}({inputs}) -> ({outputs})"

    @property
    def input_types(self) -> tuple[tuple[str, ArrayType], ...]:
        """Returns the name and type of each argument."""
        return self._inputs

    @property
    def output_types(self) -> tuple[tuple[str, ArrayType], ...]:
        """Returns the name and type of each result."""
        return self._outputs

    @property
    def entries(self) -> tuple[str, ...]:
        """Returns the names of the public functions of the program. `exe[name]` is one of them."""
        return self.entry_names

    def __getitem__(self, name: str) -> Executable:
        """Returns another entry of this program. Raises KeyError for a name that no entry has."""
        if name == self.entry:
            return self
        if name not in self.entry_names:
            raise KeyError(f"the program has no entry '{name}', expected one of {', '.join(self.entry_names)}")
        source = self._source
        if self._program is not None and (found := _static_entry(self._program, name)) is not None:
            aimed = cache(lambda: source().for_entry(name))
            return Executable(
                *(name, *found, self.entry_names, lambda asked: aimed().load(asked)),
                *(lambda *asked: aimed().text_of(*asked), self._program, aimed),
            )
        return executable_of(source().for_entry(name))

    def __call__(self, /, *arrays: Any, **named: Any) -> Results:
        """
        Returns the results, newly allocated. Contiguous inputs are not copied. Arrays of other libraries are read by
        DLPack.

        Raises ArgumentError when an array does not fit, ExecutionError when the program fails.
        """
        if named:
            arrays = in_order(self.entry, [name for name, _ in self._inputs], arrays, named)
        if self._bound is not None:
            return self._bound.call(arrays)
        arrays = self._own(arrays)
        bound = self._for(arrays)
        try:
            return bound.call(arrays)
        except ArgumentError:
            self._check(arrays)
            raise

    def apart(self, *arrays: Any) -> tuple[Any, ...]:
        """
        Returns the arguments of a call, with copies of those that it overwrites as their places are given to results.

        So `exe(*exe.apart(*arrays))` leaves `arrays` as they are. Without donated arguments nothing is copied.
        """
        arrays = self._own(arrays)
        bound = self._for(arrays) if self._bound is None else self._bound
        return tuple(bound.apart(arrays))

    def run_into(self, outputs: Sequence[Any], *arrays: Any) -> None:
        """Runs the program and writes its results into `outputs`: contiguous arrays that overlap no other argument."""
        if self._bound is not None:
            self._bound.run_into(outputs, *arrays)
            return
        arrays = self._own(arrays)
        bound = self._for(arrays)
        try:
            bound.run_into(outputs, *arrays)
        except ArgumentError:
            self._check(arrays)
            raise

    def ir(self, level: str, shapes: Shapes | None = None) -> str:
        """
        Returns the program's text at the level `level`: `graph`, `tensor_loop`, `scf`, `llvm`, `llvm-ir` or `asm`.

        A program with `?` needs the `shapes` of its inputs for any level below the graph.
        """
        return self._text_of(level, self._shapes(shapes))

    @property
    def memory(self) -> Memory:
        """Returns the memory of a call (`memory_for` where the sizes of inputs are not known)."""
        return self.memory_for(None)

    def memory_for(self, shapes: Shapes | None) -> Memory:
        """
        Returns the plan of the arena for inputs of these `shapes`, with sizes in bytes.

        The program is lowered to the foot of `scf` again, where the plan is read. A program with `?` needs `shapes`.
        """
        from ..analysis.memory import memory_of
        from ..core.text.parsing import make_context, parse_text

        text = self._text_of("scf", self._shapes(shapes))
        return memory_of(parse_text(make_context(), text), self.entry)

    def export(
        self,
        path: str | Path,
        header: bool = True,
        *,
        target: str | None = None,
        threads: int | None = None,
        shapes: Shapes | None = None,
    ) -> Exported:
        """
        Writes the program as `model.o` or `model.so`, with `model.h` and the weights `model.safetensors` beside it, for
        use from C without Python (docs/shipping.md). A program with `?` needs `shapes`.

        Args:
            target: The machine it is for, one of docs/targets.md. When None, it is that of `compile`.
            threads: The most threads. When None, it is `STEPWELL_THREADS` or the number of usable CPUs of the machine
                it runs on.

        Raises CompileError where the path has another suffix, the program calls code that cannot be written to a file,
        or there is no `cc` to make a `.so` with.
        """
        from .exporting.export import export

        return export(self._source(), Path(path), header, target, threads, self._shapes(shapes))

    def save(self, path: str | Path, *, cpu: Sequence[str] = (), prepared: bool = True) -> None:
        """
        Writes the program into one file, which `stepwell.load` reads (docs/saving.md).

        The file holds the text of the program, its weights, and machine code for the shapes met so far. It replaces an
        old one as a whole.

        Args:
            cpu: The machines to hold code for, of docs/targets.md: `["x86-64-v3", "x86-64-v4"]`. Without any, it is
                that of `compile`, by default this one.
            prepared: Whether to keep weights in the layouts that the code reads too, so that nothing is packed when it
                is loaded. The file then has them about twice, and once more per machine.

        Raises SavedError where the file cannot be written.
        """
        from .saving.writing import save

        names = [cpu] if isinstance(cpu, str) else cpu
        if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
            raise ArgumentError(f"cpu is {cpu!r}, expected names of machines (docs/targets.md)")
        save(
            *(self._source(), self.entry_names, self._inputs, self._outputs, self.programs()),
            *(path, names, prepared),
        )

    def prepare(self, shapes: Shapes) -> None:
        """
        Compiles or loads a program with `?` for inputs of these `shapes`, before a call has them.

        Raises ArgumentError for shapes that do not fit.
        """
        known = checked_shapes(shapes, self._inputs, f"'{self.entry}'")
        with self._compile_lock:
            if self._bound is None and self.specialisations.find(known) is None:
                self._specialise(known)

    def profile(self, *arrays: Any, rounds: int | None = None) -> Profile:
        """
        Measures how long each kernel takes on these arrays. `print` shows the result as a table.

        Times are medians over `rounds` calls, or over as many as 0.3 seconds allow.

        The first time for some shapes, the program is compiled once more, with clocks around the calls of kernels
        (docs/profiling.md).
        """
        from .looking.profile import measuring_program

        check_rounds(rounds)
        arrays = self._own(arrays)
        self._check(arrays)
        shapes = None if self._program is not None else tuple([array.shape for array in arrays])
        with self._compile_lock:
            if shapes not in self._measuring:
                with _about_arguments():
                    self._measuring[shapes] = measuring_program(self._source(), shapes)
        return self._measuring[shapes].run(arrays, rounds)

    def trace(self, *arrays: Any, tolerance: float | None = None) -> Trace:
        """
        Compares every value that the program computes from these arrays with the reference (docs/profiling.md).

        `.first` is the first value that diverges, and `print` shows a table. `tolerance` is the relative error up to
        which floats count as equal, in place of those of their types. This is slow: the program is compiled once more,
        to return all values, and the reference is NumPy. A program of loops is interpreted, and its kernels run alone
        too. Raises LoopFault where such a program does what no program may do, as an access outside of a buffer.
        """
        from .looking.trace import trace

        check_tolerance(tolerance)
        arrays = self._own(arrays)
        self._check(arrays)
        if self._bound is not None:
            return trace(self._source(), self._bound, arrays, None, tolerance)
        shapes = tuple([array.shape for array in arrays])
        return trace(self._source(), self._for(arrays), arrays, shapes, tolerance)

    def programs(self) -> dict[Shapes | None, Program]:
        """
        Returns the programs loaded by now, by shapes.

        A program without `?` is one, under None. A program with `?` has one for all shapes met and not yet given up.
        """
        if self._program is not None:
            return {None: self._program}
        return {shapes: cast("Program", bound.program) for shapes, bound in self.specialisations.entries().items()}

    def __reduce__(self) -> tuple[Any, ...]:
        """
        Makes executables picklable (docs/shipping.md).

        A pickle holds machine code, the program's text, and weights. Given arrays are kept by content, and a side-car
        by path and hash.
        """
        from .pickling import state_of

        state = state_of(self._source(), self.entry_names, self._inputs, self._outputs, self.programs())
        return restored, (state,)

    def __repr__(self) -> str:
        return f"<stepwell.Executable {self.signature}>"

    def show(self, path: str | Path | None = None) -> None:
        """Shows the graph of the program in a notebook, and its text elsewhere. `path` is a file to write instead."""
        from ..analysis.drawing.show import show

        show(self, path)

    def schedule(self, shapes: Shapes | None = None, *, check: bool = False, seed: int = 0) -> Schedule:
        """
        Returns a schedule of the program's loop functions as they are before `compile` decides about loops.

        `compile` takes it back. A program with `?` needs `shapes`. `check` and `seed` are those of `Schedule`.
        """
        from .looking.showing import loops_to_schedule

        return loops_to_schedule(self._source(), self._shapes(shapes), check, seed)

    def _shown_text(self) -> str:
        """Returns what `show` prints: the signature and the program as it was given to `compile`."""
        return "\n".join([self.signature, str(self._source().module)])

    def _repr_html_(self) -> str:
        from .looking.showing import executable_html

        return executable_html(self.signature, self.entry, self._source())

    def _repr_svg_(self) -> str | None:
        from .looking.showing import executable_svg

        return executable_svg(self.entry, self._source())

    def _own(self, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
        """Returns `arrays`, those of other libraries as NumPy arrays over the same memory, numbers as new ones."""
        names = [name for name, _ in self._inputs]
        return tuple(as_arrays(arrays, [type_ for _, type_ in self._inputs], names))

    def _for(self, arrays: Sequence[Any]) -> BoundEntry:
        """
        Returns the entry specialised to the shapes of `arrays`, which is compiled on first use.

        Raises ArgumentError where other arguments do not fit.
        """
        shapes = tuple([array.shape if isinstance(array, np.ndarray) else NO_SHAPE for array in arrays])
        if (known := self.specialisations.find(shapes)) is not None:
            return known
        self._check(arrays)
        with self._compile_lock:
            if (known := self.specialisations.find(shapes)) is not None:
                return known
            return self._specialise(shapes)

    def _specialise(self, shapes: Shapes) -> BoundEntry:
        """Compiles the entry for `shapes`. Raises ArgumentError where these do not fit each other."""
        start = time.perf_counter()
        with _about_arguments():
            bound = self._load(shapes).entry(self.entry)
        self.specialisations.add(shapes, bound, time.perf_counter() - start)
        return bound

    def _shapes(self, shapes: Shapes | None) -> Shapes | None:
        """Returns what callers give as shapes, checked."""
        return None if shapes is None else checked_shapes(shapes, self._inputs, f"'{self.entry}'")

    def _check(self, arrays: Sequence[Any]) -> None:
        """Raises ArgumentError when `arrays` are not of the declared types, which may have `?`."""
        if len(arrays) != len(self._inputs):
            raise wrong_count(f"'{self.entry}'", [name for name, _ in self._inputs], arrays)
        for value, (name, type_) in zip(arrays, self._inputs, strict=True):
            check_type(value, type_, name)


@contextmanager
def _about_arguments() -> Iterator[None]:
    """Makes an error of the pass that gives a program its sizes an ArgumentError: the arguments do not agree."""
    try:
        yield
    except Exception as error:
        failed = getattr(error, "failed_pass", None)  # of whatever class passes raise
        if failed is None or failed.pass_.name != "specialize-shapes":
            raise
        found = SizesError(error) if isinstance(error, OperationError) else ArgumentError(str(error))
        found.failed_pass = failed  # pyright: ignore[reportAttributeAccessIssue]
        raise found from error


def executable_of(source: Source) -> Executable:
    """Returns the program of `source`, loaded where this processor can run it. Raises the errors of `compile`."""
    program = None
    if not source.has_unknown_sizes:
        with suppress(ProcessorError):  # A call will say so.
            program = source.load(None)
    inputs, outputs = source.arguments(None if program is None else program.description)
    names = source.entry_names
    return Executable(source.entry, inputs, outputs, names, source.load, source.text_of, program, lambda: source)


def _static_entry(program: Program, name: str) -> tuple[list[Named], list[Named]] | None:
    """Returns the inputs and outputs of another entry of a loaded program, None where it has `?`."""
    for entry in program.description.entries:
        if entry.name == name and all(argument.type.is_static for argument in entry.arguments):
            return [(a.name, a.type) for a in entry.of("input")], [(a.name, a.type) for a in entry.of("output")]
    return None


def restored(state: dict[str, Any]) -> Executable:
    """Returns the executable that was pickled as `state`. Raises the errors of `Kept`."""
    from .pickling import Kept

    kept = Kept(state)
    program = kept.load(None) if state["is_static"] else None
    return Executable(
        *(state["entry"], kept.inputs, kept.outputs, state["entry_names"]),
        *(kept.load, lambda *asked: kept.source.text_of(*asked), program, lambda: kept.source),
    )
