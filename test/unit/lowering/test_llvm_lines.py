"""Line tables: instructions name the lines of the source, in the text and in exported objects."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import llvmlite.binding as llvm
import pytest
import stepwell
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.lowering.llvm_text.emit_llvm_text import emit_llvm_text
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


@pytest.mark.skipif(shutil.which("gdb") is None or shutil.which("objdump") is None, reason="needs gdb and objdump")
def test_gdb_shows_the_line_of_the_source(exported: Path) -> None:
    commands = ["-ex", "info line net.mlir:2", "-ex", "list 2,2"]
    said = subprocess.run(
        ["gdb", "-batch", "-nx", *commands, exported], capture_output=True, text=True, cwd=exported.parent, check=True
    )
    assert re.search(r'Line 2 of "\S*net\.mlir" starts at address', said.stdout), said.stdout + said.stderr
    assert "%0 = graph.matmul %x, %w" in said.stdout
