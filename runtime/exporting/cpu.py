"""
The LLVM text of a function that says whether the processor can run what was compiled for a target.

Sources: Intel, Software Developer's Manual, volume 2, CPUID, and volume 1, 13.3 (XCR0); the levels of the System V psABI for x86-64.
"""

from __future__ import annotations

from collections.abc import Sequence

from .jit import Target

CHECK = "_stepwell_cpu_fits"

_EBX_7, _ECX_7, _EDX_7, _EAX_7_1, _ECX_1, _ECX_EXTENDED = (
    (7, 0, 1),
    (7, 0, 2),
    (7, 0, 3),
    (7, 1, 0),
    (1, 0, 2),
    (0x80000001, 0, 2),
)
"""Where a feature shows: leaf, sub-leaf, and which of eax, ebx, ecx, edx."""

FEATURES: dict[str, tuple[tuple[int, int, int], int]] = {
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

_V2 = frozenset({"sse4.2", "popcnt"})
_V3 = _V2 | {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}
_V4 = _V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
_SAPPHIRE = _V4 | {
    *("avx512ifma", "avx512vbmi", "avx512vbmi2", "gfni", "avx512vnni", "avx512bitalg", "avx512vpopcntdq"),
    *("avx512fp16", "avx512bf16", "avxvnni"),
}
_OF_CPU = {
    "x86-64-v3": _V3,
    "x86-64-v4": _V4,
    "cascadelake": _V4 | {"avx512vnni"},
    "sapphirerapids": _SAPPHIRE,
}


def needed_features(target: Target, uses_tiles: bool) -> tuple[str, ...]:
    """
    The features that code for `target` may use beyond those of every x86-64, sorted; none on other machines. LLVM uses those of AMX
    only where the program does.
    """
    if not target.triple.startswith("x86_64"):
        return ()
    written = target.features.split(",")
    wanted = set(_OF_CPU.get(target.cpu, ())) | {word[1:] for word in written if word.startswith("+")}
    left_out = {word[1:] for word in written if word.startswith("-")}
    if not uses_tiles:
        left_out |= {feature for feature in FEATURES if feature.startswith("amx-")}
    return tuple(sorted((wanted & FEATURES.keys()) - left_out))


def cpu_text(features: Sequence[str]) -> str:
    """`i1 _stepwell_cpu_fits()`: whether the processor has all `features` and the system keeps their registers."""
    lines = [f"define i1 @{CHECK}() {{"]
    if not features:
        return "\n".join([*lines, "  ret i1 true", "}", ""])
    masks: dict[tuple[int, int], dict[int, int]] = {(1, 0): {2: 1 << 27}}  # xgetbv may be used
    for feature in features:
        (leaf, sub, register), bit = FEATURES[feature]
        registers = masks.setdefault((leaf, sub), {})
        registers[register] = registers.get(register, 0) | 1 << bit
    lines += ["entry:", *_cpuid("most", 0, 0), "  %most.leaf = extractvalue { i32, i32, i32, i32 } %most, 0"]
    lines += ["  %enough = icmp uge i32 %most.leaf, 7", "  br i1 %enough, label %look, label %no", "look:"]
    last, number = "%enough", 0
    for (leaf, sub), registers in sorted(masks.items()):
        name = f"leaf{leaf:x}.{sub}"
        lines += _cpuid(name, leaf, sub)
        for register, mask in sorted(registers.items()):
            number += 1
            lines += [
                f"  %found{number} = extractvalue {{ i32, i32, i32, i32 }} %{name}, {register}",
                f"  %kept{number} = and i32 %found{number}, {mask}",
                f"  %has{number} = icmp eq i32 %kept{number}, {mask}",
                f"  %all{number} = and i1 {last}, %has{number}",
            ]
            last = f"%all{number}"
    lines += [f"  br i1 {last}, label %system, label %no", "system:", *_saved_registers(features), "no:"]
    return "\n".join([*lines, "  ret i1 false", "}", ""])


def _cpuid(name: str, leaf: int, sub: int) -> list[str]:
    constraints = "={ax},={bx},={cx},={dx},{ax},{cx},~{dirflag},~{fpsr},~{flags}"
    return [f'  %{name} = call {{ i32, i32, i32, i32 }} asm sideeffect "cpuid", "{constraints}"(i32 {leaf}, i32 {sub})']


def _saved_registers(features: Sequence[str]) -> list[str]:
    """The rest of the function: whether the system saves the wide registers (XCR0 bits 1 and 2, 5 to 7, 17 and 18)."""
    mask = 0x6 if "avx" in features else 0
    mask |= 0xE0 if "avx512f" in features else 0
    mask |= 0x60000 if "amx-tile" in features else 0
    return [
        '  %pair = call { i32, i32 } asm sideeffect "xgetbv", "={ax},={dx},{cx},~{dirflag},~{fpsr},~{flags}"(i32 0)',
        "  %saved = extractvalue { i32, i32 } %pair, 0",
        f"  %saved.kept = and i32 %saved, {mask}",
        f"  %good = icmp eq i32 %saved.kept, {mask}",
        "  ret i1 %good",
    ]
