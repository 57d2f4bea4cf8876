"""
Machines of x86-64, and the names of their features: those of LLVM, the flags of Linux and the bits of CPUID.

Sources: Intel, Software Developer's Manual, volume 2, CPUID, and volume 1, 13.3 (XCR0); the levels of the System V
psABI for x86-64; Intel, Optimization Reference Manual, 2.4 (Ice Lake) and 2.3 (Golden Cove); AMD, Software Optimization
Guides for the Zen 4 (57647) and Zen 5 (58455) microarchitectures. The numbers of a machine come from there. None was
measured but for Sapphire Rapids and Zen 4.
"""

from __future__ import annotations

from .code_target import CodeTarget
from .machine import KIB, Family, Machine, Pause

FEATURES = {
    "avx512vbmi": ("avx512vbmi",),
    "avx512vnni": ("avx512vl", "avx512_vnni"),
    "avxvnni": ("avx2", "avx_vnni"),
    "avx512bf16": ("avx512vl", "avx512_bf16"),
    "amx-int8": ("amx_tile", "amx_int8"),
    "amx-bf16": ("amx_tile", "amx_bf16"),
}
"""Instructions for products and tables: LLVM's name, and the flags of Linux that show them."""

_TRIPLE = "x86_64-unknown-linux-gnu"

X86_64 = Machine("x86-64", _TRIPLE, "x86-64", 16, 16, fma=False, latency=8, l2_bytes=512 * KIB)
X86_64_V3 = Machine("x86-64-v3", _TRIPLE, "x86-64-v3", 32, 16, fma=True, l2_bytes=512 * KIB)
X86_64_V4 = Machine("x86-64-v4", _TRIPLE, "x86-64-v4", 64, 32, fma=True, l2_bytes=2048 * KIB)
CASCADE_LAKE = Machine("cascade-lake", _TRIPLE, "cascadelake", 64, 32, fma=True, features=frozenset({"avx512vnni"}))
SKYLAKE_AVX512 = Machine("skylake-avx512", _TRIPLE, "skylake-avx512", 64, 32, fma=True)
SAPPHIRE_RAPIDS = Machine(
    "sapphire-rapids",
    _TRIPLE,
    "sapphirerapids",
    64,
    32,
    fma=True,
    features=frozenset(FEATURES),
    l1_bytes=48 * KIB,
    l2_bytes=2048 * KIB,
)
ICE_LAKE = Machine(
    "ice-lake",
    _TRIPLE,
    "icelake-server",
    64,
    32,
    fma=True,
    features=frozenset({"avx512vbmi", "avx512vnni"}),
    l1_bytes=48 * KIB,
    l2_bytes=1280 * KIB,
)
ALDER_LAKE = Machine(
    "alder-lake",
    _TRIPLE,
    "alderlake",
    32,
    16,
    fma=True,
    features=frozenset({"avxvnni"}),
    loads=3,
    l1_bytes=48 * KIB,
    l2_bytes=1280 * KIB,
)
"""Its performance cores. Three loads of 32 bytes begin in a cycle there."""
ZEN4 = Machine(
    "zen4",
    _TRIPLE,
    "znver4",
    64,
    32,
    fma=True,
    features=frozenset({"avx512vbmi", "avx512vnni", "avx512bf16"}),
    multiply_adds=1,
    loads=1,
    l3_bytes=32 * 1024 * KIB,
    l3_is_near=True,
    line_cycles=1,
)
"""
Its units have 32 bytes: a register of 64 is worked on in two halves, so one multiply-add begins in a cycle. Eight cores
share an L3. `line_cycles` was measured on depthwise convolutions, 0.8 to 1.5.
"""
ZEN5 = Machine(
    "zen5",
    _TRIPLE,
    "znver5",
    64,
    32,
    fma=True,
    features=ZEN4.features | {"avxvnni"},
    l1_bytes=48 * KIB,
    l3_bytes=32 * 1024 * KIB,
    l3_is_near=True,
    sweeps_in_place=22,
    permutes_apart=True,
    line_cycles=1.5,
)
"""
Its units have 64 bytes, as in servers. In laptops they have 32, as those of Zen 4. A line of L2 takes 1.2 cycles where
it is loaded ahead, 2 where it is not (measured). Products of 32 to 128 rows are 1.02 to 1.3 times as fast where b is
read where it lies, one panel at a time, and those of 200 rows as fast.
"""


def of_flags(flags: frozenset[str] | None) -> Machine:
    """Returns the machine with the registers that flags of Linux show."""
    if flags is None:
        return X86_64_V3
    if {"avx512f", "avx512vl", "avx512bw", "avx512dq"} <= flags:
        return X86_64_V4
    return X86_64_V3 if {"avx2", "fma"} <= flags else X86_64


_PAUSE = Pause("call void @llvm.x86.sse2.pause()", "declare void @llvm.x86.sse2.pause()\n")
X86 = Family(
    ("x86_64", "amd64", "i686"),
    (
        *(X86_64, X86_64_V3, X86_64_V4, SKYLAKE_AVX512, CASCADE_LAKE, ICE_LAKE, SAPPHIRE_RAPIDS),
        *(ALDER_LAKE, ZEN4, ZEN5),
    ),
    of_flags,
    _PAUSE,
    features=FEATURES,
    models={("AuthenticAMD", 25): ZEN4, ("AuthenticAMD", 26): ZEN5},
)

_EBX_7, _ECX_7, _EDX_7, _EAX_7_1, _ECX_1, _ECX_EXTENDED = (
    (7, 0, 1),
    (7, 0, 2),
    (7, 0, 3),
    (7, 1, 0),
    (1, 0, 2),
    (0x80000001, 0, 2),
)
"""The places where a feature shows: leaf, sub-leaf, and which of eax, ebx, ecx, edx."""

CPUID: dict[str, tuple[tuple[int, int, int], int]] = {
    "sse4.2": (_ECX_1, 20),
    "popcnt": (_ECX_1, 23),
    "avx": (_ECX_1, 28),
    "fma": (_ECX_1, 12),
    "f16c": (_ECX_1, 29),
    "movbe": (_ECX_1, 22),
    "lzcnt": (_ECX_EXTENDED, 5),
    "bmi": (_EBX_7, 3),
    "avx2": (_EBX_7, 5),
    "bmi2": (_EBX_7, 8),
    "avx512f": (_EBX_7, 16),
    "avx512dq": (_EBX_7, 17),
    "avx512ifma": (_EBX_7, 21),
    "avx512cd": (_EBX_7, 28),
    "avx512bw": (_EBX_7, 30),
    "avx512vl": (_EBX_7, 31),
    "avx512vbmi": (_ECX_7, 1),
    "avx512vbmi2": (_ECX_7, 6),
    "gfni": (_ECX_7, 8),
    "avx512vnni": (_ECX_7, 11),
    "avx512bitalg": (_ECX_7, 12),
    "avx512vpopcntdq": (_ECX_7, 14),
    "amx-bf16": (_EDX_7, 22),
    "avx512fp16": (_EDX_7, 23),
    "amx-tile": (_EDX_7, 24),
    "amx-int8": (_EDX_7, 25),
    "avxvnni": (_EAX_7_1, 4),
    "avx512bf16": (_EAX_7_1, 5),
}
"""The names of LLVM for features that code for a target may use, and the bit of CPUID that shows each."""

SAVED_REGISTERS = {"avx": 0x6, "avx512f": 0xE0, "amx-tile": 0x60000}
"""The bits of XCR0 (1 and 2, 5 to 7, 17 and 18) by which the system says that it saves the registers of a feature."""

_V2 = frozenset({"sse4.2", "popcnt"})
_V3 = _V2 | {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}
_V4 = _V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
_ICE = _V4 | {"avx512ifma", "avx512vbmi", "avx512vbmi2", "gfni", "avx512vnni", "avx512bitalg", "avx512vpopcntdq"}
_OF_CPU = {
    "x86-64-v3": _V3,
    "x86-64-v4": _V4,
    "skylake-avx512": _V4,
    "cascadelake": _V4 | {"avx512vnni"},
    "icelake-server": _ICE,
    "sapphirerapids": _ICE | {"avx512fp16", "avx512bf16", "avxvnni"},
    "alderlake": _V3 | {"avxvnni", "gfni"},
    "znver4": _ICE | {"avx512bf16"},
    "znver5": _ICE | {"avx512bf16", "avxvnni"},
}


def needed_features(target: CodeTarget, uses_tiles: bool) -> tuple[str, ...]:
    """
    Returns the features that code for `target` may use beyond those of every x86-64, sorted.

    There are none on other machines. LLVM uses those of AMX only where the program does.
    """
    if not target.is_x86_64:
        return ()
    written = target.written
    wanted = set(_OF_CPU.get(target.cpu, ())) | {word[1:] for word in written if word.startswith("+")}
    left_out = {word[1:] for word in written if word.startswith("-")}
    if not uses_tiles:
        left_out |= {feature for feature in CPUID if feature.startswith("amx-")}
    return tuple(sorted((wanted & CPUID.keys()) - left_out))
