"""The command line of `stepwell-calibrate`, and the worked example of two functions."""

from __future__ import annotations

import json
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from stepwell.core.weights import write_weights
from stepwell.rewrites.calibration.statistics import load_statistics
from stepwell.testing.in_process import call_tool
from stepwell.testing.run_line import Command
from stepwell.tools.calibrate import main
from stepwell.tools.opt import main as opt_main

EXAMPLE = Path(__file__).parents[3] / "examples" / "calibration"
PROGRAM = str(EXAMPLE / "two_functions.mlir")

TWICE = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = func.call @g(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = func.call @g(%0) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %1 : tensor<2xf32>
}
func.func private @g(%x: tensor<2xf32>) -> tensor<2xf32> attributes {graph.compiler = "npu"} {
  %0 = graph.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
"""

NESTED = TWICE.replace("%1 = func.call @g", "%1 = func.call @h") + (
    """func.func private @h(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = func.call @g(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
"""
)

CONTROL_FLOW = """func.func @main(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tensor.extract %c[] : tensor<i1>
  %1 = scf.if %0 -> (tensor<2xf32>) {
    scf.yield %x : tensor<2xf32>
  } else {
    scf.yield %x : tensor<2xf32>
  }
  func.return %1 : tensor<2xf32>
}
"""

WEIGHTS = """builtin.module attributes {stepwell.weights = "w.safetensors"} {
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %w = graph.weight "w" : tensor<2xf32>
    %0 = func.call @g(%w) : (tensor<2xf32>) -> tensor<2xf32>
    func.return %0 : tensor<2xf32>
  }
  func.func private @g(%x: tensor<2xf32>) -> tensor<2xf32> attributes {graph.compiler = "npu"} {
    func.return %x : tensor<2xf32>
  }
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with programs and data, to run in; no cache of anybody else."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path / "cache"))
    for name, text in (
        ("twice", TWICE),
        ("nested", NESTED),
        ("flow", CONTROL_FLOW),
        ("weights", WEIGHTS),
        ("small", TWICE.replace("%1 = func.call @g", "%1 = func.call @h").replace("f32", "bf16") +
         "func.func private @h(%x: tensor<2xbf16>) -> tensor<2xbf16> { func.return %x : tensor<2xbf16> }"),
    ):  # fmt: skip
        (tmp_path / f"{name}.mlir").write_text(text)
    for seed in range(3):
        np.savez(tmp_path / f"data{seed}.npz", **arguments(seed))
    np.savez(tmp_path / "x.npz", x=np.array([1, -2], np.float32))
    return tmp_path


def arguments(seed: int) -> dict[str, Any]:
    generator = np.random.default_rng(seed)
    return {name: generator.standard_normal((8, 8)).astype(np.float32) for name in "xyz"}


def calibrate(*words: str, data: Sequence[str] = ("data0.npz",)) -> tuple[int, str, str]:
    given = [word for path in data for word in ("--data", path)]
    finished = call_tool(main, Command(["stepwell-calibrate", *words, *given]), b"")
    return finished.exit_code, finished.stdout.decode(), finished.stderr.decode()


def arrays(path: str) -> dict[str, Any]:
    with np.load(path) as loaded:
        return {key: loaded[key] for key in loaded.files}


@pytest.mark.parametrize("flags", [[], ["--reference"], ["--opt-level", "0", "--threads", "1", "--no-cache"]])
def test_the_archive_has_a_key_per_value(flags: list[str]) -> None:
    assert calibrate(PROGRAM, "-o", "out.npz", *flags) == (0, "", "")
    found = arrays("out.npz")
    assert list(found) == ["g0/in0", "g0/in1", "g0/out0", "g0/out1", "g1/in0", "g1/in1", "g1/out0"]
    x, y, z = arguments(0).values()
    for key, wanted in zip(found, (x, y, x + y, x - y, x + y, z, (x + y) - z), strict=True):
        np.testing.assert_array_equal(found[key], wanted)


def test_several_batches_are_stacked_and_counted() -> None:
    files = [f"data{seed}.npz" for seed in range(3)]
    assert calibrate(PROGRAM, "-o", "out.npz", "--stats", "stats.json", data=files) == (0, "", "")
    found = arrays("out.npz")
    x = np.stack([arguments(seed)["x"] for seed in range(3)])
    np.testing.assert_array_equal(found["g0/in0"], x)
    statistics = load_statistics("stats.json")["g0"]["inputs"][0]
    assert (statistics.batches, statistics.count) == (3, 192)
    assert (statistics.minimum, statistics.maximum) == (x.min(), x.max())


def test_bins_and_percentiles_are_chosen() -> None:
    words = ("--stats", "stats.json", "--bins", "16", "--percentiles", "5, 95")
    assert calibrate(PROGRAM, *words)[0] == 0
    data = json.loads(Path("stats.json").read_text())
    assert data["bins"] == 16
    tensor = data["functions"]["g1"]["outputs"][0]
    assert list(tensor["percentiles"]) == ["5", "95"] and len(tensor["histogram"]["counts"]) <= 16


def test_without_a_file_the_ranges_are_printed() -> None:
    code, output, errors = calibrate(PROGRAM)
    assert (code, errors) == (0, "")
    x = arguments(0)["x"]
    first = output.splitlines()[0]
    assert first.startswith(f"g0/in0: tensor<8x8xf32>, 1 batch, from {x.min():.6g} to {x.max():.6g}, mean ")
    assert [line.partition(":")[0] for line in output.splitlines()][-1] == "g1/out0"


def test_the_program_that_runs_is_printed() -> None:
    code, output, _ = calibrate(PROGRAM, "--print-module")
    assert code == 0
    assert "graph.calibration_map = {g0 = array<i64: 0, 2, 2>, g1 = array<i64: 4, 2, 1>}" in output
    assert "graph.compiler" not in output


def test_data_may_be_numbered() -> None:
    np.savez("numbered.npz", *arguments(0).values())
    assert calibrate(PROGRAM, "-o", "out.npz", data=["numbered.npz"])[0] == 0
    np.testing.assert_array_equal(arrays("out.npz")["g1/in1"], arguments(0)["z"])


def test_small_floats_survive_the_archives() -> None:
    np.savez("small.npz", x=np.array([1.5, -3], ml_dtypes.bfloat16))
    assert calibrate("small.mlir", "-o", "out.npz", data=["small.npz"]) == (0, "", "")
    np.testing.assert_array_equal(arrays("out.npz")["g/out0"].view(ml_dtypes.bfloat16), [3, -6])


def test_several_calls_of_a_function() -> None:
    code, _, errors = calibrate("twice.mlir", data=["x.npz"])
    assert code == 1
    assert errors.startswith("twice.mlir:3:3: error: 'func.call': repeated call of @g")
    assert "twice.mlir:2:3: note: 'func.call': the first call is here" in errors
    assert "hint: the option multi=list records every call" in errors
    assert calibrate("twice.mlir", "--multi", "list", "-o", "out.npz", data=["x.npz"]) == (0, "", "")
    found = arrays("out.npz")
    assert list(found) == ["g/0/in0", "g/0/out0", "g/1/in0", "g/1/out0"]
    np.testing.assert_array_equal(found["g/1/out0"], [4, -8])


def test_calls_inside_functions() -> None:
    code, output, errors = calibrate("nested.mlir", data=["x.npz"])
    assert code == 0 and len(output.splitlines()) == 2
    assert errors.startswith("nested.mlir:11:3: warning: 'func.call': this call of @g in @h is not recorded")
    assert "%0 = func.call @g(%x)" in errors
    words = ("--recursive", "--multi", "list", "-o", "out.npz")
    assert calibrate("nested.mlir", *words, data=["x.npz"]) == (0, "", "")
    np.testing.assert_array_equal(arrays("out.npz")["g/1/in0"], [2, -4])


def test_weights_are_found(folder: Path) -> None:
    write_weights(folder / "w.safetensors", {"w": np.array([5, 6], np.float32)})
    write_weights(folder / "other.safetensors", {"w": np.array([7, 8], np.float32)})
    for words, expected in (((), [5, 6]), (("--weights", "other.safetensors"), [7, 8])):
        for flags in ((), ("--reference",)):
            assert calibrate("weights.mlir", "-o", "out.npz", *words, *flags, data=["x.npz"])[0] == 0
            np.testing.assert_array_equal(arrays("out.npz")["g/in0"], expected)


def test_what_is_not_finite_is_told() -> None:
    np.savez("odd.npz", **{**arguments(0), "z": np.full((8, 8), np.nan, np.float32)})
    code, _, errors = calibrate(PROGRAM, "-o", "out.npz", data=["odd.npz"])
    assert code == 0
    assert "warning: input 1 of @g1: 64 NaN and 0 infinite elements of 64 are left out" in errors


LAYER = """func.func @main(%x: tensor<2x4xf32>) -> tensor<2x3xf32> {
  %w = graph.full 2.0 : tensor<4x3xf32>
  %r = graph.relu %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %y = graph.matmul %r, %w : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}
"""


def test_values_that_layers_read_are_recorded(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Three batches in one file, against NumPy."""
    (folder / "layer.mlir").write_text(LAYER)
    x = np.random.default_rng(0).standard_normal((3, 2, 4)).astype(np.float32)
    np.savez(folder / "x.npz", x=x)
    words = [str(folder / "layer.mlir"), "--values", "--data", str(folder / "x.npz")]
    assert main([*words, "--stats", str(folder / "v.json")]) == 0
    values = load_statistics(folder / "v.json")["main"]["values"]
    assert list(values) == ["r"]
    r = np.maximum(x, 0)
    assert (values["r"].minimum, values["r"].maximum, values["r"].batches) == (r.min(), r.max(), 3)
    np.testing.assert_allclose(values["r"].channel_means, r.mean((0, 1)), rtol=1e-6)
    assert values["r"].batch_maximum == pytest.approx(r.max((1, 2)).mean())
    assert main([*words, "--print-module"]) == 0
    printed = capsys.readouterr().out
    assert "return %r : tensor<2x4xf32>" in printed and "%r: tensor<2x4xf32>, 3 batches, from 0 to" in printed
    assert main([*words, "--reference"]) == 1
    assert "error: --values has no use for --reference, expected --stats" in capsys.readouterr().err


@pytest.mark.ci_cases(5)
@pytest.mark.parametrize(
    "words, data, message",
    [
        ((PROGRAM,), ["part.npz"], "error: batch 1: the data has no array for argument 'y' (tensor<8x8xf32>)"),
        ((PROGRAM,), ["data0.npz", "odd.npz"],
         "error: 'odd.npz' has an array 'xx' but @main has no such argument\nhint: did you mean 'x'?"),
        ((PROGRAM,), ["none.npz"], "error: cannot read input 'none.npz': no such file"),
        ((PROGRAM,), ["x.npy"], "error: data 'x.npy' is one array, expected a .npz archive of all arguments by name"),
        ((PROGRAM,), [], "the following arguments are required: --data"),
        (("none.mlir",), ["x.npz"], "error: cannot read 'none.mlir'"),
        (("flow.mlir",), ["x.npz"], "flow.mlir:3:3: error: 'scf.if': control flow in @main"),
        ((PROGRAM, "--entry", "mian"), ["x.npz"], "there is no function @mian, did you mean 'main'?"),
        ((PROGRAM, "--bins", "2"), ["x.npz"], "error: a histogram has 2 bins, expected at least 4"),
        ((PROGRAM, "--percentiles", "1;2"), ["x.npz"],
         "error: percentiles '1;2' are malformed, expected for instance 0.1,99.9"),
        ((PROGRAM, "-o", "none/out.npz"), ["data0.npz"], "error: cannot write 'none/out.npz': no such file"),
        ((PROGRAM, "--stats", "none/s.json"), ["data0.npz"], "error: cannot write 'none/s.json': no such file"),
        (("weights.mlir",), ["x.npz"], "error: "),
    ],
)  # fmt: skip
def test_errors_are_told(words: Sequence[str], data: Sequence[str], message: str) -> None:
    np.save("x.npy", np.zeros(2, np.float32))
    np.savez("part.npz", x=arguments(0)["x"])
    np.savez("odd.npz", **{**arguments(0), "xx": np.zeros(2)})
    code, output, errors = calibrate(*words, data=data)
    assert code != 0 and output == ""
    assert message in errors and "Traceback" not in errors and "internal" not in errors


def test_it_runs_as_a_script(folder: Path) -> None:
    tool = Path(__file__).parents[3] / "tools" / "calibrate.py"
    command = [sys.executable, str(tool), PROGRAM, "--data", "data0.npz", "-o", "out.npz"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert len(arrays("out.npz")) == 7


def test_the_worked_example(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The module, the map, the module that runs, the data and the statistics are shown."""
    monkeypatch.setattr(sys, "argv", ["demo.py", "--stats", "stats.json"])
    runpy.run_path(str(EXAMPLE / "demo.py"), run_name="__main__")
    shown = capsys.readouterr().out
    assert shown.startswith("// Two regions of a small program")
    assert "g0: [(0, 2, 2)]\ng1: [(4, 2, 1)]\n" in shown
    assert "func.return %x, %y, %sum, %difference, %sum, %z, %rest :" in shown
    after = shown.partition("--- the program that is run")[2]
    assert "graph.compiler" in shown and "graph.compiler" not in after
    assert "as computed by NumPy" in shown
    assert load_statistics(folder / "stats.json")["g1"]["outputs"][0].count == 5 * 64


def test_the_example_of_a_partitioned_network(capsys: pytest.CaptureFixture[str]) -> None:
    """The ranges are those of the network's logits as they were stored with it."""
    runpy.run_path(str(EXAMPLE / "partitioned_mlp.py"), run_name="__main__")
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("openblas_")]
    assert [line.partition(":")[0] for line in lines] == [
        f"openblas_matmul_add_{number} {value}"
        for number in (0, 1)
        for value in ("input 0", "input 1", "input 2", "output 0")
    ]
    with np.load(EXAMPLE.parent / "mnist_mlp" / "mnist_100_test.npz") as file:
        logits = file["logits"]
    found = re.search(r"10 batches, from (\S+) to (\S+),", lines[-1])
    assert found is not None
    assert float(found[1]) == pytest.approx(logits.min(), abs=1e-3)
    assert float(found[2]) == pytest.approx(logits.max(), abs=1e-3)


# docs/calibration.md

PAGE = (EXAMPLE.parents[1] / "docs" / "calibration.md").read_text()
COMMANDS = [line for line in PAGE.splitlines() if line.startswith("stepwell-")]


def test_the_python_lines_of_the_page_work(folder: Path) -> None:
    (folder / "model.mlir").write_text(Path(PROGRAM).read_text())
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    scope: dict[str, Any] = {**arguments(0), "batches": [arguments(seed) for seed in range(3)]}
    exec(code, scope)
    np.testing.assert_array_equal(scope["several"]["g0"]["inputs"][0][0], scope["x"])
    assert scope["ranges"]["g1"]["outputs"][0].count == 192


@pytest.mark.parametrize("line", COMMANDS)
def test_the_commands_of_the_page_work(folder: Path, line: str) -> None:
    (folder / "model.mlir").write_text(Path(PROGRAM).read_text())
    for name in ("batch", "batch0", "batch1"):
        np.savez(folder / f"{name}.npz", **arguments(0))
    text = b""
    for part in line.split(" | "):
        words = shlex.split(part)
        tool = {"stepwell-calibrate": main, "stepwell-opt": opt_main}[words[0]]
        finished = call_tool(tool, Command(words), text)
        assert (finished.exit_code, finished.stderr) == (0, b"")
        text = finished.stdout
    written = [word for word in shlex.split(line) if word in ("data.npz", "stats.json")]
    assert all((folder / name).stat().st_size for name in written) and (written or b"g0/in0" in text)
