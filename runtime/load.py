"""`stepwell.load`: from a file that `Executable.save` wrote to a program that runs."""

from __future__ import annotations

from pathlib import Path

from .executable import Executable, executable_of
from .saving.opening import SavedFile
from .saving.reading import LoadedCode, fitting_code


def load(
    path: str | Path,
    *,
    trust_code: bool = False,
    verify: bool | None = None,
    threads: int | None = None,
    cache: bool = True,
) -> Executable:
    """
    Returns the program in a file that `Executable.save` wrote (docs/saving.md).

    The program is compiled from its text, or taken from the compile cache on disk, and runs as docs/safety.md says,
    whoever made the file. With `trust_code=True` the machine code of the file runs where the processor fits: do that
    with files of your own only. Nothing is compiled then, and weights are mapped, not copied.

    Args:
        verify: Whether to compare the hashes of weights with those in the file. The hashes of all else are always
            compared. When None, weights are compared unless `trust_code` is True.
        threads: The most threads. When None, it is what the program was compiled with.
        cache: False leaves the compile cache on disk alone.

    Raises SavedError for a file that is damaged, is no saved program, is of a newer version, or holds what is not
    checked, and the errors of `compile`.
    """
    file = SavedFile(path)
    file.verify(weights=not trust_code if verify is None else verify)
    asked = file.manifest.threads if threads is None else threads
    code = fitting_code(file, cache, asked) if trust_code else None
    return _compiled(file, trust_code, cache, asked) if code is None else _ready(file, code)


def _ready(file: SavedFile, code: LoadedCode) -> Executable:
    """Returns the executable of machine code in the file."""
    manifest = file.manifest
    program = code.load(None) if code.is_static else None
    exe = Executable(
        *(manifest.entry, manifest.inputs, manifest.outputs, manifest.entry_names),
        *(code.load, lambda *asked: code.source.text_of(*asked), program, lambda: code.source),
    )
    for shapes in code.shapes:
        if shapes is not None:
            exe.prepare(shapes)
    return exe


def _compiled(file: SavedFile, trusted: bool, use_cache: bool, threads: int | None) -> Executable:
    """Returns the executable that the text in the file becomes."""
    from .saving.text import source_of

    return executable_of(source_of(file, trusted, use_cache, threads))
