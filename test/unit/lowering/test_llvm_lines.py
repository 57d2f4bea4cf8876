"""Line tables: instructions name the lines of the source, in the text and in exported objects."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import llvmlite.binding as llvm
import pytest
import stepwell
from line_tables import instructions_of, rows_of, without_line
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.lowering.llvm_text.emit_llvm_text import emit_llvm_text
from stepwell.runtime.native import jit
from stepwell.runtime.native.own_lines import RUNTIME, with_own_lines
from stepwell.runtime.stairs import expand_pipeline
from stepwell.testing.programs.program_generators import random_program
from xdsl.dialects.builtin import ModuleOp, UnknownLoc

CTX = make_context()

PROGRAM = """func.func @main(%x: tensor<64x96xf32>, %w: tensor<96x32xf32>) -> tensor<64x32xf32> {
  %0 = graph.matmul %x, %w : (tensor<64x96xf32>, tensor<96x32xf32>) -> tensor<64x32xf32>
  %1 = graph.softmax %0, axis = 1 : (tensor<64x32xf32>) -> tensor<64x32xf32>
  func.return %1 : tensor<64x32xf32>
}
"""
TWO_FILES = """llvm.func @f(%x: i64) -> i64 {
  %a = llvm.add %x, %x : i64 loc("a.mlir":3:4)
  %b = llvm.mul %a, %x : i64 loc("b.mlir":5:6)
  llvm.return %b : i64
} loc("a.mlir":1:1)
"""


def lowered(text: str) -> ModuleOp:
    module = parse_text(CTX, text, "net.mlir")
    for each in expand_pipeline("O3"):
        run_pipeline(CTX, module, str(each))
    return module


def instructions(text: str) -> list[str]:
    bodies = re.findall(r"^define .*?^}", text, re.MULTILINE | re.DOTALL)
    return [line for body in bodies for line in body.splitlines() if line.startswith("  ") and " = phi " not in line]


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("text", [PROGRAM, *(random_program(seed).text for seed in range(4))])
def test_nearly_all_instructions_have_a_line(text: str) -> None:
    module = lowered(text)
    with_lines = emit_llvm_text(module, lines=True)
    llvm.parse_assembly(with_lines).verify()
    found = instructions(with_lines)
    assert len(found) > 20
    assert sum(", !dbg !" in line for line in found) >= 0.98 * len(found)


def test_lines_change_nothing_else() -> None:
    module = lowered(PROGRAM)
    with_lines = emit_llvm_text(module, lines=True)
    plain = emit_llvm_text(module)
    assert "!dbg" not in plain and "DILocation" not in plain
    numbers = re.compile(r"(?<=!llvm\.loop )!\d+|(?<=!nontemporal )!\d+")
    without = re.sub(r",? !dbg !\d+", "", with_lines)
    assert [numbers.sub("!n", line) for line in instructions(without)] == [
        numbers.sub("!n", line) for line in instructions(plain)
    ]


def test_an_instruction_of_another_file_has_a_scope_of_its_own() -> None:
    text = emit_llvm_text(parse_text(CTX, TWO_FILES, "a.mlir"), lines=True)
    llvm.parse_assembly(text).verify()
    assert '!DIFile(filename: "a.mlir", directory: "")' in text
    assert '!DIFile(filename: "b.mlir", directory: "")' in text
    (scope,) = re.findall(r"!(\d+) = !DILexicalBlockFile\(scope: !\d+, file: !\d+, discriminator: 0\)", text)
    assert f"!DILocation(line: 5, column: 6, scope: !{scope})" in text
    assert re.search(rf"!DILocation\(line: 3, column: 4, scope: !(?!{scope}\))\d+\)", text)


def test_a_module_without_places_has_no_lines() -> None:
    module = parse_text(CTX, TWO_FILES, "a.mlir")
    for op in module.walk():
        op.location = UnknownLoc()
    assert "!dbg" not in emit_llvm_text(module, lines=True)


PARALLEL = """func.func @main(
    %x: tensor<256x512xf32>, %w: tensor<512x256xf32>, %h: tensor<8x32xf16>, %b: tensor<8x32xbf16>
) -> (tensor<256x256xf32>, tensor<8x32xf16>, tensor<8x32xbf16>) {
  %0 = graph.matmul %x, %w : (tensor<256x512xf32>, tensor<512x256xf32>) -> tensor<256x256xf32>
  %1 = graph.exp %h : (tensor<8x32xf16>) -> tensor<8x32xf16>
  %2 = graph.exp %b : (tensor<8x32xbf16>) -> tensor<8x32xbf16>
  func.return %0, %1, %2 : tensor<256x256xf32>, tensor<8x32xf16>, tensor<8x32xbf16>
}
"""
"""With the pool of threads, and on x86-64 without F16C and AVX512-BF16 with the conversions of small floats."""


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lines")
    (folder / "net.mlir").write_text(PROGRAM)
    stepwell.compile(folder / "net.mlir").export(folder / "net.o")
    return folder / "net.o"


@pytest.mark.skipif(shutil.which("objdump") is None, reason="needs objdump")
def test_an_object_has_a_line_table(exported: Path) -> None:
    said = subprocess.run(["objdump", "--dwarf=decodedline", exported], capture_output=True, text=True, check=True)
    lines = {int(line) for line in re.findall(r"^net\.mlir +(\d+) ", said.stdout, re.MULTILINE)}
    assert {1, 2, 3} <= lines


@pytest.mark.skipif(shutil.which("objdump") is None, reason="needs objdump")
@pytest.mark.parametrize("target", ["host", "x86-64"])
def test_nearly_all_instructions_of_an_object_have_a_line(tmp_path: Path, target: str) -> None:
    (tmp_path / "net.mlir").write_text(PARALLEL)
    stepwell.compile(tmp_path / "net.mlir").export(tmp_path / "net.o", target=target)
    lacking, count = without_line(tmp_path / "net.o")
    assert count > 500 and len(lacking) <= 0.02 * count, lacking
    files = {row.file for row in rows_of(tmp_path / "net.o")}
    assert files == {"net.mlir", RUNTIME}


@pytest.mark.ci_cases(1)
@pytest.mark.skipif(shutil.which("objdump") is None, reason="needs objdump")
@pytest.mark.parametrize("text", [PROGRAM, PARALLEL])
def test_an_object_made_of_assembly_is_that_of_llvm(tmp_path: Path, text: str) -> None:
    source, target = emit_llvm_text(lowered(text), lines=True), jit.host_code_target()
    llvm.initialize_native_asmparser()
    for name in ("direct", "assembled"):
        module, machine = jit._optimised(source, target, 2, llvm.create_context())
        if name == "direct":
            code = machine.emit_object(module)
        else:
            code = jit._assembled(machine.emit_assembly(module), module, target)
        (tmp_path / f"{name}.o").write_bytes(code)
    assert instructions_of(tmp_path / "direct.o") == instructions_of(tmp_path / "assembled.o")
    assert len(instructions_of(tmp_path / "direct.o")) > 200


def test_text_written_by_hand_has_lines_of_its_own() -> None:
    text = """define i32 @f(i32 %x) {
entry:
  ; twice
  %y = add i32 %x, %x
  ret i32 %y
}
"""
    lines = with_own_lines(text)
    llvm.parse_assembly(lines).verify()
    assert re.search(r"^define i32 @f\(i32 %x\) !dbg !(\d+) \{$", lines, re.MULTILINE)
    assert len(re.findall(r"^  %y = .*, !dbg !\d+$|^  ret i32 %y, !dbg !\d+$|^  ; twice$", lines, re.MULTILINE)) == 3
    assert '!DIFile(filename: "<stepwell runtime>", directory: "")' in lines
    assert "!llvm.module.flags" in lines and "!llvm.module.flags" not in with_own_lines(text, joins=True)


@pytest.mark.skipif(shutil.which("gdb") is None or shutil.which("objdump") is None, reason="needs gdb and objdump")
def test_gdb_shows_the_line_of_the_source(exported: Path) -> None:
    commands = ["-ex", "info line net.mlir:2", "-ex", "list net.mlir:2,net.mlir:2"]
    said = subprocess.run(
        ["gdb", "-batch", "-nx", *commands, exported], capture_output=True, text=True, cwd=exported.parent, check=True
    )
    assert re.search(r'Line 2 of "\S*net\.mlir" starts at address', said.stdout), said.stdout + said.stderr
    assert "%0 = graph.matmul %x, %w" in said.stdout


MAIN = """
#include "net.h"
static float x[64 * 96], w[96 * 32], y[64 * 32];
int main(void) {
  const void *in[] = {x, w};
  void *out[] = {y};
  net_context *net;
  return net_load(0, &net) || net_run(net, in, out);
}
"""


@pytest.mark.skipif(shutil.which("gdb") is None or shutil.which("cc") is None, reason="needs gdb and cc")
def test_a_process_stops_in_gdb_at_a_line_of_the_program(exported: Path) -> None:
    folder = exported.parent
    (folder / "main.c").write_text(MAIN)
    subprocess.run(["cc", "main.c", "net.o", "-lpthread", "-lm", "-o", "net"], cwd=folder, check=True)
    commands = ["set breakpoint pending on", "break net.mlir:3", "run", "backtrace", "kill"]
    words = [word for each in commands for word in ("-ex", each)]
    done = subprocess.run(
        ["gdb", "-batch", "-nx", *words, "./net"], capture_output=True, text=True, cwd=folder, check=False, timeout=120
    )
    if "ptrace" in done.stdout + done.stderr:
        pytest.skip("processes may not be traced here")
    assert re.search(r"Breakpoint 1, \S+ \(.*\) at \S*net\.mlir:3\n3\s+%1 = graph\.softmax", done.stdout), done.stdout
    for function in ("net_run", "main"):
        assert re.search(rf"^#\d+ .* in {function} \(", done.stdout, re.MULTILINE), done.stdout
