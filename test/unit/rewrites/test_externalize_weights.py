"""Constants move to a side-car and back, by passes and by the flags of the tool."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.passes.base import StepwellPass
from stepwell.core.text.parsing import make_context, parse
from stepwell.core.weights import open_weights, write_weights
from stepwell.dialects.graph import ConstantOp, WeightOp
from stepwell.rewrites.constants.externalize_weights import (
    ExternalizeWeightsPass,
    InlineWeightsPass,
    VerifyWeightsPass,
    recorded_path,
)
from stepwell.tools.opt import main

PROGRAM = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %w = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %b = graph.constant dense<0.5> : tensor<4xf32>
  %again = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %m = graph.constant {my.kept} dense<[true, false, true]> : tensor<3xi1>
  %0 = graph.ewise_fma %x, %w, %again : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.add %0, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
"""


def run(text: str, pass_: StepwellPass) -> str:
    module = parse(text)
    pass_.apply(make_context(), module)
    module.verify()
    return str(module)


def test_constants_move_out_and_back(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    moved = run(PROGRAM, ExternalizeWeightsPass(file=str(path), min_elements=3))
    assert f'attributes {{stepwell.weights = "{path}"}}' in moved
    assert moved.count('graph.weight "w" : tensor<4xf32>') == 2, "equal constants share a key"
    assert '%m = graph.weight {my.kept} "m" : tensor<3xi1>' in moved
    assert "%b = graph.constant dense<0.5>" in moved, "splats are small as they are"
    file = open_weights(path)
    assert sorted(file.keys()) == ["m", "w"]
    assert file.array("w").tolist() == [1.0, 2.0, 3.0, 4.0] and file.array("m").tolist() == [
        True,
        False,
        True,
    ]
    assert run(moved, InlineWeightsPass()) == str(parse(PROGRAM))
    assert run(moved, VerifyWeightsPass()) == moved


def test_small_constants_stay_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    assert run(PROGRAM, ExternalizeWeightsPass(file=str(path))) == str(parse(PROGRAM))
    assert not path.exists()


def test_existing_weights_are_copied_along(tmp_path: Path) -> None:
    old, new = tmp_path / "old.safetensors", tmp_path / "new.safetensors"
    write_weights(old, {"w": np.arange(2, dtype=np.int64), "unused": np.zeros(1, np.int8)})
    text = f"""builtin.module attributes {{stepwell.weights = "{old}"}} {{
      %k = graph.weight "w" : tensor<2xi64>
      %w = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
    }}"""
    moved = run(text, ExternalizeWeightsPass(file=str(new), min_elements=1))
    assert 'graph.weight "w" : tensor<2xi64>' in moved and 'graph.weight "w_1" : tensor<3xf32>' in moved
    file = open_weights(new)
    assert file.array("w").tolist() == [0, 1] and file.array("w_1").tolist() == [1.0, 2.0, 3.0]
    assert sorted(file.keys()) == ["w", "w_1"]


def test_large_weights_are_left_out_on_request(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    moved = run(PROGRAM, ExternalizeWeightsPass(file=str(path), min_elements=1))
    inlined = parse(run(moved, InlineWeightsPass(max_elements=3)))
    assert sum(isinstance(op, WeightOp) for op in inlined.walk()) == 2
    assert sum(isinstance(op, ConstantOp) for op in inlined.walk()) == 2
    assert "stepwell.weights" in inlined.attributes


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('%0 = graph.weight "ww" : tensor<2xf32>', "there is no tensor 'ww'"),
        ('%0 = graph.weight "w" : tensor<3xf32>', "tensor 'w' is tensor<2xf32>, expected tensor<3xf32>"),
        ('%0 = graph.weight "w" : tensor<2xi32>', "tensor 'w' is tensor<2xf32>, expected tensor<2xi32>"),
    ],
)
def test_verify_weights_points_at_the_op(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "w.safetensors"
    write_weights(path, {"w": np.zeros(2, np.float32)})
    source = tmp_path / "program.mlir"
    source.write_text(f'builtin.module attributes {{stepwell.weights = "w.safetensors"}} {{\n  {line}\n}}\n')
    finished = opt(str(source), "--verify-weights")
    assert finished[0] == 1 and message in finished[2] and f"{source}:2:3: error: 'graph.weight'" in finished[2]


def test_module_without_a_file_is_an_error() -> None:
    from xdsl.utils.exceptions import PassFailedException

    with pytest.raises((PassFailedException, StepwellError), match="the module names no weights file"):
        run('%0 = graph.weight "w" : tensor<3xf32>', VerifyWeightsPass())


def opt(*arguments: str) -> tuple[int, str, str]:
    """Exit code, output and errors of `stepwell-opt`."""
    import contextlib
    import io

    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        code = main(list(arguments))
    return code or 0, output.getvalue(), errors.getvalue()


def test_flags_of_the_tool(tmp_path: Path) -> None:
    source, folder = tmp_path / "in.mlir", tmp_path / "out"
    folder.mkdir()
    values = ", ".join(str(float(number)) for number in range(2000))
    source.write_text(f"%w = graph.constant dense<[{values}]> : tensor<2000xf32>\n")
    code, _, errors = opt(
        str(source), "-o", str(folder / "out.mlir"), "--externalize-weights", str(folder / "w.safetensors")
    )
    assert code == 0, errors
    text = (folder / "out.mlir").read_text()
    assert 'stepwell.weights = "w.safetensors"' in text, "named relative to the program"
    assert 'graph.weight "w" : tensor<2000xf32>' in text and len(text) < 200
    code, inlined, errors = opt(str(folder / "out.mlir"), "--verify-weights", "--inline-weights")
    assert code == 0 and inlined == opt(str(source))[1], errors
    code, elided, _ = opt(str(folder / "out.mlir"), "--inline-weights", "--elide-weights")
    assert code == 0 and "dense<__elided__> : tensor<2000xf32>" in elided and len(elided) < 200


def test_recorded_path() -> None:
    assert recorded_path("w.st", None) == "w.st" and recorded_path("w.st", "-") == "w.st"
    assert recorded_path("a/w.st", "a/b/out.mlir") == "../w.st"
    assert recorded_path("/w.st", "a/out.mlir") == "/w.st"
