"""The text of a saved program, to be compiled: apart from `reading`, since it needs all of the compiler."""

from __future__ import annotations

from contextvars import copy_context
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from ...core.ir.verification import verify_module
from ...core.passes.context import PassContext
from ...core.text.parsing import make_context, parse_text
from ..errors import ProcessorError
from ..external_code.external import LinkedExternals
from ..native.targets import check_runs_here
from ..native.threads import thread_count
from ..program.describe import array_type, functions, signature
from ..program.description import Description
from ..source import Source, own_code
from ..stairs import set_signatures
from .container import refuse
from .manifest import MANIFEST, PROGRAM
from .opening import SavedFile
from .safety import check_manifest, make_safe


def source_of(file: SavedFile, trusted: bool, use_cache: bool, threads: int | None) -> Source:
    """
    Returns the program of `file`, read and verified, to be compiled.

    Raises SavedError where it is not `trusted` and does what is not checked, and what parser and verifier find.
    """
    manifest = file.manifest
    name = f"{file.path.name}/{PROGRAM}"
    try:
        text = file.container.data(PROGRAM).decode()
    except UnicodeDecodeError:
        refuse(file.path, f"entry '{PROGRAM}' is not valid UTF-8")
    if not trusted:
        check_manifest(file.path, manifest)
    module = parse_text(make_context(), text, name)
    if not trusted:
        make_safe(file.path, module, name)
    verify_module(module, sources={name: text})
    set_signatures(module, manifest.entry)
    _check_types(file, module)
    context = copy_context()
    context.run(_enter, manifest.context)
    source = Source(
        *(module, manifest.entry, manifest.pipeline, use_cache, manifest.verify_each, file.weights),
        *(thread_count(threads), None, (name, text) if trusted else None, threads),
        context=context,
    )
    try:
        check_runs_here(source.target)
    except ProcessorError:
        return source.for_target("host")
    return source


def _check_types(file: SavedFile, module: ModuleOp) -> None:
    """Raises SavedError unless the entry in the text takes and returns what the manifest says."""
    types = signature(functions(module)[file.manifest.entry])
    if types is None:
        return
    for side, found in (("inputs", types.inputs), ("outputs", types.outputs)):
        said = [type_ for _, type_ in getattr(file.manifest, side)]
        if [array_type(each) for each in found] != said:
            shown = ", ".join(map(str, said)) or "none"
            refuse(file.path, f"its {side} are {shown} in '{MANIFEST}', which are not those of '{PROGRAM}'")


def _enter(state: Any) -> None:
    """Enters the pass context that `state` describes, in the running `contextvars.Context`."""
    if state is not None:
        level, disabled, required, config = state
        PassContext(level, disabled, required, config).__enter__()


def linked(description: Description, use_cache: bool) -> LinkedExternals:
    """Returns the code from outside that a program calls."""
    return LinkedExternals(description.externals, own_code, use_cache)
