"""What an export asks of the processor that it runs on."""

from __future__ import annotations

from pathlib import Path

import pytest
import stepwell
from stepwell.machine.code_target import CodeTarget
from stepwell.machine.host import cpu_flags
from stepwell.machine.named import machine_named
from stepwell.machine.x86_64 import CPUID
from stepwell.runtime.exporting.cpu import CHECK, cpu_text, for_any_processor, hwcap_text, needed_features
from stepwell.runtime.native import jit
from stepwell.runtime.native.jit import NativeLibrary, compile_library, host_code_target

ADD = """
func.func @main(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = graph.add %x, %y : (tensor<2x3xf32>, tensor<3xf32>)
  func.return %0 : tensor<2x3xf32>
}
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))


def test_what_code_for_a_target_needs_of_the_processor() -> None:
    linux = "x86_64-unknown-linux-gnu"
    assert needed_features(CodeTarget(linux, "x86-64", ""), False) == ()
    assert {"avx2", "fma"} <= set(needed_features(CodeTarget(linux, "x86-64-v3", ""), False))
    machine = CodeTarget(linux, "sapphirerapids", "+amx-tile,+avx512f,-avx512fp16")
    assert "amx-tile" in needed_features(machine, True) and "amx-tile" not in needed_features(machine, False)
    assert "avx512fp16" not in needed_features(machine, False)
    arm = "aarch64-unknown-linux-gnu"
    assert needed_features(CodeTarget(arm, "generic", ""), False) == ()
    assert needed_features(CodeTarget(arm, "generic", "+sve2,+i8mm,-i8mm"), False) == ("sve2",)
    assert {"lse", "sve2", "bf16"} <= set(needed_features(machine_named("neoverse-v2").code_target, False))
    assert needed_features(CodeTarget("arm64-apple-darwin", "neoverse-v2", ""), False) == ()


def test_an_export_for_arm_asks_linux(tmp_path: Path) -> None:
    exported = stepwell.compile(ADD, target="neoverse-v2").export(tmp_path / "add.o")
    assert b"getauxval" in exported.code.read_bytes()
    assert exported.header is not None
    assert "Compiled by Stepwell for aarch64 with bf16, complxnum, dotprod" in exported.header.read_text()
    plain = stepwell.compile(ADD, target="aarch64-neon").export(tmp_path / "plain.o")
    assert b"getauxval" not in plain.code.read_bytes()


@pytest.mark.parametrize(
    ("words", "fits"),
    [
        ((1 << 9 | 1 << 10 | 1 << 20, 1 << 1 | 1 << 14), 1),
        ((-1, -1), 1),
        ((1 << 9 | 1 << 20, 1 << 1 | 1 << 14), 0),  # half of what f16 takes
        ((1 << 9 | 1 << 10 | 1 << 20, 1 << 14), 0),
        ((0, 0), 0),
    ],
)
def test_what_linux_says_of_arm_is_understood(words: tuple[int, int], fits: int) -> None:
    """The same text with a system of our own, so that it runs on any processor."""
    system = f"""define i64 @getauxval(i64 %word) {{
  %first = icmp eq i64 %word, 16
  %found = select i1 %first, i64 {words[0]}, i64 {words[1]}
  ret i64 %found
}}"""
    text = hwcap_text(["bf16", "dotprod", "fullfp16", "sve2"]).replace("declare i64 @getauxval(i64)", system)
    text += f"\ndefine i32 @ask(ptr %a) {{\n  %x = call i1 @{CHECK}()\n  %y = zext i1 %x to i32\n  ret i32 %y\n}}\n"
    library = NativeLibrary(compile_library(text, [], ["ask"], host_code_target()), ["ask"])
    assert library.entry("ask")(None) == fits


LINUX_NAMES = {
    "sse4.2": "sse4_2",
    "lzcnt": "abm",
    "bmi": "bmi1",
    "avx512vbmi2": "avx512_vbmi2",
    "avx512vnni": "avx512_vnni",
    "avx512bitalg": "avx512_bitalg",
    "avx512vpopcntdq": "avx512_vpopcntdq",
    "avx512fp16": "avx512_fp16",
    "avxvnni": "avx_vnni",
    "avx512bf16": "avx512_bf16",
    "amx-bf16": "amx_bf16",
    "amx-tile": "amx_tile",
    "amx-int8": "amx_int8",
}


@pytest.mark.skipif(cpu_flags() is None or "sse2" not in (cpu_flags() or ()), reason="needs an x86 Linux")
def test_the_processor_is_asked_what_linux_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    flags = cpu_flags() or frozenset()
    monkeypatch.setitem(CPUID, "reserved", ((1, 0, 2), 16))  # a bit that is always 0
    for feature in CPUID:
        text = (
            cpu_text([feature])
            + f"\ndefine i32 @ask(ptr %a) {{\n  %x = call i1 @{CHECK}()\n  %y = zext i1 %x to i32\n  ret i32 %y\n}}\n"
        )
        library = NativeLibrary(compile_library(text, [], ["ask"], host_code_target()), ["ask"])
        assert library.entry("ask")(None) == (LINUX_NAMES.get(feature, feature) in flags), feature


@pytest.mark.parametrize("target", ["x86-64-v3", "x86-64-v4", "zen4"])
def test_what_runs_before_the_check_runs_on_any_processor(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Instructions of AVX and later begin with `v`."""
    found: list[str] = []
    monkeypatch.setattr(jit, "_assembled", lambda code, *_: found.append(code) or b"")
    stepwell.compile(ADD, target=target).export(tmp_path / "add.o")
    for name in ("add_load", "add_error", "add_free", CHECK):
        body = found[0].partition(f"\n{name}:")[2].partition(".cfi_endproc")[0]
        assert "ret" in body and "\tv" not in body, body
    assert "\tv" in found[0]


def test_functions_for_any_processor_of_arm() -> None:
    text = for_any_processor(hwcap_text(["sve2"]), machine_named("neoverse-v2").code_target)
    assert f'define i1 @{CHECK}() "target-cpu"="generic" "target-features"="" {{\n' in text
