"""Programs saved to one file and loaded from it: the same values, on other levels, in other processes, for ever."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import threading
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stepwell
from stepwell.core.passes.context import PassContext
from stepwell.core.weights import write_weights
from stepwell.runtime import ArgumentError, CompileError, SavedError
from stepwell.runtime.native import jit
from stepwell.runtime.program import program
from stepwell.runtime.saving.manifest import INTERFACE
from stepwell.runtime.saving.processor import needed_features

KEPT = Path(__file__).parent / "data" / "format_1.stepwell"
"""Written by the first version that saves. It must load for ever."""

NET = """
func.func @main(%x: tensor<4x64xf32>) -> tensor<4x32xf32> {
  %w = graph.weight "w" : tensor<64x32xf32>
  %0 = graph.matmul %x, %w : (tensor<4x64xf32>, tensor<64x32xf32>)
  %1 = graph.tanh %0 : (tensor<4x32xf32>)
  func.return %1 : tensor<4x32xf32>
}
"""
TWO = """%v = graph.weight "v" : tensor<32x32xf32>
  %p = graph.matmul %0, %v : (tensor<4x32xf32>, tensor<32x32xf32>)
  %1 = graph.tanh %p"""
W = np.random.default_rng(5).standard_normal((64, 32)).astype(np.float32)
X = np.random.default_rng(6).standard_normal((4, 64)).astype(np.float32)
DYNAMIC = NET.replace("<4x", "<?x")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))


def never(*_: Any, **__: Any) -> Any:
    raise AssertionError("something is compiled")


def expected(x: Any) -> Any:
    return np.tanh(x.astype(np.float64) @ W)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "m.stepwell"
    stepwell.compile(NET, weights={"w": W}).save(path, cpu=["x86-64-v3", "host"])
    return path


@pytest.mark.parametrize("trusted", [False, True])
def test_a_loaded_program_gives_the_same_values(saved: Path, trusted: bool):
    exe = stepwell.compile(NET, weights={"w": W})
    other = stepwell.load(saved, trust_code=trusted)
    assert (other.signature, other.entry_names) == (exe.signature, exe.entry_names)
    np.testing.assert_array_equal(other(X)[0], exe(X)[0])
    np.testing.assert_allclose(other(X)[0], expected(X), rtol=1e-5)
    with pytest.raises(ArgumentError, match="argument 'x' has rank 1"):
        other(X[0])
    assert other.ir("graph") == exe.ir("graph")


def test_nothing_is_compiled_where_code_is_trusted(saved: Path, monkeypatch: pytest.MonkeyPatch):
    want = stepwell.compile(NET, weights={"w": W})(X)[0]
    monkeypatch.setattr("stepwell.runtime.source.Source.load", never)
    exe = stepwell.load(saved, trust_code=True, cache=False)
    np.testing.assert_array_equal(exe(X)[0], want)


def test_no_compiler_is_imported_or_asked(saved: Path, tmp_path: Path):
    code = f"""
import sys
import numpy as np
import stepwell
import llvmlite.binding as llvm

def never(*_):
    raise AssertionError("LLVM reads text")

llvm.parse_assembly = never
exe = stepwell.load({str(saved)!r}, trust_code=True)
assert exe(np.zeros((4, 64), np.float32))[0].tolist() == np.zeros((4, 32)).tolist()
print(sorted(name for name in sys.modules if name.startswith("xdsl")))
"""
    environment = os.environ | {"STEPWELL_CACHE_DIR": str(tmp_path / "none")}
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert found.stdout.strip() == "['xdsl', 'xdsl.utils', 'xdsl.utils.exceptions']", found.stderr


@pytest.mark.skipif(
    not {"+avx2", "+fma"} <= set(jit.host_code_target().written), reason="the levels are those of x86-64"
)
def test_a_file_has_code_for_several_levels_and_each_runs(saved: Path, monkeypatch: pytest.MonkeyPatch):
    whole = jit.host_code_target()
    small = jit.CodeTarget(whole.triple, "x86-64-v3", "+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+popcnt,+sse4.2")
    taken: list[str] = []
    load = stepwell.runtime.saving.reading.LoadedCode._program  # pyright: ignore[reportAttributeAccessIssue]

    def noted(self: Any, code: Any) -> Any:
        taken.append(code.prefix)
        return load(self, code)

    monkeypatch.setattr("stepwell.runtime.saving.reading.LoadedCode._program", noted)
    results = []
    for target in (whole, small):
        monkeypatch.setattr("stepwell.runtime.saving.processor.host_code_target", lambda target=target: target)
        results.append(stepwell.load(saved, trust_code=True)(X)[0])
    alike = needed_features(whole, False) == needed_features(small, False)
    assert taken == ["code/host/0", "code/host/0" if alike else "code/x86-64-v3/0"]
    for result in results:
        np.testing.assert_allclose(result, expected(X), rtol=1e-5)
    bare = jit.CodeTarget(whole.triple, "x86-64", "")
    monkeypatch.setattr("stepwell.runtime.saving.processor.host_code_target", lambda: bare)
    np.testing.assert_allclose(stepwell.load(saved, trust_code=True)(X)[0], expected(X), rtol=1e-5)
    assert len(taken) == 2, "no level fits, so the text is compiled"


def test_code_for_another_interface_is_not_run(saved: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("stepwell.runtime.saving.processor.INTERFACE", INTERFACE + 1)
    monkeypatch.setattr("stepwell.runtime.saving.reading.LoadedCode.load", never)
    np.testing.assert_allclose(stepwell.load(saved, trust_code=True)(X)[0], expected(X), rtol=1e-5)


@pytest.mark.parametrize("prepared", [False, True])
def test_weights_are_mapped_and_prepared_once(tmp_path: Path, prepared: bool):
    path = tmp_path / "m.stepwell"
    stepwell.compile(NET, weights={"w": W}).save(path, prepared=prepared)
    exe = stepwell.load(path, trust_code=True)
    assert ("code/host/0.safetensors" in zipfile.ZipFile(path).namelist()) == prepared
    arrays = exe.programs()[None].prepared.values()
    assert arrays and all(array.flags.writeable != prepared for array in arrays)
    np.testing.assert_allclose(exe(X)[0], expected(X), rtol=1e-5)


@pytest.mark.parametrize("trusted", [False, True])
def test_a_program_of_unknown_sizes_keeps_the_shapes_it_has_met(tmp_path: Path, trusted: bool):
    exe = stepwell.compile(DYNAMIC, weights={"w": W})
    exe(X)
    exe.save(tmp_path / "d.stepwell")
    other = stepwell.load(tmp_path / "d.stepwell", trust_code=trusted)
    assert [each.shapes for each in other.specialisations] == ([((4, 64),)] if trusted else [])
    for rows in (4, 3):
        np.testing.assert_allclose(other(X[:rows])[0], expected(X[:rows]), rtol=1e-5)
    other.save(tmp_path / "e.stepwell")
    again = stepwell.load(tmp_path / "e.stepwell", trust_code=True)
    assert {each.shapes for each in again.specialisations} == {((4, 64),), ((3, 64),)}


def test_the_container_is_a_zip_file_that_other_tools_read(saved: Path):
    with zipfile.ZipFile(saved) as archive:
        assert archive.testzip() is None
        assert archive.namelist()[:3] == ["stepwell.json", "program.mlir", "weights.safetensors"]
        assert archive.read("program.mlir").decode() == NET
        manifest = json.loads(archive.read("stepwell.json"))
        assert manifest["format"] == 1
        assert [level["name"] for level in manifest["levels"]] == ["x86-64-v3", "host"]
        data = saved.read_bytes()
        for info in archive.infolist():
            assert info.compress_type == zipfile.ZIP_STORED
            name, extra = (int.from_bytes(data[info.header_offset + at :][:2], "little") for at in (26, 28))
            assert (info.header_offset + 30 + name + extra) % 64 == 0


def test_the_same_program_is_the_same_file(tmp_path: Path):
    for name in ("a", "b"):
        stepwell.compile(NET, weights={"w": W}).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_order_in_which_weights_are_prepared_is_not_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    two = NET.replace("%1 = graph.tanh %0", TWO)
    weights = {"w": W, "v": np.ones((32, 32), np.float32)}
    for step in (1, -1):

        def in_this_order(entries: Any, _threads: int, run: Any, step: int = step) -> None:
            assert len(entries) == 2
            for entry in entries[::step]:
                run(entry)

        monkeypatch.setattr(program, "run_all", in_this_order)
        stepwell.compile(two, weights=weights, cache=False).save(tmp_path / str(step))
    assert (tmp_path / "1").read_bytes() == (tmp_path / "-1").read_bytes()


def test_nothing_leads_out_of_the_file(tmp_path: Path):
    write_weights(tmp_path / "w.safetensors", {"w": W})
    (tmp_path / "m.mlir").write_text(
        'module attributes {stepwell.weights = "w.safetensors"} {' + NET + "}", encoding="utf-8"
    )
    exe = stepwell.compile(tmp_path / "m.mlir")
    exe.save(tmp_path / "m.stepwell")
    for name in ("w.safetensors", "m.mlir"):
        (tmp_path / name).unlink()
    for trusted in (False, True):
        np.testing.assert_array_equal(stepwell.load(tmp_path / "m.stepwell", trust_code=trusted)(X)[0], exe(X)[0])


def test_saving_replaces_a_file_as_a_whole(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "m.stepwell"
    exe = stepwell.load(saved)
    exe.save(path)
    before = path.read_bytes()
    opened = stepwell.load(path, trust_code=True)
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(SavedError, match=r"m.stepwell': cannot write it: no space left on device"):
        exe.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    monkeypatch.undo()
    exe.save(path)
    np.testing.assert_array_equal(opened(X)[0], exe(X)[0])


def test_a_pipeline_and_a_pass_context_come_back(tmp_path: Path):
    with PassContext(opt_level=3, disabled=["fuse-ewise-fma"], config={"target": "x86-64-v3"}):
        exe = stepwell.compile(NET, weights={"w": W}, numerics="strict", threads=1)
    exe.save(tmp_path / "m.stepwell")
    other = stepwell.load(tmp_path / "m.stepwell")
    for level in ("graph", "llvm-ir"):
        assert other.ir(level) == exe.ir(level)
    stepwell.compile(NET, weights={"w": W}, pipeline="fold-constant,O1").save(tmp_path / "m.stepwell")
    np.testing.assert_allclose(stepwell.load(tmp_path / "m.stepwell")(X)[0], expected(X), rtol=1e-5)


def test_saving_for_machines_that_are_not_here(tmp_path: Path):
    exe = stepwell.compile(NET, weights={"w": W})
    exe.save(tmp_path / "m.stepwell", cpu="neoverse-v2")
    manifest = json.loads(zipfile.ZipFile(tmp_path / "m.stepwell").read("stepwell.json"))
    assert manifest["levels"][0]["triple"].startswith("aarch64")
    np.testing.assert_array_equal(stepwell.load(tmp_path / "m.stepwell", trust_code=True)(X)[0], exe(X)[0])
    with pytest.raises(stepwell.StepwellError, match="unknown target 'x86-64-v9'"):
        exe.save(tmp_path / "m.stepwell", cpu=["x86-64-v9"])
    assert issubclass(SavedError, stepwell.StepwellError) and not issubclass(SavedError, CompileError)


def test_many_processes_and_threads_load_one_file(saved: Path):
    code = f"""
import threading, numpy as np, stepwell
x = np.load({str(saved.with_suffix(".npy"))!r})
results = []
def run():
    results.append(stepwell.load({str(saved)!r}, trust_code=True, threads=1)(x)[0])
workers = [threading.Thread(target=run) for _ in range(4)]
[worker.start() for worker in workers]
[worker.join() for worker in workers]
assert len(results) == 4 and all((each == results[0]).all() for each in results)
"""
    np.save(saved.with_suffix(".npy"), X)
    processes = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(8)]
    assert [process.wait() for process in processes] == [0] * 8


def test_a_forked_child_calls_and_loads(saved: Path):
    exe = stepwell.load(saved, trust_code=True)
    want = exe(X)[0]
    child = os.fork()
    if child == 0:
        try:
            right = (exe(X)[0] == want).all() and (stepwell.load(saved, trust_code=True)(X)[0] == want).all()
        except BaseException:
            right = False
        os._exit(0 if right else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_threads_call_one_loaded_program(saved: Path):
    exe = stepwell.load(saved, trust_code=True)
    want, found = exe(X)[0], []
    workers = [threading.Thread(target=lambda: found.append(exe(X)[0])) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all((each == want).all() for each in found) and len(found) == 8


def test_a_loaded_program_can_be_pickled_and_exported(saved: Path, tmp_path: Path):
    exe = stepwell.load(saved, trust_code=True)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(exe))(X)[0], exe(X)[0])
    assert exe.export(tmp_path / "m.o").weights is not None
    assert exe.memory.arena_bytes >= 0
    assert "matmul" in str(exe.profile(X, rounds=1))


@pytest.mark.parametrize("trusted", [False, True])
def test_a_file_of_the_first_version_loads(trusted: bool):
    x = np.arange(6, dtype=np.float32).reshape(2, 3) - 2
    exe = stepwell.load(KEPT, trust_code=trusted)
    assert exe.signature == "main(x: tensor<2x3xf32>) -> (result0: tensor<2x2xf32>)"
    w = np.array([[1, -1], [2, 0.5], [0, 3]], np.float32)
    np.testing.assert_array_equal(exe(x)[0], np.maximum(x @ w, 0))


@pytest.mark.parametrize("trust_code", [False, True])
def test_a_program_for_a_machine_that_is_not_this_one_is_compiled_from_its_text(
    trust_code: bool, tmp_path: Path
) -> None:
    other = "x86-64-v3" if jit.host_code_target().architecture == "aarch64" else "aarch64-neon"
    text = """func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
      %0 = graph.relu %x : (tensor<?xf32>) -> tensor<?xf32>
      func.return %0 : tensor<?xf32>
    }"""
    stepwell.compile(text, target=other).save(tmp_path / "m.stepwell")
    loaded = stepwell.load(tmp_path / "m.stepwell", trust_code=trust_code)
    assert loaded([-1.0, 2.0])[0].tolist() == [0, 2]
    assert loaded.export(tmp_path / "m.o", target=other, shapes=((4,),)).code.exists()
