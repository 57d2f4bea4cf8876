"""The front end of PyTorch where PyTorch is not installed: it is found, and says what is missing."""

from __future__ import annotations

import sys
from importlib.metadata import entry_points

import pytest
import stepwell
from stepwell.frontends.pytorch import backend
from stepwell.frontends.pytorch.errors import TorchError


def test_the_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(TorchError) as found:
        stepwell.compile_torch(object(), ())
    assert str(found.value).startswith("error: PyTorch: the package 'torch' is not installed (")
    assert str(found.value).endswith("\nhint: install it with: pip install torch onnx onnxscript")


def test_torch_compile_finds_the_backend():
    (found,) = entry_points(group="torch_dynamo_backends", name="stepwell")
    assert found.load() is backend.stepwell


def test_options_of_the_backend():
    """They are checked before PyTorch is asked for anything."""
    for options, said in (
        ({"thread": 1}, "the backend 'stepwell' has no option 'thread'\nhint: did you mean 'threads'?"),
        (
            {"dynamic_shapes": {}},
            "the backend 'stepwell' has no option 'dynamic_shapes'\nhint: options are pipeline, opt_level, threads, "
            "numerics, cache, target, verify_each, tuning, progress",
        ),
    ):
        with pytest.raises(TorchError) as found:
            backend.stepwell(None, [], options=options)
        assert str(found.value) == f"error: torch.compile: {said}"
    with pytest.raises(TorchError, match="mode is 'max-autotune', which the backend 'stepwell' does not have"):
        backend.stepwell(None, [], mode="max-autotune")
    with pytest.raises(stepwell.runtime.CompileError, match="opt_level is 7, expected 0, 1, 2 or 3"):
        backend.stepwell(None, [], options={"opt_level": 7})
