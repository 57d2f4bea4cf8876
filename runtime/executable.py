"""What `stepwell.compile` returns: a program that is called like a function."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.forks import free_in_children
from .arrays import ArrayType, check_type
from .dlpack import as_inputs
from .errors import ArgumentError
from .program import BoundEntry, Program
from .specialisations import Shapes, Specialisations

if TYPE_CHECKING:
    from ..analysis.memory import Memory
    from .compile import Source
    from .export import Exported
    from .profile import Measuring, Profile
    from .trace import Trace

NO_SHAPE = (-1,)
"""In place of the shape of what is no array."""


class Executable:
    """
    A compiled program. `exe(*arrays)` runs the entry on NumPy arrays and returns a tuple of new arrays.

    Calls are positional, in the order of the arguments in the IR, and may come from several threads at once.
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
            # hides the method: no Python runs between the caller and machine code
            self.run_into = self._bound.native_run_into()  # pyright: ignore[reportAttributeAccessIssue]
        self.specialisations = Specialisations()
        """The programs for the shapes met so far; none for a program without `?`."""
        self._measuring: dict[Shapes | None, Measuring] = {}
        self._compile_lock = Lock()
        free_in_children(self, "_compile_lock")

    @property
    def signature(self) -> str:
        """`main(x: tensor<1x784xf32>) -> (result0: tensor<1x10xf32>)`."""
        inputs = ", ".join(f"{name}: {type_}" for name, type_ in self._inputs)
        outputs = ", ".join(f"{name}: {type_}" for name, type_ in self._outputs)
        return f"{self.entry}({inputs}) -> ({outputs})"

    @property
    def input_types(self) -> tuple[tuple[str, ArrayType], ...]:
        """Name and type of each argument."""
        return self._inputs

    @property
    def output_types(self) -> tuple[tuple[str, ArrayType], ...]:
        """Name and type of each result."""
        return self._outputs

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        """
        The results, newly allocated; contiguous inputs are not copied. Arrays of other libraries are read by DLPack.

        Raises ArgumentError when an array does not fit, ExecutionError when the program fails.
        """
        if self._bound is not None:
            return self._bound.call(arrays)
        arrays = self._own(arrays)
        bound = self._for(arrays)
        try:
            return bound.call(arrays)
        except ArgumentError:
            self._check(arrays)
            raise

    def run_into(self, outputs: Sequence[Any], *arrays: Any) -> None:
        """Like a call, but writes the results into `outputs`: contiguous arrays that overlap no other argument."""
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

    def ir(self, stair: str, shapes: Shapes | None = None) -> str:
        """
        The program's text on a stair: `graph`, `tensor_loop`, `scf`, `llvm`, `llvm-ir` or `asm`.

        A program with `?` needs the `shapes` of its inputs for any stair below the graph.
        """
        return self._text_of(stair, shapes)

    @property
    def memory(self) -> Memory:
        """What a call keeps in memory (`memory_for` where the sizes of inputs are not known)."""
        return self.memory_for(None)

    def memory_for(self, shapes: Shapes | None) -> Memory:
        """
        The plan of the arena for inputs of these `shapes`, sizes in bytes, read off the IR at the foot of `scf`.

        It is lowered again for this. A program with `?` needs `shapes`.
        """
        from ..analysis.memory import memory_of
        from ..core.parsing import make_context, parse_text

        return memory_of(parse_text(make_context(), self._text_of("scf", shapes)), self.entry)

    def export(
        self,
        path: str | Path,
        header: bool = True,
        *,
        target: str = "host",
        threads: int | None = None,
        shapes: Shapes | None = None,
    ) -> Exported:
        """
        Writes the program as `model.o` or `model.so`, with `model.h` and the weights `model.safetensors` beside it, for use from C
        without Python (docs/shipping.md). A program with `?` needs `shapes`.

        `target`: the machine it is for, one of docs/targets.md. `threads`: at most so many; `STEPWELL_THREADS` or all usable CPUs
        of the machine it runs on when None. Raises CompileError where the path has another suffix, the program calls
        code that cannot be written down, or there is no `cc` to make a `.so` with.
        """
        from .export import export

        return export(self._source(), Path(path), header, target, threads, shapes)

    def profile(self, *arrays: Any, rounds: int | None = None) -> Profile:
        """
        How long each kernel takes on these arrays: medians over `rounds` calls, or as many as 0.3 seconds allow. `print` shows a table.

        The first time for some shapes, the program is compiled once more, with clocks around the calls of kernels (docs/profiling.md).
        """
        from .profile import measuring_program

        arrays = self._own(arrays)
        self._check(arrays)
        shapes = None if self._program is not None else tuple([array.shape for array in arrays])
        with self._compile_lock:
            if shapes not in self._measuring:
                self._measuring[shapes] = measuring_program(self._source(), shapes)
        return self._measuring[shapes].run(arrays, rounds)

    def trace(self, *arrays: Any, tolerance: float | None = None) -> Trace:
        """
        Every value that the program computes from these arrays, beside the reference; `.first` is the first that diverges, `print`
        shows a table (docs/profiling.md). `tolerance`: relative errors of floats that are none, in place of those of the types.

        Slow: the program is compiled once more, to return them all, and the reference is NumPy. Raises CompileError for a program that
        is not on the graph stair.
        """
        from .trace import trace

        arrays = self._own(arrays)
        self._check(arrays)
        if self._bound is not None:
            return trace(self._source(), self._bound, arrays, None, tolerance)
        shapes = tuple([array.shape for array in arrays])
        return trace(self._source(), self._for(arrays), arrays, shapes, tolerance)

    def programs(self) -> dict[Shapes | None, Program]:
        """The programs loaded by now: one, by None, or for a program with `?` those for the shapes met and not yet given up."""
        if self._program is not None:
            return {None: self._program}
        return {shapes: bound.program for shapes, bound in self.specialisations.entries().items()}

    def __reduce__(self) -> tuple[Any, ...]:
        """
        Executables can be pickled (docs/shipping.md): machine code, the program's text, and weights, given arrays by content and
        a side-car by path and hash.
        """
        from .pickling import restore, state_of

        return restore, (state_of(self, self._source()),)

    def __repr__(self) -> str:
        return f"<stepwell.Executable {self.signature}>"

    def _own(self, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
        """`arrays`, those of other libraries as NumPy arrays over the same memory."""
        return tuple(as_inputs(arrays, [name for name, _ in self._inputs]))

    def _for(self, arrays: Sequence[Any]) -> BoundEntry:
        """The entry specialised to the shapes of `arrays`, compiled on first use; other arguments fit it or it says why not."""
        shapes = tuple([array.shape if isinstance(array, np.ndarray) else NO_SHAPE for array in arrays])
        if (known := self.specialisations.find(shapes)) is not None:
            return known
        self._check(arrays)
        with self._compile_lock:
            if (known := self.specialisations.find(shapes)) is not None:
                return known
            start = time.perf_counter()
            bound = self._load(shapes).entry(self.entry)
            self.specialisations.add(shapes, bound, time.perf_counter() - start)
        return bound

    def _check(self, arrays: Sequence[Any]) -> None:
        """Raises ArgumentError when `arrays` are not of the declared types, which may have `?`."""
        if len(arrays) != len(self._inputs):
            names = ", ".join(f"'{name}'" for name, _ in self._inputs)
            raise ArgumentError(f"'{self.entry}' takes {len(self._inputs)} arguments ({names}), found {len(arrays)}")
        for value, (name, type_) in zip(arrays, self._inputs, strict=True):
            check_type(value, type_, name)
