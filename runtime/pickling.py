"""
Turns executables into pickles, and pickles into executables (docs/shipping.md).

A pickle is plain data. Machine code is used as it is where the target and this package are those that made it.
Elsewhere the program is compiled anew from its text. Weights are in the pickle, wherever they came from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import copy_context
from functools import cached_property
from pathlib import Path
from typing import Any

from ..core.passes.context import PassContext
from ..core.text.parsing import make_context, parse_text
from . import cache as disk
from .errors import CompileError
from .native.jit import describe_host
from .native.threads import thread_count
from .program.arrays import ArrayType
from .program.description import Description
from .program.program import Program
from .program.weights import bind_weights
from .saving.writing import context_state, raw_weights
from .source import Source, loaded
from .specialisations import Shapes
from .stairs import set_signatures

FORMAT = 2
"""Changes whenever `state_of` does."""


def maker() -> tuple[str, str]:
    """Returns what machine code depends on beside the program: the target, and a hash of the compiler."""
    return describe_host(), disk.source_fingerprint()


NamedTypes = Sequence[tuple[str, ArrayType]]
"""The names and types of arguments or results."""


def state_of(
    source: Source,
    entry_names: Sequence[str],
    inputs: NamedTypes,
    outputs: NamedTypes,
    programs: Mapping[Shapes | None, Program],
) -> dict[str, Any]:
    """
    Returns all that makes an executable again, as plain data and arrays.

    Raises WeightsError when its side-car is gone.
    """
    name, text = source.written or ("<pickle>", str(source.module))
    return {
        "format": FORMAT,
        "maker": maker(),
        "entry": source.entry,
        "entry_names": tuple(entry_names),
        "inputs": _plain(inputs),
        "outputs": _plain(outputs),
        "programs": [(shapes, each.description.to_json(), each.object_code) for shapes, each in programs.items()],
        "is_static": None in programs,
        "name": name,
        "text": text,
        "pipeline": source.pipeline,
        "options": (source.use_cache, source.verify_each, source.threads_asked),
        "tuning": None if source.tuning is None else str(source.tuning.resolve()),
        "context": source.context.copy().run(context_state),
        "weights": raw_weights(source, [each.description for each in programs.values()]) or None,
    }


def _plain(types: NamedTypes) -> list[tuple[str, str, tuple[int | None, ...]]]:
    return [(name, type_.dtype, type_.shape) for name, type_ in types]


def _types(plain: Sequence[tuple[str, str, tuple[int | None, ...]]]) -> NamedTypes:
    return [(name, ArrayType(dtype, shape)) for name, dtype, shape in plain]


class Kept:
    """
    What a pickle holds. Its text is read when something is to be compiled or shown.

    Raises CompileError for a state of another format.
    """

    def __init__(self, state: dict[str, Any]):
        if state.get("format") != FORMAT:
            raise CompileError(
                f"the pickle of the executable has format {state.get('format')}, expected {FORMAT}: "
                "it was made by another version of stepwell; compile the program again"
            )
        self._state = state
        self.inputs, self.outputs = (_types(state[side]) for side in ("inputs", "outputs"))
        self._weights: Mapping[str, Any] | None = state["weights"]
        same = state["maker"] == maker()
        self._programs = {shapes: (text, code) for shapes, text, code in state["programs"]} if same else {}

    def load(self, shapes: Shapes | None) -> Program:
        """Returns the program for `shapes`: machine code of the pickle where it fits, else compiled."""
        if shapes not in self._programs:
            return self.source.load(shapes)
        text, code = self._programs[shapes]
        description = Description.from_json(text)
        arrays = bind_weights(description, None, None, self._weights)
        use_cache, _, threads = self._state["options"]
        return loaded(description, code, arrays, use_cache, thread_count(threads))

    @cached_property
    def source(self) -> Source:
        """The module and how it was compiled."""
        state = self._state
        module = parse_text(make_context(), state["text"], state["name"])
        set_signatures(module, state["entry"])
        use_cache, verify_each, threads = state["options"]
        tuning = None if state["tuning"] is None else Path(state["tuning"])
        context = copy_context()
        if state["context"] is not None:
            context.run(PassContext(*state["context"]).__enter__)
        return Source(
            module,
            state["entry"],
            state["pipeline"],
            use_cache,
            verify_each,
            self._weights,
            thread_count(threads),
            tuning if tuning is not None and tuning.is_file() else None,
            (state["name"], state["text"]),
            threads,
            context=context,
        )
