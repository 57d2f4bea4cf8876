"""Makes machine code in memory of LLVM text. This is the only file that talks to llvmlite."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, Future
from contextlib import suppress
from functools import cache, lru_cache
from hashlib import sha256
from itertools import count
from threading import Lock
from typing import Any, Final

import llvmlite
import llvmlite.binding as llvm
from llvmlite.binding import ffi
from llvmlite.binding.newpassmanagers import NewPassManager

from ...lowering.llvm_text.names import byte_string
from ...machine.amx import amx_permitted
from ...machine.code_target import CodeTarget, uses_tile_registers
from ...machine.intrinsics import lacking_feature
from .. import cache as disk
from ..errors import CompileError
from . import perf_map
from .effort import Effort, effort_for
from .half_floats import BRAIN_FLOATS, HALF_FLOATS
from .objects import objects_of
from .own_lines import with_own_lines

LINES: Final = "!llvm.dbg.cu"
"""What LLVM text with lines has."""

_NO_LINE: Final = re.compile(r"\t\.loc\t\d+ 0 ")
"""What says in assembly that the next instructions are on no line."""

_LOCK = Lock()
_LIBRARY_NUMBERS = count()

_LIBRARIES_PER_LINKER = 16
"""
The number of libraries that share a linker. LLVM keeps 9 KB of each unloaded library until its linker goes. A linker of
its own would cost every library 0.6 ms and 120 KB.
"""


@cache
def host_code_target() -> CodeTarget:
    """Returns what LLVM is told about the machine that this process runs on."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features().flatten()
    return CodeTarget(llvm.get_process_triple(), llvm.get_host_cpu_name(), features).as_host(amx_permitted())


def describe_host() -> str:
    """Returns the host and the version of LLVM as text, for the keys of caches."""
    return describe_target(host_code_target())


def describe_target(target: CodeTarget) -> str:
    """Returns `target` and the version of LLVM as text, for the keys of caches."""
    version = ".".join(map(str, llvm.llvm_version_info))
    return f"{target.describe()}|llvm {version}|{llvmlite.__version__}"


@cache
def load_all_machines() -> None:
    """Makes code for other machines than this one possible. A build of LLVM may have ours only."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


def _target_machine(target: CodeTarget, level: int = 2) -> llvm.TargetMachine:
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features_with_base, opt=level, jit=True, reloc="pic", codemodel="small"
    )


def _optimised(
    text: str, target: CodeTarget, speed_level: int, context: llvm.ContextRef
) -> tuple[llvm.ModuleRef, llvm.TargetMachine]:
    """
    Returns the module of LLVM text after its passes, and what makes machine code of it.

    Constants and metadata stay in their `context` for good, so each program gets one of its own.
    """
    if uses_tile_registers(text) and not target.has_tile_products:
        raise CompileError(
            f"the program multiplies by amx, which {target.cpu} does not have or the system does not let this "
            "process use; "
            "schedule it for another target"
        )
    if lacking := lacking_feature(text, target):
        message = f"the program has instructions of {lacking}, which {target.cpu} does not have"
        raise CompileError(f"{message}; schedule it for another target")
    text += _conversions(text, target)
    module = llvm.parse_assembly(text, context)
    module.triple = target.triple
    effort = effort_for(text, speed_level)
    machine = _target_machine(target, effort.code)
    module.data_layout = str(machine.target_data)
    module.verify()
    _improve(module, machine, effort)
    return module, machine


def _conversions(text: str, target: CodeTarget) -> str:
    """Returns the functions that LLVM calls for the small floats in `text`, with lines where that has lines."""
    added = HALF_FLOATS if "half" in text and target.lacks_half_floats else ""
    if "bfloat" in text and target.is_x86_64 and "+avx512bf16" not in target.written:
        added += BRAIN_FLOATS
    return with_own_lines(added, joins=True) if added and LINES in text else added


def _improve(module: llvm.ModuleRef, machine: llvm.TargetMachine, effort: Effort) -> None:
    """Runs LLVM's passes."""
    if effort.level == 0:
        return
    options = llvm.create_pipeline_tuning_options(speed_level=effort.level)
    options.loop_vectorization = True
    options.slp_vectorization = False
    options.loop_unrolling = True
    builder = llvm.create_pass_builder(machine, options)
    if effort.passes:
        manager = llvm.create_new_module_pass_manager()
        for name in effort.passes:
            getattr(manager, f"add_{name}_pass")()
    else:
        manager = builder.getModulePassManager()
    _run_once(manager, module, builder)


def _run_once(manager: llvm.ModulePassManager, module: llvm.ModuleRef, builder: llvm.PassBuilder) -> None:
    """Runs the passes and frees them. In llvmlite 0.50 a manager does not, since ObjectRef hides how."""
    _without_lock(ffi.lib.LLVMPY_RunNewModulePassManager)(manager, module, builder)
    NewPassManager._dispose(manager)  # pyright: ignore[reportPrivateUsage]
    manager.detach()


def _without_lock(function: Any) -> Any:
    """
    Returns a function of llvmlite that other threads can call at the same time.

    llvmlite takes one lock around every call, since it cannot know which modules share a context. Ours share none, and
    LLVM may then work on several.
    """
    return getattr(function, "_cfn", function)


def _object_of(machine: llvm.TargetMachine, module: llvm.ModuleRef) -> bytes:
    """Returns the machine code of `module`, as `emit_object` of llvmlite does, while other threads make theirs."""
    emit = _without_lock(ffi.lib.LLVMPY_TargetMachineEmitToMemory)
    with ffi.OutputString() as message:
        buffer = emit(machine, module, 1, message)
        if not buffer:
            raise RuntimeError(str(message))
    try:
        start, size = ffi.lib.LLVMPY_GetBufferStart(buffer), ffi.lib.LLVMPY_GetBufferSize(buffer)
        return ctypes.string_at(start, size)
    finally:
        ffi.lib.LLVMPY_DisposeMemoryBuffer(buffer)


def compile_object(text: str, target: CodeTarget | None = None, speed_level: int = 2) -> bytes:
    """
    Returns the object file (ELF or the host's format) for LLVM text.

    Raises RuntimeError with LLVM's message when the text is not valid IR. Raises CompileError where it has instructions
    that the target has not, since LLVM would end the process.
    """
    target = target or host_code_target()
    module, machine = _optimised(text, target, speed_level, llvm.create_context())
    return _object_of(machine, module)


_GIVEN: dict[str, bytes] = {}
"""The object files that saved programs hold, by `text_hash`. So nothing is compiled to call a program."""


def text_hash(text: str) -> str:
    """Returns the hash of LLVM text under which `give_objects` knows its object file."""
    return sha256(text.encode()).hexdigest()


def give_objects(objects: Mapping[str, bytes]) -> None:
    """Makes object files for this processor known by the `text_hash` of their texts. The first one given stays."""
    for key, code in objects.items():
        _GIVEN.setdefault(key, code)


def _key(text: str, speed_level: int, target: CodeTarget) -> str:
    """Returns the name of the code of LLVM text in the cache: text, target and what the passes do decide the code."""
    return disk.code_key(text, describe_target(target), str(effort_for(text, speed_level)))


_AHEAD: dict[str, Future[bytes]] = {}
"""The code of texts that is made while a program is still lowered, by `text_hash`."""

_BEGUN: set[str] = set()
"""The hashes of all texts whose code was ever made ahead in this process."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_AHEAD.clear)  # The thread at work does not live on there.


def make_ahead(text: str, use_cache: bool, pool: Executor) -> None:
    """Begins to compile LLVM text that calls programs, if nobody has. Nothing depends on it."""
    name = text_hash(text)
    if name not in _BEGUN:
        _BEGUN.add(name)
        _AHEAD[name] = pool.submit(kept_object, text, use_cache, disk.CALLS, 0)


def _calling_code(text: str, use_cache: bool) -> bytes:
    """Returns the object file for LLVM text that calls programs, which may have been made ahead."""
    ahead = _AHEAD.pop(text_hash(text), None)
    if ahead is not None:
        with suppress(Exception, CancelledError):  # What fails ahead fails again below, where it is wanted.
            return ahead.result()
    return kept_object(text, use_cache, disk.CALLS, speed_level=0)


def kept_object(text: str, use_cache: bool, kind: str, speed_level: int = 2, target: CodeTarget | None = None) -> bytes:
    """Returns the object file for LLVM text, which the compile cache on disk keeps as `kind` where it may be used."""
    if target is None and (given := _GIVEN.get(text_hash(text))) is not None:
        return given
    target = target or host_code_target()
    key = _key(text, speed_level, target)
    if use_cache and (found := disk.load(key, kind)) is not None:
        return found[1]
    code = compile_object(text, target, speed_level)
    if use_cache:
        disk.store(key, {}, code, kind)
    return code


def compile_library(
    text: str, others: Sequence[str], exported: Sequence[str], target: CodeTarget, speed_level: int = 2
) -> bytes:
    """
    Returns the object file for LLVM text linked with `others`, which are compiled as they stand.

    Only the functions `exported` can be seen from outside. The code of `text` is the same as that of `compile_object`.
    """
    with _LOCK:
        llvm.initialize_native_asmparser()
        context = llvm.create_context()
        module, machine = _optimised(text, target, speed_level, context)
        for other in others:
            part = llvm.parse_assembly(other, context)
            part.triple, part.data_layout = module.triple, module.data_layout
            part.verify()
            module.link_in(part)
        for value in (*module.functions, *module.global_variables):
            # __… are functions of compiler-rt, which LLVM may come to call only while it makes machine code.
            if not value.is_declaration and value.name not in exported:
                if value.name.startswith("__"):
                    value.visibility = "hidden"
                else:
                    value.linkage = "internal"
        if target.architecture != host_code_target().architecture:  # llvmlite has the assembler of this one only.
            return machine.emit_object(module)
        return _assembled(machine.emit_assembly(module), module, target)


def _assembled(code: str, module: llvm.ModuleRef, target: CodeTarget) -> bytes:
    """
    Returns the object file for the assembly of `module`, in which each instruction has a line.

    LLVM says of an instruction that is none of the program's, or that it made of several, that it is on line 0, which
    stands for no line. Without these words it is on the line of the instruction before it.
    """
    lines = (line for line in code.split("\n") if not _NO_LINE.match(line))
    whole = llvm.parse_assembly(
        "\n".join(f'module asm "{byte_string(line.encode())}"' for line in lines), llvm.create_context()
    )
    whole.triple, whole.data_layout = module.triple, module.data_layout
    return _target_machine(target).emit_object(whole)


def assembly(text: str, target: CodeTarget | None = None, speed_level: int = 2) -> str:
    """Returns the assembly for LLVM text."""
    with _LOCK:
        module, machine = _optimised(text, target or host_code_target(), speed_level, llvm.create_context())
        return machine.emit_assembly(module)


@lru_cache(maxsize=1)
def _linker(_number: int) -> llvm.LLJIT:
    """Returns the linker with this number. The last one is kept here; each stays as long as any of its libraries."""
    # JITLink lays code and data of an object side by side. The older linker maps them one by one. In a process with
    # much memory these may be more than 2 GB apart, which 32-bit offsets do not reach, and the linker ends the process.
    return llvm.create_lljit_compiler(_target_machine(host_code_target()), use_jit_link=True)


def is_in_process(symbol: str) -> bool:
    """Returns whether this process has a function `symbol`, as it has those of the C library."""
    return hasattr(ctypes.CDLL(None), symbol)


class LinkError(RuntimeError):
    """Machine code that cannot be loaded: it is none, or symbols are missing. The text is LLVM's."""


class NativeLibrary:
    """Machine code loaded into this process. It stays as long as this object lives."""

    def __init__(
        self,
        object_code: bytes,
        symbols: list[str],
        objects: Sequence[bytes] = (),
        addresses: Mapping[str, int] | None = None,
        kept: object = None,
        names: Mapping[str, str] | None = None,
    ):
        """
        Links the code of a program, an object or an archive, with that of `objects` and with symbols at `addresses`.
        These are valid while `kept` lives. `names` is what the program calls functions, by symbol.

        Raises LinkError.
        """
        self._kept = kept
        try:
            own = objects_of(object_code)
        except ValueError as error:
            raise LinkError(str(error)) from error
        with _LOCK:
            builder = llvm.JITLibraryBuilder()
            for each in (*own, *objects):
                builder = builder.add_object_img(each)
            for symbol, address in (addresses or {}).items():
                builder = builder.import_symbol(symbol, address)
            builder = builder.add_current_process()
            is_mapped = perf_map.is_wanted()
            for symbol in dict.fromkeys((*symbols, *(perf_map.anchors(own) if is_mapped else ()))):
                builder = builder.export_symbol(symbol)
            number = next(_LIBRARY_NUMBERS)
            linker = _linker(number // _LIBRARIES_PER_LINKER)
            try:
                self._tracker = builder.link(linker, f"stepwell{number}")
            except RuntimeError as error:
                raise LinkError(str(error)) from error
        if is_mapped:
            perf_map.write(own, self.address, names or {})

    @classmethod
    def kept(
        cls,
        text: str,
        symbols: list[str],
        use_cache: bool,
        addresses: Mapping[str, int] | None = None,
        kept: object = None,
    ) -> NativeLibrary:
        """
        Returns the library of LLVM text that calls programs, which the compile cache on disk keeps.

        It is compiled without passes, twice as fast, and runs as fast. An entry of the cache that holds no such code is
        deleted.
        """
        try:
            return cls(_calling_code(text, use_cache), symbols, (), addresses, kept)
        except LinkError:
            disk.remove(_key(text, 0, host_code_target()), disk.CALLS)
            return cls(kept_object(text, use_cache, disk.CALLS, speed_level=0), symbols, (), addresses, kept)

    def entry(self, symbol: str) -> Callable[..., int]:
        """Returns the function `i32 symbol(void **arguments)`. A call of it releases the interpreter lock."""
        return ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)(self._tracker[symbol])

    def address(self, symbol: str) -> int:
        """Returns the address of an exported function, which is there as long as this object lives."""
        return self._tracker[symbol]
