"""What `compile` takes: paths, schedules, models, passes as objects; and what it says of anything else."""

from __future__ import annotations

import pickle
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stepwell
from stepwell.core import StepwellPass
from stepwell.dialects import graph
from stepwell.runtime import ArgumentError, CompileError
from stepwell.schedule import Schedule
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

TEXT = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.relu %x : (tensor<4xf32>)
  func.return %0 : tensor<4xf32>
}
"""
LOOPS = """
tensor_loop.func @main(%A: memref<8xf32>) outs(%B: memref<8xf32>) {
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "double" spatial(%vi in 8 = %i) {
      %a = memref.load %A[%vi] : memref<8xf32>
      %b = arith.addf %a, %a : f32
      memref.store %b, %B[%vi] : memref<8xf32>
    }
  }
}
"""
X = np.array([-1, 0, 1, 2], np.float32)


@dataclass(frozen=True)
class ReluToExpPass(StepwellPass):
    """Makes every relu an exp, so that one sees whether it ran."""

    name = "relu-to-exp"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in list(op.walk()):
            if isinstance(each, graph.ReluOp):
                new = graph.ExpOp(each.operands[0])
                assert each.parent is not None
                each.parent.insert_op_before(new, each)
                each.results[0].replace_all_uses_with(new.results[0])
                each.detach()
                each.erase()


@pytest.mark.ci_cases(5)
@pytest.mark.parametrize("text", [TEXT, TEXT.replace("<4x", "<?x")], ids=["static", "dynamic"])
@pytest.mark.parametrize(
    "pipeline",
    [
        ReluToExpPass(),
        [ReluToExpPass()],
        [ReluToExpPass(), "O3"],
        ["canonicalize", ReluToExpPass(), "simplify-expr", "O1"],
    ],
    ids=str,
)
def test_passes_may_be_objects(text: str, pipeline: Any):
    module = stepwell.parse(text)
    exe = stepwell.compile(module, pipeline=pipeline)
    np.testing.assert_allclose(exe(X)[0], np.exp(X), rtol=1e-6)
    assert "graph.exp" in exe.ir("graph", None if "?" not in text else ((4,),))
    assert "graph.relu" in str(module), "the module is not changed"


def test_a_pipeline_of_texts_is_their_sequence():
    exe = stepwell.compile(TEXT, pipeline=["simplify-expr", "O1"])
    assert exe(X)[0].tolist() == [0, 0, 1, 2]


def test_a_program_with_passes_of_its_own_is_saved_as_they_left_it(tmp_path: Path):
    stepwell.compile(TEXT, pipeline=[ReluToExpPass(), "O3"]).save(tmp_path / "m.stepwell")
    np.testing.assert_allclose(stepwell.load(tmp_path / "m.stepwell")(X)[0], np.exp(X), rtol=1e-6)


def test_a_schedule_stands_for_the_module_it_schedules():
    schedule = Schedule(stepwell.parse(LOOPS))
    (loop,) = schedule.get_loops(schedule.get_block("double", "main"))
    schedule.split(loop, [2, 4])
    exe = stepwell.compile(schedule)
    x = np.arange(8, dtype=np.float32)
    assert exe(x)[0].tolist() == (2 * x).tolist()


def test_paths_and_functions(tmp_path: Path):
    (tmp_path / "m.mlir").write_text(TEXT)
    function = next(iter(stepwell.parse(TEXT).body.ops))
    for given in (tmp_path / "m.mlir", str(tmp_path / "m.mlir"), TEXT, function):
        assert stepwell.compile(given)(X)[0].tolist() == [0, 0, 1, 2]


class Linear:
    """Stands for a module of PyTorch."""

    __module__ = "torch.nn"


class Net(Linear):
    """Stands for a module of the user's own."""


class Model:
    """Stands for a model of another framework."""

    __module__ = "keras.models"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            Linear(),
            "found a torch.nn.Linear, expected a module, a function, a schedule, a path or program text; "
            "use stepwell.compile_torch",
        ),
        (
            Net(),
            f"found a {Net.__module__}.Net, expected a module, a function, a schedule, a path or program text; "
            "use stepwell.compile_torch",
        ),
        (
            Model(),
            "found a keras.models.Model, expected a module, a function, a schedule, a path or program text; "
            "export it to ONNX first",
        ),
        (3, "found an int, expected a module, a function, a schedule, a path or program text"),
        (b"module", "found a bytes, expected a module"),
        (None, "found a NoneType, expected a module"),
    ],
)
def test_what_is_no_program(given: Any, said: str):
    with pytest.raises(CompileError, match=f"^{re.escape(said)}"):
        stepwell.compile(given)


def test_what_is_no_pass():
    for wrong, said in ((ReluToExpPass, "make an object of the class"), (7, "sequence 'pipeline' contains int")):
        with pytest.raises(stepwell.StepwellError, match=said):
            stepwell.compile(TEXT, pipeline=[wrong])  # pyright: ignore[reportArgumentType]


def test_models_take_no_entry_and_no_weights():
    for options, what in (
        ({"entry": "f"}, "another entry"),
        ({"weights": {}}, "weights="),
        ({"pipeline": [ReluToExpPass()]}, "passes"),
    ):
        with pytest.raises(CompileError, match=f"a model has no use for {what}.*: import it by from_onnx"):
            stepwell.compile("model.onnx", **options)


def test_an_entry_may_take_and_return_nothing() -> None:
    text = "func.func @main() {\n  func.call @other() : () -> ()\n  func.return\n}\n"
    exe = stepwell.compile(text + "func.func @other() {\n  func.return\n}\n")
    assert exe() == exe["other"]() == pickle.loads(pickle.dumps(exe))() == ()
    exe.run_into([])
    with pytest.raises(ArgumentError, match="'main' takes no arguments, found 1|'main' takes 0 arguments"):
        exe(1)
