"""The engines of bench/: programs of every node give NumPy's results."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

BENCH = Path(__file__).resolve().parents[3] / "bench"
sys.path.insert(0, str(BENCH))

from suite import programs  # noqa: E402
from suite.engine import Unsupported, load_engine  # noqa: E402
from suite.reference import TOLERANCE, evaluate, make_arrays, relative_error  # noqa: E402

SMALL: list[dict[str, Any]] = [
    {"kind": "gemm", "sizes": [5, 7, 9]},
    {"kind": "linear", "sizes": [3, 17, 8]},
    {"kind": "int8_gemm", "sizes": [8, 8, 16], "dtype": "i8"},
    {"kind": "conv", "sizes": [2, 3, 5, 7, 3, 2]},
    {"kind": "conv", "sizes": [1, 6, 4, 5, 1, 1]},
    {"kind": "depthwise", "sizes": [2, 6, 6, 5, 3, 1]},
    {"kind": "grouped", "sizes": [2, 6, 4, 5, 3, 2], "groups": 2},
    {"kind": "grouped", "sizes": [1, 3, 6, 4, 3, 1], "groups": 3},
    {"kind": "layer_norm", "sizes": [4, 24]},
    {"kind": "chain", "sizes": [40]},
    {"kind": "transpose", "sizes": [6, 10]},
    {"kind": "sum", "sizes": [6, 10], "axis": 0},
    {"kind": "sum", "sizes": [6, 10], "axis": 1},
    {"kind": "mlp", "sizes": [2, 12, 8, 4]},
    {"kind": "resnet_block", "sizes": [1, 4, 6]},
    {"kind": "mobilenet_block", "sizes": [1, 4, 6, 3]},
    {"kind": "encoder_layer", "sizes": [1, 6, 24]},
    *(
        {"kind": "unary", "sizes": [3, 21], "op": op}
        for op in (
            "exp",
            "tanh",
            "erf",
            "gelu",
            "gelu_tanh",
            "sigmoid",
            "silu",
            "relu",
            "softmax",
            "identity",
        )
    ),
]
"""Every kind, in sizes that take no time."""


def case_name(case: dict[str, Any]) -> str:
    return "_".join([case["kind"], case.get("op", ""), *map(str, case["sizes"])])


def results(engine: str, case: dict[str, Any]) -> list[tuple[str, float]]:
    """Names and errors of the variants; none when the engine lacks an op."""
    program = programs.describe(case)
    arrays = make_arrays(program, case_name(case))
    expected = evaluate(program, arrays)
    found: list[tuple[str, float]] = []
    for variant in load_engine(engine)(program, arrays):
        if isinstance(variant, Unsupported):
            continue
        if isinstance(variant, Exception):
            raise variant
        variant.call()
        found.append((variant.name, max(map(relative_error, variant.outputs(), expected))))
    return found


@pytest.mark.ci_cases(5)
@pytest.mark.parametrize("case", SMALL, ids=case_name)
@pytest.mark.parametrize("engine", ["stepwell", "numpy"])
def test_results_are_right(engine: str, case: dict[str, Any]):
    found = results(engine, case)
    assert found or engine == "numpy", "ours runs every case"
    for variant, error in found:
        assert error < TOLERANCE, variant


PEER_SCRIPT = """
import json, sys
sys.path[:0] = json.loads(sys.argv[1])
from test_engines import SMALL, TOLERANCE, case_name, results
for case in SMALL:
    found = results(sys.argv[2], case)
    assert found, case_name(case)
    assert min(error for _, error in found) < TOLERANCE, (case_name(case), found)
"""


@pytest.mark.parametrize("engine", ["torch", "onnxruntime", "openvino"])
def test_results_of_peers_are_right(engine: str):
    """In a process of its own, where the peer is installed: these libraries start threads."""
    if find_spec(engine) is None or find_spec("onnx") is None:
        with pytest.raises(ImportError):
            load_engine(engine)
        return
    folders = json.dumps([str(BENCH), str(Path(__file__).parent), str(Path(__file__).parents[2] / "support")])
    subprocess.run([sys.executable, "-c", PEER_SCRIPT, folders, engine], check=True, timeout=300)


def test_the_data_of_a_case_is_the_same_on_every_call():
    program = programs.describe({"kind": "mlp", "sizes": [2, 12, 8, 4]})
    first, second = make_arrays(program, "mlp"), make_arrays(program, "mlp")
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_errors_are_relative_to_the_greatest_element():
    expected = np.array([100.0, 0.0])
    assert relative_error(np.array([100.0, 1.0]), expected) == pytest.approx(0.01)
    assert relative_error(np.array([100.0, np.nan]), expected) == np.inf
    assert relative_error(np.array([100.0]), expected) == np.inf
