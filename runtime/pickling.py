"""
Turns executables into pickles, and pickles into executables (docs/shipping.md).

A pickle is plain data. Machine code is used as it is where the target and this package are those that made it.
Elsewhere the program is compiled anew from its text. Weights that were given as arrays are in the pickle. A side-car is
named by its path, and must have the same content where the pickle is read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextvars import copy_context
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..core.messages.diagnostics import Diagnostic
from ..core.passes.context import PassContext
from ..core.roles import prepare_function
from ..core.text.parsing import make_context, parse_text
from ..core.weights import HASH_KEY, WeightsError, open_weights
from ..dialects.graph.constants import WeightOp
from . import cache as disk
from .errors import CompileError
from .native.jit import describe_host
from .native.threads import thread_count
from .program.arrays import ArrayType
from .program.description import Description
from .program.program import Program
from .program.weights import bind_weights
from .source import Source, loaded
from .specialisations import Shapes
from .stairs import set_signatures

FORMAT = 1
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
        "context": source.context.copy().run(_context_state),
        "weights": _weights_state(source, [each.description for each in programs.values()]),
    }


def _plain(types: NamedTypes) -> list[tuple[str, str, tuple[int | None, ...]]]:
    return [(name, type_.dtype, type_.shape) for name, type_ in types]


def _types(plain: Sequence[tuple[str, str, tuple[int | None, ...]]]) -> NamedTypes:
    return [(name, ArrayType(dtype, shape)) for name, dtype, shape in plain]


def _context_state() -> tuple[Any, ...]:
    """Returns the pass context without its instruments, which watch in their own process."""
    found = PassContext.current()
    return found.opt_level, sorted(found.disabled), sorted(found.required), dict(found.config)


def _weights_state(source: Source, descriptions: Sequence[Description]) -> Any:
    """Returns arrays by key, or the path of a side-car and what identifies it. There is None without weights."""
    keys = {op.weight_key for op in source.module.walk() if isinstance(op, WeightOp)}
    for description in descriptions:
        for entry in description.entries:
            keys |= {argument.key for argument in entry.of("weight") if prepare_function(argument.key) is None}
    if not keys:
        return None
    if isinstance(source.weights, Mapping):
        return {key: np.asarray(source.weights[key]) for key in sorted(keys) if key in source.weights}
    file = source.side_car()
    if file is None:
        return None
    path = str(file.resolve())
    return path, _identity(path)


@cache
def _known_identity(path: str, modified: int, size: int) -> str:
    """Returns the hash of a side-car. The header holds that of the data where this package wrote the file."""
    file = open_weights(path)
    digest = hashlib.sha256()
    with open(path, "rb") as opened:
        digest.update(opened.read(file.data_start))
    if HASH_KEY not in file.metadata:
        digest.update(file.data_hash().encode())
    return f"{digest.hexdigest()}-{size}"


def _identity(path: str) -> str:
    """Returns the hash of a side-car as it is now. Raises WeightsError where it cannot be read."""
    open_weights(path)
    status = Path(path).stat()
    return _known_identity(path, status.st_mtime_ns, status.st_size)


class Kept:
    """
    What a pickle holds. Its text is read when something is to be compiled or shown.

    Raises CompileError for a state of another format, WeightsError when its side-car is not there or has another
    content.
    """

    def __init__(self, state: dict[str, Any]):
        if state.get("format") != FORMAT:
            raise CompileError(
                f"the pickle of the executable has format {state.get('format')}, expected {FORMAT}: "
                "it was made by another version of stepwell; compile the program again"
            )
        self._state = state
        self.inputs, self.outputs = (_types(state[side]) for side in ("inputs", "outputs"))
        self._weights = _found_weights(state["weights"])
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


def _found_weights(kept: Any) -> Path | Mapping[str, Any] | None:
    """Returns the arrays, or the side-car. Raises WeightsError where it is not the one of the pickle."""
    if kept is None or isinstance(kept, dict):
        return kept
    path, identity = kept
    if _identity(path) != identity:
        message = f"weights file '{path}': it is not the one that the pickled executable was compiled with"
        raise WeightsError(
            Diagnostic(message, hint="to have the weights in the pickle, compile with arrays as weights=")
        )
    return Path(path)
