"""`Executable.profile`: a program that measures its kernels computes the same, and says where its time goes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
import stepwell
from onnx import TensorProto, helper
from stepwell.core.passes.context import PassContext
from stepwell.runtime.errors import ArgumentError, CompileError
from stepwell.runtime.looking.profile import Call, Profile, measuring_program, with_profiling
from stepwell.tools.run import main

NET = """\
func.func @main(%x: tensor<16x64xf32>, %w: tensor<64x32xf32>) -> (tensor<16x32xf32>, tensor<16xf32>) {
  %0 = graph.matmul %x, %w : (tensor<16x64xf32>, tensor<64x32xf32>)
  %1 = graph.relu %0 : (tensor<16x32xf32>)
  %2 = graph.sum %1, axis = [1] : (tensor<16x32xf32>)
  func.return %1, %2 : tensor<16x32xf32>, tensor<16xf32>
}
"""
X = np.random.default_rng(1).standard_normal((16, 64)).astype(np.float32)
W = np.random.default_rng(2).standard_normal((64, 32)).astype(np.float32)


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))


@pytest.mark.parametrize("level", [0, 3])
def test_every_kernel_has_its_operations_and_bytes(tmp_path: Path, level: int) -> None:
    (tmp_path / "net.mlir").write_text(NET)
    exe = stepwell.compile(tmp_path / "net.mlir", opt_level=level)
    profile = exe.profile(X, W, rounds=4)
    assert profile.rounds == 4 and all(call.calls == 1 for call in profile.calls)
    products = 2 * 16 * 32 * 64
    assert products <= max(call.operations for call in profile.calls) <= products + 16 * 32
    assert {call.place.rsplit(":", 2)[0] for call in profile.calls} == {str(tmp_path / "net.mlir")}
    assert all(0 < call.microseconds <= profile.microseconds for call in profile.calls)
    assert sum(kernel.share for kernel in profile.kernels) <= 1
    sizes = {call.kernel: call.bytes for call in profile.calls}
    assert 4 * (16 * 64 + 64 * 32 + 16 * 32) in sizes.values()


def test_measuring_changes_no_result() -> None:
    exe = stepwell.compile(NET)
    measuring = measuring_program(exe._source(), None)
    *found, times = measuring.entry(X, W)
    for one, other in zip(found, exe(X, W), strict=True):
        np.testing.assert_array_equal(one, other)
    assert times.shape == (len(measuring.rows) + 1, 2)
    assert times[-1, 0] == 1 and times[:-1, 1].sum() <= times[-1, 1]
    exe.profile(X, W, rounds=1)
    assert len(exe(X, W)) == 2, "the executable itself stays as it is"


@pytest.mark.parametrize("rounds", [0, -1])
def test_no_rounds_are_an_error(rounds: int) -> None:
    with pytest.raises(ArgumentError, match=f"the number of rounds is {rounds}, expected at least 1"):
        stepwell.compile(NET).profile(X, W, rounds=rounds)


def test_calls_in_loops_are_counted() -> None:
    exe = stepwell.compile("""
func.func private @one(%x: memref<4xf32>, %y: memref<4xf32>) {
  "memref.copy"(%x, %y) : (memref<4xf32>, memref<4xf32>) -> ()
  func.return
}
func.func @main(%x: memref<4xf32> {stepwell.role = "input"}, %y: memref<4xf32> {stepwell.role = "output"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  scf.for %i = %c0 to %c5 step %c1 {
    func.call @one(%x, %y) : (memref<4xf32>, memref<4xf32>) -> ()
  }
  func.return
}
""")
    profile = exe.profile(np.ones(4, np.float32), rounds=2)
    assert [(call.kernel, call.calls, call.operations) for call in profile.calls] == [("one", 5, 0)]


def test_unknown_sizes_are_those_of_the_arrays() -> None:
    exe = stepwell.compile(NET.replace("<16x", "<?x").replace("<16xf32>", "<?xf32>"))
    small, large = (exe.profile(X[:rows], W, rounds=1) for rows in (2, 8))
    assert max(c.operations for c in large.calls) > 3 * max(c.operations for c in small.calls)
    with pytest.raises(ArgumentError, match="argument 'x' has shape"):
        exe.profile(X[:, :3], W)


def test_the_table() -> None:
    calls = (
        Call("matmul", "a:1:1", 2, 50.0, 1_000_000, 4_000),
        Call("copy", "a:2:1", 1, 10.0, 0, 8_000),
        Call("matmul", "a:3:1", 1, 30.0, 1_000_000, 4_000),
    )
    assert str(Profile(calls, 100.0, 7)) == (
        "kernel                calls     µs  share  GFLOP/s  GB/s\n"
        "matmul                    3   80.0  80.0%     37.5   0.1\n"
        "copy                      1   10.0  10.0%        -   0.8\n"
        "(outside of kernels)          10.0  10.0%\n"
        "a run, median of 7           100.0"
    )


def test_run_prints_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "net.mlir").write_text(NET)
    assert main([str(tmp_path / "net.mlir"), "--random", "1", "--profile", "--repeat", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["kernel", "calls", "µs", "share", "GFLOP/s", "GB/s"]
    assert lines[-1].startswith("a run, median of 3")


def test_a_call_names_all_lines_that_it_computes() -> None:
    profile = stepwell.compile(NET).profile(X, W, rounds=1)
    (lines,) = {each.names for each in profile.nodes if len(each.names) > 1}
    assert {line.split(":")[1] for line in lines} >= {"2", "3"}
    assert sum(each.microseconds for each in profile.nodes) == pytest.approx(
        sum(call.microseconds for call in profile.calls)
    )


def layer(number: int, took: float, *nodes: str) -> Call:
    names = tuple(f"/encoder/layer.{number}/{node}" for node in nodes)
    return Call(f"kernel{number}", "m.onnx:1:1", 1, took, 0, 0, names)


CALLS = (
    layer(0, 10.0, "attention/MatMul", "attention/Add"),
    layer(0, 5.0, "ffn/MatMul"),
    layer(1, 40.0, "ffn/MatMul", "ffn/Relu"),
    layer(1, 4.0, "attention/Add", "ffn/Norm"),
    Call("gather", "m.onnx:1:1", 1, 1.0, 0, 0, ("Gather_3",)),
    Call("copy", "a.mlir:7:3", 2, 2.0, 0, 0, ("/encoder/layer.1/ffn/Pad",), ("a.mlir:7:3",)),
)


def test_times_by_part_of_the_model_add_up_at_each_depth() -> None:
    modules = Profile(CALLS, 100.0, 3).modules
    assert [("/".join(each.path), each.calls, each.microseconds) for each in modules] == [
        ("encoder", 4, 59.0),
        ("encoder/layer.1", 2, 44.0),
        ("encoder/layer.1/ffn", 1, 40.0),
        ("encoder/layer.0", 2, 15.0),
        ("encoder/layer.0/attention", 1, 10.0),
        ("encoder/layer.0/ffn", 1, 5.0),
        ("", 3, 3.0),
    ]
    assert sum(each.microseconds for each in modules if len(each.path) <= 1) == sum(call.microseconds for call in CALLS)


def test_the_tables_by_node_and_by_module() -> None:
    profile = Profile((CALLS[0], CALLS[1], CALLS[4]), 20.0, 3)
    assert profile.table("node") == (
        "node                               kernel   calls    µs  share\n"
        "/encoder/layer.0/attention/MatMul  kernel0      1  10.0  50.0%\n"
        "+ /encoder/layer.0/attention/Add\n"
        "/encoder/layer.0/ffn/MatMul        kernel0      1   5.0  25.0%\n"
        "Gather_3                           gather       1   1.0   5.0%\n"
        "(outside of kernels)                                4.0  20.0%\n"
        "a run, median of 3                                 20.0"
    )
    assert profile.table("module") == (
        "part of the model            calls    µs  share\n"
        "encoder                          2  15.0  75.0%\n"
        "  layer.0                        2  15.0  75.0%\n"
        "    attention                    1  10.0  50.0%\n"
        "    ffn                          1   5.0  25.0%\n"
        "(in no part, or in several)      1   1.0   5.0%\n"
        "(outside of kernels)                 4.0  20.0%\n"
        "a run, median of 3                  20.0"
    )
    assert profile.table() == str(profile)
    with pytest.raises(ArgumentError, match="a profile has no table by 'layer', expected one of kernel, node, module"):
        profile.table("layer")


def test_nodes_of_a_model_are_in_its_profile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["/net/layer.0/MatMul", "/net/layer.0/Relu", "/net/layer.1/MatMul", "/net/layer.1/Relu"]
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"], names[0]),
        helper.make_node("Relu", ["a"], ["b"], names[1]),
        helper.make_node("MatMul", ["b", "w"], ["c"], names[2]),
        helper.make_node("Relu", ["c"], ["y"], names[3]),
    ]
    infos = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [16, 16]) for name in ("x", "w", "y")}
    graph = helper.make_graph(nodes, "net", [infos["x"], infos["w"]], [infos["y"]])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), str(tmp_path / "m.onnx"))
    profile = stepwell.compile(tmp_path / "m.onnx").profile(np.eye(16, dtype=np.float32), X[:, :16], rounds=1)
    plain = stepwell.compile(tmp_path / "m.onnx", opt_level=0).profile(
        np.eye(16, dtype=np.float32), X[:, :16], rounds=1
    )
    assert next(each for each in plain.kernels if each.name == "matmul").calls == 2, "the layers share a kernel"
    assert sorted(each.names for each in plain.nodes) == sorted((name,) for name in names)
    assert sorted(each.names for each in profile.nodes) == [tuple(names[:2]), tuple(names[2:])]
    assert {each.path for each in profile.modules} == {("net",), ("net", "layer.0"), ("net", "layer.1")}
    assert main([str(tmp_path / "m.onnx"), "--random", "1", "--profile-by", "module", "--repeat", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["part", "of", "the", "model", "calls", "µs", "share"]
    assert [line.split()[0] for line in lines[1:2]] == ["net"]
    assert {line.split()[0] for line in lines[2:4]} == {"layer.0", "layer.1"}


def test_the_pass_comes_after_the_loops_are_scf() -> None:
    assert with_profiling("O3", "f").split("lower-loops-to-scf,")[1].startswith('profile-kernels{entry="f" where-')
    with pytest.raises(CompileError, match="the pipeline has no lower-loops-to-scf, after which kernels are"):
        with_profiling("fold-constant", "main")


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("pipeline", ["O3", "O1,O3", "lower-loops-to-scf,to-loops,bufferize"])
def test_a_pipeline_may_go_down_by_itself(pipeline: str) -> None:
    profile = stepwell.compile(NET, pipeline=pipeline).profile(X, W, rounds=1)
    assert profile.calls and all(call.calls == 1 for call in profile.calls)


def test_a_program_below_the_level_has_no_kernels() -> None:
    low = stepwell.compile(NET).ir("llvm")
    with pytest.raises(CompileError, match="@main never stands on the scf level, where kernels are measured"):
        stepwell.compile(low).profile(X, W, rounds=1)


def test_it_is_measured_under_the_pass_context_of_the_program() -> None:
    with PassContext(disabled=["apply-fusion-plan"]):
        apart = stepwell.compile(NET)
    assert len(apart.profile(X, W, rounds=1).calls) > len(stepwell.compile(NET).profile(X, W, rounds=1).calls)
