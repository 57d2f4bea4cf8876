"""What `stepwell.compile` returns: a program that is called like a function."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

from .arrays import ArrayType, check_input
from .errors import ArgumentError
from .program import BoundEntry, Program

MOST_SPECIALISATIONS = 32
"""Programs kept for different sizes of `?`; the one unused for longest goes first."""

Shapes = tuple[tuple[int, ...], ...]


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
    ):
        self.entry = entry
        self.entry_names = tuple(entry_names)
        self._inputs = tuple(inputs)
        self._outputs = tuple(outputs)
        self._load = load
        self._text_of = text_of
        self._bound = program.entry(entry) if program is not None else None
        self._program = program
        self._specialised: OrderedDict[Shapes, BoundEntry] = OrderedDict()
        self._lock = Lock()

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
        The results, newly allocated; contiguous inputs are not copied.

        Raises ArgumentError when an array does not fit, ExecutionError when the program fails.
        """
        bound = self._bound if self._bound is not None else self._for(arrays)
        return bound(*arrays)

    def run_into(self, outputs: Sequence[Any], *arrays: Any) -> None:
        """Like a call, but writes the results into `outputs`: contiguous arrays that overlap no other argument."""
        bound = self._bound if self._bound is not None else self._for(arrays)
        bound.run_into(outputs, *arrays)

    def ir(self, stair: str, shapes: Shapes | None = None) -> str:
        """
        The program's text on a stair: `graph`, `tensor_loop`, `scf`, `llvm`, `llvm-ir` or `asm`.

        A program with `?` needs the `shapes` of its inputs for any stair below the graph.
        """
        return self._text_of(stair, shapes)

    def __repr__(self) -> str:
        return f"<stepwell.Executable {self.signature}>"

    def _for(self, arrays: Sequence[Any]) -> BoundEntry:
        """The entry specialised to the shapes of `arrays`, compiled on first use."""
        if len(arrays) != len(self._inputs):
            names = ", ".join(f"'{name}'" for name, _ in self._inputs)
            raise ArgumentError(
                f"'{self.entry}' takes {len(self._inputs)} arguments ({names}), found {len(arrays)}"
            )
        for value, (name, type_) in zip(arrays, self._inputs, strict=True):
            check_input(value, type_, name)
        shapes = tuple(tuple(array.shape) for array in arrays)
        with self._lock:
            bound = self._specialised.get(shapes)
            if bound is None:
                bound = self._specialised[shapes] = self._load(shapes).entry(self.entry)
                while len(self._specialised) > MOST_SPECIALISATIONS:
                    self._specialised.popitem(last=False)
            else:
                self._specialised.move_to_end(shapes)
        return bound
