"""Writes the LLVM text of a function that tells whether the processor can run code that was compiled for a target."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ...machine import aarch64, x86_64
from ...machine.code_target import CodeTarget
from ...machine.x86_64 import CPUID, SAVED_REGISTERS

CHECK: Final = "_stepwell_cpu_fits"

_DEFINED: Final = re.compile(r"^(define .*\)) \{$", re.MULTILINE)


def for_any_processor(text: str, target: CodeTarget) -> str:
    """Returns LLVM text whose functions are compiled for every processor of the architecture of `target`."""
    cpu = "x86-64" if target.is_x86_64 else "generic"
    return _DEFINED.sub(rf'\1 "target-cpu"="{cpu}" "target-features"="" {{', text)


def needed_features(target: CodeTarget, uses_tiles: bool) -> tuple[str, ...]:
    """Returns the features that code for `target` may use and an exported program asks the processor for, sorted."""
    return x86_64.needed_features(target, uses_tiles) or aarch64.needed_features(target)


def check_text(target: CodeTarget, features: Sequence[str]) -> str:
    """Returns `i1 _stepwell_cpu_fits()` for `target`: the processor has all `features`."""
    return cpu_text(features) if target.is_x86_64 or not features else hwcap_text(features)


def hwcap_text(features: Sequence[str]) -> str:
    """Returns `i1 _stepwell_cpu_fits()` for 64-bit Arm: Linux says in the auxiliary vector that it has `features`."""
    masks: dict[int, int] = {}
    for feature in features:
        for word, bit in aarch64.HWCAP[feature]:
            masks[word] = masks.get(word, 0) | 1 << bit
    lines, last = ["declare i64 @getauxval(i64)", f"define i1 @{CHECK}() {{"], "true"
    for word, mask in sorted(masks.items()):
        lines += [
            f"  %found{word} = call i64 @getauxval(i64 {word})",
            f"  %kept{word} = and i64 %found{word}, {mask}",
            f"  %has{word} = icmp eq i64 %kept{word}, {mask}",
            f"  %all{word} = and i1 {last}, %has{word}",
        ]
        last = f"%all{word}"
    return "\n".join([*lines, f"  ret i1 {last}", "}", ""])


def cpu_text(features: Sequence[str]) -> str:
    """Returns `i1 _stepwell_cpu_fits()`: the processor has all `features`, and the system keeps their registers."""
    lines = [f"define i1 @{CHECK}() {{"]
    if not features:
        return "\n".join([*lines, "  ret i1 true", "}", ""])
    masks: dict[tuple[int, int], dict[int, int]] = {(1, 0): {2: 1 << 27}}  # xgetbv may be used
    for feature in features:
        (leaf, sub, register), bit = CPUID[feature]
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
    """Returns the rest of the function, which asks whether the system saves the wide registers."""
    mask = sum(bits for feature, bits in SAVED_REGISTERS.items() if feature in features)
    return [
        '  %pair = call { i32, i32 } asm sideeffect "xgetbv", "={ax},={dx},{cx},~{dirflag},~{fpsr},~{flags}"(i32 0)',
        "  %saved = extractvalue { i32, i32 } %pair, 0",
        f"  %saved.kept = and i32 %saved, {mask}",
        f"  %good = icmp eq i32 %saved.kept, {mask}",
        "  ret i1 %good",
    ]
