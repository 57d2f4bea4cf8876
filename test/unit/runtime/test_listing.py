"""Assembly that says from which lines of the source its instructions come."""

from __future__ import annotations

from io import StringIO

import pytest
from stepwell.core.messages.points import SourcePoint
from stepwell.core.passes.context import PassContext
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.lowering.llvm_text.emit_llvm_text import emit_llvm_text
from stepwell.runtime.native.emit_assembly import AssemblyTarget, shown_places
from stepwell.runtime.native.jit import assembly
from stepwell.runtime.native.listing import instructions_by_place, listed
from stepwell.runtime.native.targets import code_target
from stepwell.testing.programs.program_generators import random_program
from xdsl.dialects.builtin import ModuleOp

CTX = make_context()
PROGRAM = """func.func @main(%x: tensor<64x96xf32>, %w: tensor<96x32xf32>) -> tensor<64x32xf32> {
  %0 = graph.matmul %x, %w : (tensor<64x96xf32>, tensor<96x32xf32>) -> tensor<64x32xf32>
  %1 = graph.softmax %0, axis = 1 : (tensor<64x32xf32>) loc("/head/Softmax"("Softmax"("m.onnx":7:1)))
  func.return %1 : tensor<64x32xf32>
}
"""


def lowered(text: str, target: str = "x86-64-v3") -> ModuleOp:
    module = parse_text(CTX, text, "net.mlir")
    with PassContext(config={"target": target}):
        run_pipeline(CTX, module, "O3")
    return module


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("text", [PROGRAM, *(random_program(seed).text for seed in range(3))])
def test_without_its_comments_it_is_the_assembly_of_the_program(text: str) -> None:
    module, target = lowered(text), code_target("x86-64-v3")
    plain = assembly(emit_llvm_text(module), target)
    listing = listed(assembly(emit_llvm_text(module, lines=True), target), "#")
    comments = [line for line in listing.splitlines() if line.startswith("\t# ")]
    assert comments and all("net.mlir:" in line or "m.onnx:" in line for line in comments)
    assert "\n".join(line for line in listing.split("\n") if not line.startswith("\t# ")) == plain


def test_the_target_prints_it_with_the_names_of_nodes() -> None:
    module, stream, plain = lowered(PROGRAM), StringIO(), StringIO()
    AssemblyTarget(machine="x86-64-v3").emit(CTX, module, stream)
    assert "\t# node '/head/Softmax' (Softmax) at m.onnx:7:1\n" in stream.getvalue()
    assert "\t# net.mlir:2:3\n" in stream.getvalue()
    AssemblyTarget(machine="x86-64-v3", lines=False).emit(CTX, module, plain)
    assert plain.getvalue() == assembly(emit_llvm_text(module), code_target("x86-64-v3"))


def test_a_kernel_by_itself_has_its_lines() -> None:
    stream = StringIO()
    AssemblyTarget(machine="x86-64-v3", kernel="matmul").emit(CTX, lowered(PROGRAM), stream)
    places = instructions_by_place(stream.getvalue())
    assert set(places) == {"matmul"}
    assert places["matmul"].keys() == {"net.mlir:2", "net.mlir:2:3"}


def test_each_instruction_is_counted_at_the_last_place_before_it() -> None:
    text = (
        "f:\n\t# a.mlir:1:1\n\tpushq\t%rax\n.LBB0_1:\n\taddq\t%rax, %rax\n\t# a.mlir:2:1\n\tretq\n\t.size\tf, 1\n"
        "g:\n\tretq\n"
    )
    assert instructions_by_place(text) == {"f": {"a.mlir:1:1": 2, "a.mlir:2:1": 1}, "g": {"": 1}}
    arm = text.replace("\t# ", "\t// ")
    assert instructions_by_place(arm) == instructions_by_place(text)


def test_files_in_folders_and_places_without_a_line() -> None:
    given = (
        'f:\n\t.file\t1 "folder" "a.mlir"\n\t.file\t2 "b.mlir"\n\t.loc\t1 3 4 prologue_end\n\tnop\n'
        "\t.loc\t1 0 4\n\tnop\n\t.loc\t2 5 6\n\tnop\n\t.section\t.debug_info\n\t.long\t3\n"
    )
    assert listed(given, "#") == "f:\n\t# folder/a.mlir:3:4\n\tnop\n\tnop\n\t# b.mlir:5:6\n\tnop\n"


def test_a_place_without_a_node_is_its_line() -> None:
    shown = shown_places(parse_text(CTX, PROGRAM, "net.mlir"))
    point = SourcePoint("net.mlir", 2, 3)
    assert shown(point) == "net.mlir:2:3" and shown(point._replace(column=0)) == "net.mlir:2"
