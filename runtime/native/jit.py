"""From LLVM text to machine code in memory: the only file that talks to llvmlite."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from threading import Lock

import llvmlite
import llvmlite.binding as llvm

from ..core.amx import amx_permitted
from .errors import CompileError
from .half_floats import HALF_FLOATS, lacks_half_floats

AVX512 = "@llvm.x86.avx512."
"""How the names of the intrinsics of AVX-512 begin."""

_LOCK = Lock()
_LIBRARY_NUMBERS = count()


@dataclass(frozen=True)
class Target:
    """What code is made for: an LLVM triple, CPU name and feature string."""

    triple: str
    cpu: str
    features: str

    def describe(self) -> str:
        return f"{self.triple}|{self.cpu}|{self.features}|llvm {'.'.join(map(str, llvm.llvm_version_info))}|{llvmlite.__version__}"


def _with_wide_loops(features: str) -> str:
    """`features` such that loops use vectors of 512 bits where the CPU has them: LLVM prefers 256 for the sake of the clock."""
    return f"{features},-prefer-256-bit" if "+avx512f" in features.split(",") else features


@cache
def host_target() -> Target:
    """The machine we run on."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features().flatten()
    if "+amx-tile" in features.split(",") and not amx_permitted():
        features = features.replace("+amx-", "-amx-")
    return Target(llvm.get_process_triple(), llvm.get_host_cpu_name(), _with_wide_loops(features))


@cache
def load_all_machines() -> None:
    """Makes code for other machines than this one possible; a build of LLVM may have ours only."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


def _target_machine(target: Target) -> llvm.TargetMachine:
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=2, jit=True, reloc="pic", codemodel="small"
    )


def _optimised(text: str, target: Target, speed_level: int) -> tuple[llvm.ModuleRef, llvm.TargetMachine]:
    if "@llvm.x86.ldtilecfg" in text and "+amx-int8" not in target.features.split(","):
        raise CompileError(
            f"the program multiplies by amx, which {target.cpu} does not have or the system does not let this process use; "
            "schedule it for another target"
        )
    if "half" in text and lacks_half_floats(target.triple, target.cpu, target.features):
        text += HALF_FLOATS
    module = llvm.parse_assembly(text)
    module.triple = target.triple
    machine = _target_machine(target)
    module.data_layout = str(machine.target_data)
    module.verify()
    if speed_level > 0:
        options = llvm.create_pipeline_tuning_options(speed_level=speed_level)
        options.loop_vectorization = True
        options.slp_vectorization = False
        options.loop_unrolling = True
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
    return module, machine


def compile_object(text: str, target: Target | None = None, speed_level: int = 2) -> bytes:
    """
    The object file (ELF or the host's format) for LLVM text.

    Raises RuntimeError with LLVM's message when the text is not valid IR, and where it was lowered for AVX-512 and the target has none:
    LLVM would end the process.
    """
    target = target or host_target()
    if AVX512 in text and "+avx512f" not in target.features.split(","):
        raise RuntimeError("the program has instructions of AVX-512, which this machine does not have")
    with _LOCK:
        module, machine = _optimised(text, target, speed_level)
        return machine.emit_object(module)


def compile_library(
    text: str, others: Sequence[str], exported: Sequence[str], target: Target, speed_level: int = 2
) -> bytes:
    """
    The object file for LLVM text linked with `others`, which are compiled as they stand; only the functions `exported` can be seen
    from outside. Code of `text` is the same as that of `compile_object`.
    """
    with _LOCK:
        llvm.initialize_native_asmparser()
        module, machine = _optimised(text, target, speed_level)
        for other in others:
            part = llvm.parse_assembly(other)
            part.triple, part.data_layout = module.triple, module.data_layout
            part.verify()
            module.link_in(part)
        for value in (*module.functions, *module.global_variables):
            # __… are functions of compiler-rt, which LLVM may come to call only while it makes machine code
            if not value.is_declaration and value.name not in exported:
                if value.name.startswith("__"):
                    value.visibility = "hidden"
                else:
                    value.linkage = "internal"
        return machine.emit_object(module)


def assembly(text: str, target: Target | None = None, speed_level: int = 2) -> str:
    """The assembly for LLVM text."""
    with _LOCK:
        module, machine = _optimised(text, target or host_target(), speed_level)
        return machine.emit_assembly(module)


@cache
def _lljit() -> llvm.LLJIT:
    # JITLink lays code and data of an object side by side. The older linker maps them one by one, in a process with much memory
    # more than 2 GB apart, which 32-bit offsets do not reach: it ends the process.
    return llvm.create_lljit_compiler(_target_machine(host_target()), use_jit_link=True)


class NativeLibrary:
    """Machine code loaded into this process; it stays as long as this object lives."""

    def __init__(
        self,
        object_code: bytes,
        symbols: list[str],
        objects: Sequence[bytes] = (),
        addresses: Mapping[str, int] | None = None,
        kept: object = None,
    ):
        """`objects` are more code to link with, `addresses` symbols that lie elsewhere, as long as `kept` lives."""
        self._kept = kept
        with _LOCK:
            builder = llvm.JITLibraryBuilder().add_object_img(object_code)
            for more in objects:
                builder = builder.add_object_img(more)
            for symbol, address in (addresses or {}).items():
                builder = builder.import_symbol(symbol, address)
            builder = builder.add_current_process()
            for symbol in symbols:
                builder = builder.export_symbol(symbol)
            self._tracker = builder.link(_lljit(), f"stepwell{next(_LIBRARY_NUMBERS)}")

    def entry(self, symbol: str) -> Callable[..., int]:
        """The function `i32 symbol(void **arguments)`; calling it releases the interpreter lock."""
        return ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)(self._tracker[symbol])

    def address(self, symbol: str) -> int:
        """Where an exported function starts; it is there as long as this object lives."""
        return self._tracker[symbol]
