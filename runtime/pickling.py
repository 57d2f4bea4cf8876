"""
Executables as pickles: what is kept of one, and one from that (docs/shipping.md).

A pickle is plain data. Machine code is used as it is where the target and this package are those that made it; elsewhere the program is compiled
anew from its text. Weights that were given as arrays are in the pickle; a side-car is named by its path, and must have the same content
where the pickle is read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextvars import copy_context
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.diagnostics import Diagnostic
from ..core.parsing import make_context, parse_text
from ..core.pass_context import PassContext
from ..core.weights import HASH_KEY, WeightsError, open_weights
from ..dialects.graph.constants import WeightOp
from . import cache as disk
from .arrays import ArrayType
from .compile import Source, thread_count
from .errors import CompileError
from .executable import Executable
from .jit import host_target
from .program import Description, Program
from .specialisations import Shapes
from .stairs import set_signatures
from .weights import bind_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMAT = 1
"""Changes whenever `state_of` does."""


def maker() -> tuple[str, str]:
    """What machine code depends on beside the program: the target, and the sources of this package and its plug-ins."""
    return host_target().describe(), disk.source_fingerprint()


def state_of(executable: Executable, source: Source) -> dict[str, Any]:
    """All that makes the executable again, as plain data and arrays. Raises WeightsError when its side-car is gone."""
    programs = executable.programs()
    name, text = source.written or ("<pickle>", str(source.module))
    return {
        "format": FORMAT,
        "maker": maker(),
        "entry": executable.entry,
        "entry_names": executable.entry_names,
        "inputs": _plain(executable.input_types),
        "outputs": _plain(executable.output_types),
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


def _plain(types: Sequence[tuple[str, ArrayType]]) -> list[tuple[str, str, tuple[int | None, ...]]]:
    return [(name, type_.dtype, type_.shape) for name, type_ in types]


def _context_state() -> tuple[Any, ...]:
    """The pass context without its instruments, which watch in their own process."""
    found = PassContext.current()
    return found.opt_level, sorted(found.disabled), sorted(found.required), dict(found.config)


def _weights_state(source: Source, descriptions: Sequence[Description]) -> Any:
    """Arrays by key, or the path of a side-car and what identifies it; None without weights."""
    keys = {op.weight_key for op in source.module.walk() if isinstance(op, WeightOp)}
    for description in descriptions:
        for entry in description.entries:
            keys |= {argument.key for argument in entry.of("weight") if not argument.key.startswith("@")}
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
    """The hash of a side-car; that of its data is in the header where we wrote it."""
    file = open_weights(path)
    digest = hashlib.sha256()
    with open(path, "rb") as opened:
        digest.update(opened.read(file.data_start))
    if HASH_KEY not in file.metadata:
        digest.update(file.data_hash().encode())
    return f"{digest.hexdigest()}-{size}"


def _identity(path: str) -> str:
    """The hash of a side-car as it is now; raises WeightsError where it cannot be read."""
    open_weights(path)
    status = Path(path).stat()
    return _known_identity(path, status.st_mtime_ns, status.st_size)


def restore(state: dict[str, Any]) -> Executable:
    """
    The executable that `state` was made of.

    Raises CompileError for a state of another format, WeightsError when its side-car is not there or has another content.
    """
    if state.get("format") != FORMAT:
        raise CompileError(
            f"the pickle of the executable has format {state.get('format')}, expected {FORMAT}: "
            "it was made by another version of stepwell; compile the program again"
        )
    kept = Kept(state)
    program = kept.load(None) if state["is_static"] else None
    return Executable(
        state["entry"],
        [(name, ArrayType(dtype, shape)) for name, dtype, shape in state["inputs"]],
        [(name, ArrayType(dtype, shape)) for name, dtype, shape in state["outputs"]],
        state["entry_names"],
        kept.load,
        kept.text_of,
        program,
        lambda: kept.source,
    )


class Kept:
    """What a pickle holds; its text is read when something is to be compiled or shown."""

    def __init__(self, state: dict[str, Any]):
        self._state = state
        self._weights = _found_weights(state["weights"])
        same = state["maker"] == maker()
        self._programs = {shapes: (text, code) for shapes, text, code in state["programs"]} if same else {}

    def load(self, shapes: Shapes | None) -> Program:
        """The program for `shapes`: machine code of the pickle where it fits, else compiled."""
        if shapes not in self._programs:
            return self.source.load(shapes)
        text, code = self._programs[shapes]
        description = Description.from_json(text)
        arrays = bind_weights(description, None, None, self._weights)
        use_cache, _, threads = self._state["options"]
        return Program(description, code, arrays, use_cache, thread_count(threads))

    def text_of(self, stair: str, shapes: Shapes | None) -> str:
        """The text on `stair`."""
        return self.source.text_of(stair, shapes)

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
    """The arrays, or the side-car once it is known to be the one."""
    if kept is None or isinstance(kept, dict):
        return kept
    path, identity = kept
    if _identity(path) != identity:
        message = f"weights file '{path}': it is not the one that the pickled executable was compiled with"
        raise WeightsError(
            Diagnostic(message, hint="to have the weights in the pickle, compile with arrays as weights=")
        )
    return Path(path)
