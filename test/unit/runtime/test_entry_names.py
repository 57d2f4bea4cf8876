"""AUDIT G6: entries with names that are not plain words run and are exported, or are refused at their place."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest
import stepwell
from stepwell.core.messages.diagnostics import OperationError
from stepwell.runtime.errors import CompileError

RELU = """func.func @NAME(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}"""


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize(
    ("spelled", "name"),
    [('"a b"', "a b"), ('"ü"', "ü"), ('"x*/int"', "x*/int"), (r'"a\"b"', 'a"b'), (r'"a\\b"', "a\\b"), ('"%s"', "%s")],
)
def test_any_name_runs_and_is_exported(spelled: str, name: str, tmp_path: Path):
    program = stepwell.compile(RELU.replace("NAME", spelled), entry=name, cache=False)
    x = np.array([-1, 1, -2, 3], np.float32)
    expected = np.maximum(x, 0)
    np.testing.assert_array_equal(program(x)[0], expected)
    assert program.ir("asm")
    program.export(str(tmp_path / "net.so"))
    library = ctypes.CDLL(str(tmp_path / "net.so"))
    context, result = ctypes.c_void_p(), np.empty_like(x)
    assert library.net_load(None, ctypes.byref(context)) == 0
    inputs, outputs = ((ctypes.c_void_p * 1)(array.ctypes.data) for array in (x, result))
    assert library.net_run(context, inputs, outputs) == 0
    library.net_free(context)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    ("spelled", "name", "message"),
    [
        (
            "llvm.memcpy",
            "llvm.memcpy",
            "the name @llvm.memcpy is LLVM's own, expected one that does not begin with 'llvm.'",
        ),
        (r'"a\00b"', "a\0b", "the name has a NUL, which LLVM does not take"),
    ],
)
def test_names_that_llvm_does_not_take(spelled: str, name: str, message: str):
    with pytest.raises(OperationError) as caught:
        stepwell.compile(RELU.replace("NAME", spelled), entry=name, cache=False)
    assert caught.value.diagnostic.message == f"'func.func': {message}"
    assert str(caught.value.diagnostic.point) == "<text>:1:1"


def test_a_plain_string_is_profiled_and_specialised():
    program = stepwell.compile(RELU.replace("NAME", '"a b"').replace("<4", "<?"), entry="a b", cache=False)
    x = np.ones(4, np.float32)
    np.testing.assert_array_equal(program(x)[0], x)
    assert program.profile(x) is not None


def test_a_name_that_no_pipeline_can_spell():
    program = stepwell.compile(RELU.replace("NAME", r'"a\"b"').replace("<4", "<?"), entry='a"b', cache=False)
    with pytest.raises(CompileError) as caught:
        program(np.ones(4, np.float32))
    assert str(caught.value) == (
        'the name of entry @a"b has a quote, a backslash or a character that is not printable, '
        "expected none in a program that is profiled or has sizes ?"
    )
