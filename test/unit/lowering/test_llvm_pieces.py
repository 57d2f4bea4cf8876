"""Programs cut into pieces for LLVM: which kernels are pieces, what they are called, and how they are linked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import stepwell
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.lowering.llvm.listening import listening
from stepwell.lowering.llvm_text import pieces
from stepwell.lowering.llvm_text.emit_llvm_text import emit_llvm_text
from stepwell.lowering.llvm_text.pieces import LEAST_OPS, EarlyPieces, emit_llvm_pieces
from stepwell.runtime.cache import PIECES, load
from stepwell.runtime.native import jit
from stepwell.runtime.native import pieces as native
from stepwell.runtime.native.jit import LinkError, NativeLibrary
from stepwell.runtime.native.objects import archive, objects_of
from xdsl.utils.exceptions import DiagnosticException


def function(name: str, body: str, linkage: str = "internal") -> str:
    return f"""llvm.func {linkage} @{name}(%p: !llvm.ptr) {{
{body}
  llvm.return
}}
"""


def large(name: str, number: int, more: str = "", linkage: str = "internal") -> str:
    """A function of many ops, which stores `number` in each place."""
    lines = [f"  %c = llvm.mlir.constant({number} : i32) : i32"]
    for index in range(LEAST_OPS // 2):
        lines.append(f"  %g{index} = llvm.getelementptr %p[{index}] : (!llvm.ptr) -> !llvm.ptr, i32")
        lines.append(f"  llvm.store %c, %g{index} : i32, !llvm.ptr")
    return function(name, "\n".join([*lines, more]), linkage)


def call(*names: str) -> str:
    return "\n".join(f"  llvm.call @{name}(%p) : (!llvm.ptr) -> ()" for name in names)


def entry(*names: str) -> str:
    return function("entry", call("frame"), "") + function("frame", call(*names))


def pieces_of(*functions: str) -> list[str]:
    return list(emit_llvm_pieces(parse_text(make_context(), "".join(functions))))


def defined(text: str) -> list[str]:
    return [line.split("@")[1].split("(")[0] for line in text.splitlines() if line.startswith("define")]


def test_what_nothing_calls_is_left_out():
    """It may name what is hidden in a piece, as @part is."""
    first, second, rest = pieces_of(
        entry("a", "b"),
        large("a", 1, call("part")),
        large("b", 2),
        function("part", ""),
        function("unused", call("part")),
    )
    assert len(defined(first)) == 2 and len(defined(second)) == 1
    assert defined(rest) == ["entry", "frame"]
    assert "@part" not in rest


def test_programs_with_functions_that_nothing_calls_run():
    text = """
    func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %0 = func.call @double(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
      %1 = func.call @triple(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
      func.return %1 : tensor<2x3xf32>
    }
    func.func private @double(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %0 = graph.exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
      %1 = graph.tanh %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
      %2 = graph.add %x, %1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      func.return %2 : tensor<2x3xf32>
    }
    func.func private @triple(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %0 = graph.log1p %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
      %1 = graph.erf %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
      %2 = graph.multiply %x, %1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      func.return %2 : tensor<2x3xf32>
    }
    func.func private @unused(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %0 = graph.exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
      %1 = graph.log1p %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
      func.return %1 : tensor<2x3xf32>
    }"""
    x = np.linspace(0, 1, 6, dtype=np.float32).reshape(2, 3)
    results = [stepwell.compile(text, pipeline=level, cache=False)(x)[0] for level in ("O0", "O1")]
    np.testing.assert_array_equal(*results)


def test_large_kernels_are_pieces_that_the_last_one_declares():
    first, second, rest = pieces_of(
        entry("a", "b", "small"),
        large("a", 1, call("help")),
        large("b", 2),
        function("help", ""),
        function("small", ""),
    )
    (a, helper), (b,) = defined(first), defined(second)
    assert a.startswith("stepwell.")
    assert a.endswith(".0")
    assert helper == a.removesuffix("0") + "1"
    assert f"define void @{a}(" in first
    assert f"define internal void @{helper}(" in first
    assert defined(rest) == ["entry", "frame", "small"]
    assert f"declare void @{a}(ptr)" in rest
    assert f"call void @{b}(ptr %p.0)" in rest


def test_equal_kernels_are_one_piece_whatever_they_are_called():
    (first, _, rest) = pieces_of(entry("a", "b", "c"), large("a", 1), large("b", 1), large("c", 2))
    (again, _, _) = pieces_of(entry("x", "y"), large("x", 1), large("y", 3))
    assert again == first
    assert rest.count(f"call void @{defined(first)[0]}(") == 2
    assert rest.count(f"declare void @{defined(first)[0]}(") == 1


def test_kernels_that_share_a_function_are_together():
    shared = function("help", "")
    first, _, rest = pieces_of(
        entry("a", "b", "c"), large("a", 1, call("help")), large("b", 2, call("help")), shared, large("c", 3)
    )
    assert len(defined(first)) == 3
    assert first.count("define internal") == 1
    assert defined(rest) == ["entry", "frame"]


def test_many_small_kernels_are_pieces_together(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pieces, "BATCH_OPS", 6)
    store = "  %c = llvm.mlir.constant({} : i32) : i32\n  llvm.store %c, %p : i32, !llvm.ptr"
    small = [function(name, store.format(ord(name))) for name in "cdefg"]
    *_, first, second, rest = pieces_of(entry("a", "b", *"cdefg"), large("a", 1), large("b", 2), *small)
    assert [len(defined(text)) for text in (first, second, rest)] == [2, 2, 3]
    assert defined(rest) == ["entry", "frame", "g"]
    calls = [line.split("@")[1].split("(")[0] for line in rest.splitlines() if "call void @stepwell" in line]
    assert calls[2:] == [*defined(first), *defined(second)]


def test_long_entries_leave_no_small_kernel(monkeypatch: pytest.MonkeyPatch):
    store = "  %c = llvm.mlir.constant({} : i32) : i32\n  llvm.store %c, %p : i32, !llvm.ptr"
    small = [function(name, store.format(ord(name))) for name in "cd"]
    program = entry("a", "b", "c", *"cd" * LEAST_OPS), large("a", 1), large("b", 2), *small
    assert defined(pieces_of(*program)[-1]) == ["entry", "frame", "c", "d"]
    monkeypatch.setattr(pieces, "LONG_OPS", 2 * LEAST_OPS)
    *_, batch, rest = pieces_of(*program)
    assert len(defined(batch)) == 2
    assert defined(rest) == ["entry", "frame"]


def cold(text: str) -> str:
    return text.replace("(%p: !llvm.ptr) {", '(%p: !llvm.ptr) attributes {passthrough = ["cold", "optsize"]} {')


KERNELS = large("a", 1) + large("b", 2)


def test_what_runs_once_is_a_piece_of_its_own():
    once = cold(large("prepare", 3, call("help"), linkage="")) + cold(function("help", ""))
    a, b, prepare, rest = pieces_of(entry("a", "b"), KERNELS, once)
    assert defined(prepare) == ["prepare", "help"]
    assert defined(rest) == ["entry", "frame"]
    assert "declare" not in prepare, "it calls no kernel"
    assert [rest.count(f"declare void @{name}(ptr)") for name in (*defined(a), *defined(b))] == [1, 1]


def test_constants_are_in_both_pieces_that_need_them():
    constant = "llvm.mlir.global internal constant @c(7 : i32) : i32\n"
    address = "  %a = llvm.mlir.addressof @c : !llvm.ptr"
    once = cold(large("prepare", 3, address, linkage=""))
    *_, prepare, rest = pieces_of(
        constant,
        function("entry", call("frame"), ""),
        function("frame", call("a", "b") + "\n" + address),
        KERNELS,
        once,
    )
    assert defined(prepare) == ["prepare"]
    assert all(text.count("@c = internal constant") == 1 for text in (prepare, rest))
    variable = constant.replace("internal constant", "internal")
    *_, rest = pieces_of(
        variable,
        function("entry", call("frame"), ""),
        function("frame", call("a", "b") + "\n" + address),
        KERNELS,
        once,
    )
    assert defined(rest) == ["entry", "frame", "prepare"], "what is written must be one"


@pytest.mark.parametrize(
    "once",
    [
        cold(function("prepare", "", "")),
        cold(large("prepare", 3, call("small"), linkage="")),
        cold(large("prepare", 3, call("frame"), linkage="")),
    ],
    ids=["small", "names what an entry calls", "names an entry"],
)
def test_what_runs_once_stays_with_the_rest(once: str):
    small = function("small", "")
    _, _, rest = pieces_of(entry("a", "b", "small"), KERNELS, once, small)
    assert defined(rest) == ["entry", "frame", "prepare", "small"]


@pytest.mark.parametrize(
    "names, functions",
    [
        (("a",), [large("a", 1)]),
        (("a", "b"), [large("a", 1), large("b", 2, linkage="")]),
        (("a", "b"), [large("a", 1), large("b", 2, call("frame"))]),
        (("a", "b", "help"), [large("a", 1), large("b", 2, call("help")), function("help", "", "")]),
        (("a", "b"), [large("a", 1), function("b", "")]),
    ],
    ids=["one", "public", "calls the entry", "calls what is public", "small"],
)
def test_no_pieces(names: tuple[str, ...], functions: list[str]):
    module = parse_text(make_context(), entry(*names) + "".join(functions))
    assert list(emit_llvm_pieces(module)) == [emit_llvm_text(module)]


def test_an_op_without_text_is_refused_in_a_piece_too():
    wrong = function("b", '  "test.op"() : () -> ()\n' * LEAST_OPS)
    with pytest.raises(DiagnosticException, match="'test.op': has no entry in the LLVM text tables"):
        pieces_of(entry("a", "b"), large("a", 1), wrong)


# Machine code

TWO = """
func.func @main(%x: tensor<32x48xf32>, %y: tensor<48x40xf32>, %z: tensor<40x24xf32>) -> tensor<32x24xf32> {
  %a = graph.matmul %x, %y : (tensor<32x48xf32>, tensor<48x40xf32>) -> tensor<32x40xf32>
  %b = graph.matmul %a, %z : (tensor<32x40xf32>, tensor<40x24xf32>) -> tensor<32x24xf32>
  return %b : tensor<32x24xf32>
}
"""
"""Two kernels."""


def test_pieces_are_linked_and_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path))
    random = np.random.default_rng(0)
    arrays = [random.standard_normal(shape).astype("f4") for shape in ((32, 48), (48, 40), (40, 24))]
    expected = arrays[0].astype("f8") @ arrays[1] @ arrays[2]
    codes: list[bytes] = []
    for cpus in (1, 4):
        monkeypatch.setattr(native, "usable_cpus", lambda cpus=cpus: cpus)
        exe = stepwell.compile(TWO, cache=False, threads=1)
        np.testing.assert_allclose(exe(*arrays)[0], expected, rtol=1e-4, atol=1e-4)
        codes += (each.object_code for each in exe.programs().values())
    assert codes[0] == codes[1]
    assert len(objects_of(codes[0])) == 3
    assert not list(tmp_path.glob("*.piece"))
    stepwell.compile(TWO, threads=1)
    kept = list(tmp_path.glob("*.piece"))
    assert sorted(objects_of(codes[0])) == sorted(load(path.stem, PIECES)[1] for path in kept)  # type: ignore[index]
    compiled: list[str] = []
    real = jit.compile_object
    monkeypatch.setattr(jit, "compile_object", lambda *given, **more: compiled.append(given[0]) or real(*given, **more))
    changed = TWO.replace("return %b", "%c = graph.relu %b : (tensor<32x24xf32>) -> tensor<32x24xf32>\n  return %c")
    found = stepwell.compile(changed, threads=1)(*arrays)[0]
    np.testing.assert_allclose(found, np.maximum(expected, 0), rtol=1e-4, atol=1e-4)
    assert len([text for text in compiled if "stepwell." in text]) == 2


ONE = """
func.func @main(%x: tensor<32x48xf32>, %y: tensor<48x40xf32>) -> tensor<32x40xf32> {
  %a = graph.matmul %x, %y : (tensor<32x48xf32>, tensor<48x40xf32>) -> tensor<32x40xf32>
  return %a : tensor<32x40xf32>
}
"""


# Kernels that are told before their program is done


def early_and_late(text: str) -> tuple[list[str], list[str]]:
    """The texts that are started while the program is lowered, and all pieces of it."""
    started: list[str] = []
    early = EarlyPieces(started.append)
    module = parse_text(make_context(), text)
    with listening(early):
        run_pipeline(make_context(), module, "O3", verify_each=False)
    pieces = list(emit_llvm_pieces(module))
    assert list(emit_llvm_pieces(module, early)) == pieces
    return started, pieces


def test_kernels_are_told_while_their_program_is_lowered():
    started, pieces = early_and_late(TWO)
    assert started == pieces[:-1]
    assert len(started) == 2


def test_no_kernel_is_told_alone():
    started, pieces = early_and_late(ONE)
    assert (started, len(pieces)) == ([], 1)


def test_no_kernel_that_fails_to_convert_is_told():
    told: list[str] = []
    kernel = "func.func private @{}(%a: memref<4xf32>) {{\n  {}\n  func.return\n}}\n"
    role = '{stepwell.role = "input"}'
    calls = "func.call @good(%a) : (memref<4xf32>) -> ()\n  func.call @bad(%a) : (memref<4xf32>) -> ()"
    text = f"func.func @main(%a: memref<4xf32> {role}) {{\n  {calls}\n  func.return\n}}\n"
    text += kernel.format("good", "") + kernel.format("bad", '"test.op"() : () -> ()')
    module = parse_text(make_context(), text)
    with (
        listening(lambda name, ops: bool(told.append(name))),
        pytest.raises(Exception, match="no lowering to the llvm"),
    ):
        run_pipeline(make_context(), module, "lower-to-llvm-dialect")
    assert told == ["good"]


# Archives


def test_an_archive_gives_its_objects_back():
    objects = [b"first", b"", b"\n`!<arch>\nthird", b"even"]
    assert objects_of(archive(objects)) == objects
    assert archive([b"one"]) == b"one"
    assert objects_of(b"one") == [b"one"]


@pytest.mark.parametrize("damage", [lambda code: code[:-1], lambda code: code[:30], lambda code: code[:56] + b"x" * 12])
def test_a_damaged_archive_is_refused(damage: Callable[[bytes], bytes]):
    code = damage(archive([b"first", b"second"]))
    with pytest.raises(ValueError, match=r"the archive of machine code is damaged at byte \d+"):
        objects_of(code)
    with pytest.raises(LinkError, match="the archive of machine code is damaged at byte"):
        NativeLibrary(code, [])
