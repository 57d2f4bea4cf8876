"""
`Executable.export`: a program as an object file or shared library that a C program calls, with no Python (docs/shipping.md).

What is written: the code, a C header, and the weights as a safetensors file. The code holds its own pool of threads, the layout
of its context, and the first bytes of the weights file, so that it takes no other.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.diagnostics import Diagnostic, StepwellError
from ..core.files import write_atomically
from ..core.pass_context import PassContext
from ..core.weights import open_weights, write_weights
from ..lowering.llvm.parallel import RUN_PARALLEL
from ..schedule.targets import target_named
from .errors import CompileError, ExecutionError
from .export_cpu import cpu_text, needed_features
from .export_header import header_text, identifier
from .export_layout import Layout, layout_of
from .export_system import WeightsFile
from .export_text import Glue, glue_text
from .jit import Target, compile_library, host_target, load_all_machines
from .program import Description
from .stairs import has_unknown_sizes
from .threads_text import pool_text

if TYPE_CHECKING:
    from .compile import Source
    from .specialisations import Shapes

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
    target: str,
    threads: int | None,
    shapes: Shapes | None,
) -> Exported:
    """Writes the program of `source`; see `Executable.export`."""
    _check_request(source, path, threads, shapes)
    machine = machine_of(target)
    compiler = c_compiler(machine) if path.suffix == ".so" else None
    with source.watch() as progress:
        description, text = for_target(source, target).lower(shapes, progress)
    _check_exportable(description, source.entry)
    layout = layout_of(description, source.entry)
    weights = _write_weights(
        path.with_suffix(".safetensors"), layout, source.arrays_for(description), source.side_car()
    )
    prefix = identifier(path.stem)
    glue = _glue(prefix, description, layout, weights, text, threads, machine)
    with source.watch() as progress:
        progress.then("machine code")
        code = _compiled(glue, text, machine)
    if compiler is None:
        _write(path, code)
    else:
        _link(compiler, path, code)
    written = path.with_suffix(".h") if header else None
    if written is not None:
        _write(written, _header(glue, machine))
    return Exported(path, written, path.with_suffix(".safetensors") if weights else None, prefix)


def _check_request(source: Source, path: Path, threads: int | None, shapes: Shapes | None) -> None:
    """What can be said before anything is compiled."""
    if path.suffix not in SUFFIXES:
        raise CompileError(f"cannot export to '{path}': expected a name that ends in .o or .so")
    if threads is not None and threads < 1:
        raise CompileError(f"the number of threads is {threads!r}, expected at least 1")
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


def machine_of(target: str) -> Target:
    """What LLVM makes code for when `target` is named; raises StepwellError for an unknown one."""
    if target == "host":
        return host_target()
    named = target_named(target)
    if named.triple.partition("-")[0] != host_target().triple.partition("-")[0]:
        load_all_machines()
    return Target(named.triple, named.cpu, named.llvm_features)


def for_target(source: Source, target: str) -> Source:
    """`source`, to be lowered for another machine, else under the pass context that it has."""
    if target == "host":
        return source
    target_named(target)
    context = source.context.copy()

    def enter() -> None:
        now = PassContext.current()
        config = {**now.config, "target": target}
        PassContext(now.opt_level, now.disabled, now.required, config, now.instruments).__enter__()

    context.run(enter)
    return replace(source, context=context, texts={})


def c_compiler(machine: Target) -> str:
    """The `cc` that links a shared library. Raises CompileError where there is none, or none for that machine."""
    wanted, here = (triple.partition("-")[0] for triple in (machine.triple, host_target().triple))
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
    file: WeightsFile | None,
    text: str,
    threads: int | None,
    machine: Target,
) -> Glue:
    uses_tiles = "@llvm.x86.ldtilecfg" in text
    return Glue(
        prefix,
        layout,
        [str(ExecutionError(*check)) for check in description.checks],
        file,
        needed_features(machine, uses_tiles),
        is_parallel=f"@{RUN_PARALLEL}(" in text,
        uses_tiles=uses_tiles,
        threads=threads,
        is_apple="apple" in machine.triple or "darwin" in machine.triple,
    )


def _compiled(glue: Glue, text: str, machine: Target) -> bytes:
    others = [glue_text(glue), cpu_text(glue.features)]
    if glue.is_parallel:
        others.append(pool_text(machine.triple).replace('asm sideeffect "isb", "~{memory}"()', _YIELD))
        if _YIELD in others[-1]:
            others[-1] += "declare void @llvm.aarch64.hint(i32)\n"
    return compile_library(text, others, glue.exported, machine)


_YIELD = "@llvm.aarch64.hint(i32 1)"
"""In place of text that needs an assembler, which there may be for this machine only."""


def _write_weights(path: Path, layout: Layout, arrays: Mapping[str, Any], own: Path | None) -> WeightsFile | None:
    """
    Writes the weights that the program uses, and says what the file holds; None where it uses none.

    Where `path` is the side-car `own` that they come from, that is used as it stands: the program would miss what is not written. Its
    tensors must be aligned then, else CompileError.
    """
    wanted = {key: arrays[key] for key in layout.weights}
    if not wanted:
        return None
    if own is None or not path.exists() or not path.samefile(own):
        write_weights(path, wanted)
    elif any(not array.flags.aligned for array in wanted.values()):
        raise CompileError(
            f"tensors in '{path}' are not aligned, and it is the side-car of the program: export under another name"
        )
    file = open_weights(path)
    with open(path, "rb") as opened:
        header = opened.read(file.data_start)
    return WeightsFile(path.name, header, path.stat().st_size, file.entries)


def _header(glue: Glue, machine: Target) -> str:
    layout, file = glue.layout, glue.file
    inputs, outputs = layout.entry.of("input"), layout.entry.of("output")
    ins = ", ".join(f"{each.name}: {each.type}" for each in inputs)
    outs = ", ".join(f"{each.name}: {each.type}" for each in outputs)
    signature = f"{layout.entry.name}({ins}) -> ({outs})"
    features = glue.features
    shown = f"{machine.triple.partition('-')[0]}{' with ' if features else ''}{', '.join(features)}"
    weights = list(layout.weights.values())
    return header_text(glue.prefix, signature, inputs, outputs, weights, None if file is None else file.name, shown)


def _write(path: Path, data: bytes | str) -> None:
    try:
        write_atomically(path, data)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise StepwellError(Diagnostic(f"cannot write '{path}': {reason}")) from error


def _link(compiler: str, path: Path, code: bytes) -> None:
    """Makes a shared library of object code; raises CompileError with what the compiler said when it refuses."""
    with tempfile.TemporaryDirectory() as folder:
        object_file, library = Path(folder) / "code.o", Path(folder) / path.name
        object_file.write_bytes(code)
        command = [compiler, "-shared", "-pthread", "-o", str(library), str(object_file), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise CompileError(f"'{compiler}' could not link '{path.name}': {done.stderr.strip()}")
        data = library.read_bytes()
    _write(path, data)
    path.chmod(0o755)
