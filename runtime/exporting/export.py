"""
`Executable.export` makes a program an object file or shared library for C programs, with no Python (docs/shipping.md).

It writes the code, a C header, and the weights as a safetensors file. The code holds its own pool of threads, the
layout of its context, and the first bytes of the weights file, so that it takes no other file.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...core.messages.files import is_special, write_file, writing
from ...core.packing import in_bytes
from ...core.roles import RUN_PARALLEL
from ...core.weights import open_weights, write_weights
from ...lazy_dataclass import dataclass
from ...machine.code_target import CodeTarget, uses_tile_registers
from ..errors import CompileError, ExecutionError
from ..native.jit import compile_library, host_code_target
from ..native.own_lines import with_own_lines
from ..native.threads import thread_count
from ..native.threads_text import pool_text
from ..program.description import Description
from ..side_car import named_side_car
from ..source import Source
from ..specialisations import Shapes
from ..stairs import has_unknown_sizes
from .cpu import check_text, for_any_processor, needed_features
from .header import header_text, identifier
from .layout import Layout, layout_of
from .system import WeightsFile
from .text import Glue, glue_text

SUFFIXES = (".o", ".so")


@dataclass(frozen=True)
class Exported:
    """The files that were written: the code, the header (if asked for), and the weights (if there are any)."""

    code: Path
    header: Path | None
    weights: Path | None
    prefix: str
    """What the names of the four functions begin with."""


def export(
    source: Source,
    path: Path,
    header: bool,
    target: str | None,
    threads: int | None,
    shapes: Shapes | None,
) -> Exported:
    """Writes the program of `source`. The parameters and errors are those of `Executable.export`."""
    _check_request(source, path, threads, shapes)
    if target is not None:
        source = source.for_target(target)
    machine = source.code_target
    compiler = c_compiler(machine) if path.suffix == ".so" else None
    with source.watch() as progress:
        description, text = source.lower(shapes, progress, lines=True)
    _check_exportable(description, source.entry)
    layout = layout_of(description, source.entry)
    arrays = source.arrays_for(description)
    own, named = source.side_car(), named_side_car(source.module)
    weights = _write_weights(path.with_suffix(".safetensors"), layout, arrays, own, named)
    prefix = identifier(path.stem)
    made = {key: arrays[key].tobytes() for key in layout.made}
    glue = _glue(prefix, description, layout, made, weights, text, threads, machine)
    with source.watch() as progress:
        progress.then("machine code")
        code = _compiled(glue, text, machine)
    if compiler is None:
        write_file(path, code)
    else:
        _link(compiler, path, code)
    written = path.with_suffix(".h") if header else None
    if written is not None:
        write_file(written, _header(glue, machine))
    return Exported(path, written, path.with_suffix(".safetensors") if weights else None, prefix)


def _check_request(source: Source, path: Path, threads: int | None, shapes: Shapes | None) -> None:
    """Raises CompileError for what can be seen to be wrong before anything is compiled."""
    if path.suffix not in SUFFIXES:
        raise CompileError(f"cannot export to '{path}': expected a name that ends in .o or .so")
    if threads is not None:
        thread_count(threads)
    if shapes is None and has_unknown_sizes(source.module, source.entry):
        raise CompileError(
            f"@{source.entry} takes arrays of unknown sizes (?): exporting needs shapes=, one per argument"
        )


def _check_exportable(description: Description, entry: str) -> None:
    if description.externals:
        names = ", ".join(f"@{each.function} ('{each.compiler}')" for each in description.externals)
        raise CompileError(
            f"cannot export code of other code generators: {names}; leave partition-graph out of the pipeline"
        )
    if any(each.of("size") or each.of("stride") for each in description.entries):
        raise CompileError(f"cannot export @{entry}: it takes sizes with each call, expected known sizes")


def c_compiler(machine: CodeTarget) -> str:
    """Returns the `cc` that links a shared library. Raises CompileError where there is none for that machine."""
    wanted, here = machine.architecture, host_code_target().architecture
    if wanted != here:
        raise CompileError(
            f"cannot link a .so for {wanted} on {here}: export a .o and link it with a compiler for {wanted}"
        )
    found = shutil.which("cc")
    if found is None:
        raise CompileError("a .so needs a C compiler, and there is no 'cc': install one, or export a .o")
    return found


def _glue(
    prefix: str,
    description: Description,
    layout: Layout,
    made: Mapping[str, bytes],
    file: WeightsFile | None,
    text: str,
    threads: int | None,
    machine: CodeTarget,
) -> Glue:
    uses_tiles = uses_tile_registers(text)
    return Glue(
        prefix,
        layout,
        made,
        [str(ExecutionError(*check)) for check in description.checks],
        file,
        needed_features(machine, uses_tiles),
        is_parallel=f"@{RUN_PARALLEL}(" in text,
        uses_tiles=uses_tiles,
        threads=threads,
        is_apple=machine.is_apple,
    )


def _compiled(glue: Glue, text: str, machine: CodeTarget) -> bytes:
    # What runs before the check of the processor must run on any processor.
    others = [for_any_processor(each, machine) for each in (glue_text(glue), check_text(machine, glue.features))]
    if glue.is_parallel:
        others.append(pool_text(machine, exported=True))
    return compile_library(text, list(map(with_own_lines, others)), glue.exported, machine)


def _write_weights(
    path: Path, layout: Layout, arrays: Mapping[str, Any], own: Path | None, named: Path | None
) -> WeightsFile | None:
    """
    Writes the weights that the program uses, and returns what the file holds. There is None where it uses none.

    Where `path` is the side-car `own` that they come from, that is used as it stands, so that it keeps all that it has.
    Raises CompileError where its tensors are not aligned, and where `path` is the file that the program names but its
    weights come from elsewhere.
    """
    # C code reads elements as they lie in memory: a small integer is a byte.
    wanted = {key: in_bytes(arrays[key]) for key in layout.weights}
    if not wanted:
        return None
    if is_special(path):
        raise CompileError(f"cannot write '{path}': it is no regular file, and the program maps its weights")
    if not _is_same_file(path, own):
        if _is_same_file(path, named):
            raise CompileError(
                f"'{path}' is the side-car that the program names, and weights= gives others: export under another name"
            )
        write_weights(path, wanted)
    elif any(wanted[key] is not arrays[key] for key in wanted):
        raise CompileError(
            f"tensors in '{path}' share bytes, and it is the side-car of the program: export under another name"
        )
    elif any(not array.flags.aligned for array in wanted.values()):
        raise CompileError(
            f"tensors in '{path}' are not aligned, and it is the side-car of the program: export under another name"
        )
    file = open_weights(path)
    with open(path, "rb") as opened:
        header = opened.read(file.data_start)
    return WeightsFile(path.name, header, path.stat().st_size, {key: file.entry(key) for key in wanted})


def _is_same_file(path: Path, other: Path | None) -> bool:
    return other is not None and path.exists() and other.exists() and path.samefile(other)


def _header(glue: Glue, machine: CodeTarget) -> str:
    layout, file = glue.layout, glue.file
    inputs, outputs = layout.entry.of("input"), layout.entry.of("output")
    ins = ", ".join(f"{each.name}: {each.type}" for each in inputs)
    outs = ", ".join(f"{each.name}: {each.type}" for each in outputs)
    signature = f"{layout.entry.name}({ins}) -> ({outs})"
    features = glue.features
    shown = f"{machine.architecture}{' with ' if features else ''}{', '.join(features)}"
    weights = list(layout.weights.values())
    return header_text(glue.prefix, signature, inputs, outputs, weights, None if file is None else file.name, shown)


def _link(compiler: str, path: Path, code: bytes) -> None:
    """
    Makes a shared library of object code. Raises CompileError with what the compiler said when it refuses, and
    StepwellError when a file cannot be written, such as on a full disk.
    """
    with writing(path), tempfile.TemporaryDirectory() as folder:
        object_file, library = Path(folder) / "code.o", Path(folder) / path.name
        with writing(object_file):
            object_file.write_bytes(code)
        command = [compiler, "-shared", "-pthread", "-o", str(library), str(object_file), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise CompileError(f"'{compiler}' could not link '{path.name}': {done.stderr.strip()}")
        data = library.read_bytes()
    write_file(path, data)
    if not is_special(path):
        with writing(path):
            path.chmod(0o755)
