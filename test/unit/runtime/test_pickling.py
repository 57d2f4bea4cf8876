"""Executables in pickles: to other processes, and to other machines and versions."""

from __future__ import annotations

import copy
import importlib.util
import json
import multiprocessing
import pickle
import re
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stepwell
from stepwell.core.passes.context import PassContext
from stepwell.core.weights import write_weights
from stepwell.runtime.errors import ArgumentError, CompileError, ExecutionError, ExternalError
from stepwell.runtime.executable import restored
from stepwell.runtime.program.arrays import ArrayType
from stepwell.runtime.program.description import Argument, Description, Entry, External

PAGE = Path(__file__).parents[3] / "docs" / "shipping.md"

NET = """
func.func @main(%x: tensor<4x64xf32>) -> tensor<4x32xf32> {
  %w = graph.weight "w" : tensor<64x32xf32>
  %0 = graph.matmul %x, %w : (tensor<4x64xf32>, tensor<64x32xf32>)
  %1 = graph.tanh %0 : (tensor<4x32xf32>)
  func.return %1 : tensor<4x32xf32>
}
"""
W = np.random.default_rng(5).standard_normal((64, 32)).astype(np.float32)
X = np.random.default_rng(6).standard_normal((4, 64)).astype(np.float32)
DYNAMIC = NET.replace("<4x", "<?x")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))


def copied(exe: stepwell.Executable) -> stepwell.Executable:
    return pickle.loads(pickle.dumps(exe))


def never(*_: Any) -> Any:
    raise AssertionError("it is compiled again")


def test_a_copy_has_the_same_machine_code_and_signature(monkeypatch: pytest.MonkeyPatch) -> None:
    exe = stepwell.compile(NET, weights={"w": W}, cache=False)
    data = pickle.dumps(exe)
    monkeypatch.setattr("stepwell.runtime.source.Source.load", never)
    other = pickle.loads(data)
    assert (other.signature, other.entry_names) == (exe.signature, exe.entry_names)
    np.testing.assert_array_equal(other(X)[0], exe(X)[0])
    with pytest.raises(ArgumentError, match="argument 'x' has rank 1"):
        other(X[0])
    assert pickle.loads(pickle.dumps(other))(X)[0].shape == (4, 32), "a copy of a copy"
    assert copy.deepcopy(exe)(X)[0].shape == (4, 32)


def test_a_copy_shows_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    exe = stepwell.compile(NET, weights={"w": W})
    other = copied(exe)
    for stair in ("graph", "llvm-ir"):
        assert other.ir(stair) == exe.ir(stair)


def test_a_module_without_text_is_pickled_too() -> None:
    exe = stepwell.compile(stepwell.parse(NET), weights={"w": W})
    np.testing.assert_array_equal(copied(exe)(X)[0], exe(X)[0])


def test_errors_at_run_time_keep_their_place() -> None:
    exe = stepwell.compile("""
func.func @main(%x: tensor<2xi32>, %y: tensor<2xi32>) -> tensor<2xi32> {
  %0 = graph.divide %x, %y : (tensor<2xi32>, tensor<2xi32>)
  func.return %0 : tensor<2xi32>
}
""")
    zero = np.zeros(2, np.int32)
    with pytest.raises(ExecutionError) as first:
        exe(zero, zero)
    with pytest.raises(ExecutionError) as second:
        copied(exe)(zero, zero)
    assert (second.value.reason, second.value.location) == (first.value.reason, first.value.location)


def test_specialised_programs_go_along(monkeypatch: pytest.MonkeyPatch) -> None:
    exe = stepwell.compile(DYNAMIC, weights={"w": W}, cache=False)
    (expected,) = exe(X)
    other = copied(exe)
    with monkeypatch.context() as patch:
        patch.setattr("stepwell.runtime.source.Source.load", never)
        np.testing.assert_array_equal(other(X)[0], expected)
    np.testing.assert_array_equal(other(X[:3])[0], exe(X[:3])[0])


def test_a_side_car_is_in_the_pickle(tmp_path: Path) -> None:
    file = tmp_path / "w.safetensors"
    write_weights(file, {"w": W})
    (tmp_path / "net.mlir").write_text(f'builtin.module attributes {{stepwell.weights = "w.safetensors"}} {{{NET}}}')
    exe = stepwell.compile(tmp_path / "net.mlir")
    data = pickle.dumps(exe)
    assert W.tobytes() in data
    want, text = exe(X)[0], exe.ir("graph")
    file.unlink()
    (tmp_path / "net.mlir").unlink()
    np.testing.assert_array_equal(pickle.loads(data)(X)[0], want)
    assert pickle.loads(data).ir("graph") == text
    assert pickle.loads(pickle.dumps(pickle.loads(data)))(X)[0].shape == (4, 32)


def test_a_program_that_is_compiled_anew_in_no_context_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    exe = stepwell.compile(DYNAMIC, weights={"w": W}, cache=False)
    assert exe.__reduce__()[1][0]["context"] is None
    assert copied(exe).ir("llvm-ir", ((4, 64),)) == exe.ir("llvm-ir", ((4, 64),))


def test_another_machine_compiles_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    exe = stepwell.compile(NET, weights={"w": W})
    state = exe.__reduce__()[1][0]
    state["maker"] = ("riscv64-unknown-linux-gnu|somebody", state["maker"][1])
    state["programs"] = [(shapes, text, b"no code of ours") for shapes, text, _ in state["programs"]]
    np.testing.assert_array_equal(restored(state)(X)[0], exe(X)[0])


def test_another_format_is_refused() -> None:
    state = stepwell.compile(NET, weights={"w": W}).__reduce__()[1][0] | {"format": 99}
    with pytest.raises(CompileError, match="has format 99, expected 2: it was made by another version"):
        restored(state)


def test_the_pass_context_goes_along() -> None:
    with PassContext(disabled=["fold-constant"], config={"target": "x86-64"}):
        exe = stepwell.compile(DYNAMIC, weights={"w": W}, cache=False)
    other = copied(exe)
    shapes = ((64, 64),)
    assert other.ir("scf", shapes) == exe.ir("scf", shapes)
    plain = stepwell.compile(DYNAMIC, weights={"w": W}, cache=False)
    assert plain.ir("scf", shapes) != exe.ir("scf", shapes), "the case shows the context"


@pytest.mark.ci_cases(0)
def test_workers_that_start_afresh_run_it() -> None:
    exe = stepwell.compile(NET, weights={"w": W})
    spawning = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=spawning) as pool:
        results = list(pool.map(exe, [X + np.float32(i) for i in range(4)]))
    for i, (found,) in enumerate(results):
        np.testing.assert_array_equal(found, exe(X + np.float32(i))[0])


def test_the_page_shows_programs_that_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of docs/shipping.md that need what is not installed are only compiled."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.mlir").write_text(NET.replace('graph.weight "w"', "graph.full 0.5"))
    blocks = re.findall(r"^```python\n# (\w+)\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert {name for name, _ in blocks} >= {"joblib", "dask"}
    for name, block in blocks:
        code = compile(block, f"{PAGE.name}:{name}", "exec")
        if importlib.util.find_spec(name) is not None:
            exec(code, {"__name__": "page", "batches": [X, X + 1], "expected": W})


@pytest.mark.parametrize("kind", [ExecutionError, ExternalError])
def test_errors_of_a_run_are_pickled(kind: type[ExecutionError]) -> None:
    error = kind("graph.take: index out of range", "model.mlir:3:8")
    other = pickle.loads(pickle.dumps(error))
    assert (type(other), str(other), other.reason) == (kind, str(error), error.reason)


def test_a_description_is_plain_data_that_says_all() -> None:
    entry = Entry("main", (Argument("weight", "w", ArrayType("f32", (2, None)), "k"),), True, "other")
    description = Description((entry, Entry("x", ())), (("message", "here"),), (External("s", "c", "f", "text"),))
    plain = asdict(description)
    for argument in (each for entry in plain["entries"] for each in entry["arguments"]):
        if argument["place_of"] is None:  # Older runtimes do not know of it.
            del argument["place_of"]
    assert description.to_json() == plain
    assert Description.from_json(json.loads(json.dumps(description.to_json()))) == description
