"""Arguments of `compile_onnx`: what is wrong is said at once, and what is given stays as it was."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import stepwell
from onnx import TensorProto as T
from onnx import helper as h
from onnx_broken_models import info, model, node, tensor
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.frontends import OnnxError
from stepwell.runtime.errors import ArgumentError, CompileError


def relu() -> onnx.ModelProto:
    return model([node("Relu", "x", "y")], inputs=[info("x", ("n", 8))], outputs=[info("y", ("n", 8))])


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"opt_level": 9}, CompileError, "opt_level is 9, expected 0, 1, 2 or 3"),
        ({"opt_level": 2.0}, CompileError, "opt_level is 2.0, expected"),
        ({"opt_level": True}, CompileError, "opt_level is True, expected"),
        ({"numerics": "zz"}, CompileError, "numerics is 'zz', expected one of default, strict, fast"),
        ({"threads": 0}, CompileError, "the number of threads is 0, expected at least 1"),
        ({"pipeline": "nope"}, StepwellError, "unknown pass 'nope'"),
        ({"pipeline": 3}, CompileError, "pipeline is 3, expected text, a pass, or a list of these"),
        ({"target": 5}, CompileError, "the target is 5, expected the name of a machine"),
        ({"target": "nope"}, StepwellError, "nope"),
        ({"tuning": 5}, CompileError, "tuning is 5, expected a tuning database, False or None"),
        ({"tuning": "nope"}, CompileError, "there is no tuning database 'nope'"),
        ({"thread": 2}, TypeError, "unexpected keyword argument 'thread'"),
        ({"weights": "w"}, TypeError, "unexpected keyword argument 'weights'"),
        ({"dims": {"n": 2.5}}, OnnxError, "the size given to 'n' is 2.5, expected an integer"),
        ({"dims": {"n": True}}, OnnxError, "the size given to 'n' is True, expected an integer"),
        ({"dims": {"n": "2"}}, OnnxError, "the size given to 'n' is '2', expected an integer"),
        ({"dims": {"n": -2}}, OnnxError, "'x' has extent -2 in dimension 0, expected 0 to 2\\^40"),
        ({"constants": {"x": [1]}}, OnnxError, "the value given to input 'x' is a list, expected a numpy array"),
        ({"constants": {"x": None}}, OnnxError, "the value given to input 'x' is a NoneType, expected a numpy array"),
    ],
)
def test_wrong_arguments_are_errors_before_the_first_call(
    given: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        stepwell.compile_onnx(relu(), **given)


def test_what_is_no_model() -> None:
    for wrong, kind in ((None, "a NoneType"), (5, "an int")):
        with pytest.raises(OnnxError, match=f"it is {kind}, expected a path, bytes or an onnx.ModelProto"):
            stepwell.compile_onnx(wrong)  # pyright: ignore[reportArgumentType]


def test_shapes_rounds_and_tolerance() -> None:
    exe, x = stepwell.compile_onnx(relu()), np.ones((2, 8), np.float32)
    with pytest.raises(ArgumentError, match=r"the shape of 'x' is 2x7, expected tensor<\?x8xf32>"):
        exe.prepare(((2, 7),))
    with pytest.raises(ArgumentError, match="the shape of 'x' has size -1, expected an integer from 0"):
        exe.ir("scf", ((-1, 8),))
    with pytest.raises(ArgumentError, match="the number of rounds is 1.5, expected an integer"):
        exe.profile(x, rounds=1.5)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ArgumentError, match="the tolerance is 'x', expected a number of at least 0"):
        exe.trace(x, tolerance="x")  # pyright: ignore[reportArgumentType]
    exe.prepare([[2, 8]])  # pyright: ignore[reportArgumentType]
    assert list(exe.programs()) == [((2, 8),)]


def test_a_constant_is_copied() -> None:
    nodes, ends = [node("Add", "x w", "y")], [info("x", ("n",)), info("w", (1,))]
    value = np.ones(1, np.float32)
    exe = stepwell.compile_onnx(model(nodes, inputs=ends, outputs=[info("y", ("n",))]), constants={"w": value})
    value[:] = 9
    assert exe(np.zeros(3, np.float32))[0].tolist() == [1, 1, 1]


def put(folder: Path, value: float, external: bool) -> Path:
    """Replaces a model, or its external data, by renaming."""
    width = 64
    made = h.make_graph(
        [node("MatMul", "x w", "y")],
        "g",
        [h.make_tensor_value_info("x", T.FLOAT, ["n", width])],
        [h.make_tensor_value_info("y", T.FLOAT, ["n", width])],
        [tensor("w", np.full((width, width), value, np.float32))],
    )
    options = {"save_as_external_data": True, "location": "data.bin"} if external else {}
    new = folder / "new"
    new.mkdir()
    onnx.save(h.make_model(made, opset_imports=[h.make_opsetid("", 18)], ir_version=9), new / "m.onnx", **options)
    name = "data.bin" if external and (folder / "m.onnx").exists() else None
    for each in [new / name] if name else list(new.iterdir()):
        os.replace(each, folder / each.name)
    for each in new.iterdir():
        each.unlink()
    new.rmdir()
    return folder / "m.onnx"


@pytest.mark.parametrize("external", [False, True])
def test_a_file_that_has_changed_goes_into_no_pickle(external: bool, tmp_path: Path) -> None:
    exe = stepwell.compile_onnx(put(tmp_path, 1, external))
    x = np.ones((3, 64), np.float32)
    assert pickle.loads(pickle.dumps(exe))(x)[0][0, 0] == exe(x)[0][0, 0] == 64
    put(tmp_path, 4, external)
    changed = "data.bin" if external else "m.onnx"
    message = f"model '.*m.onnx': '{changed}' has changed since the model was compiled\nhint: compile the model again"
    with pytest.raises(OnnxError, match=message):
        pickle.dumps(exe)
    assert exe(np.ones((5, 64), np.float32))[0][0, 0] == 64


def test_external_data_that_has_changed_is_not_read(tmp_path: Path) -> None:
    exe = stepwell.compile_onnx(put(tmp_path, 1, True))
    put(tmp_path, 4, True)
    with pytest.raises(OnnxError, match="'data.bin' has changed since the model was compiled"):
        exe(np.ones((3, 64), np.float32))
