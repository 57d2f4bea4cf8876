"""`merge-prepare-functions`: like functions for different weights become one, and programs compute what they did."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import stepwell
from counts import FULL
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from stepwell.core.messages.diagnostics import OperationError
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.roles import INSTANCES
from stepwell.core.text.parsing import make_context, parse
from xdsl.dialects import func
from xdsl.dialects.builtin import DictionaryAttr

LAYERS = 6


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path))


def net(layers: int = LAYERS, last: str | None = None) -> str:
    """Products with weights of one shape, one after the other; the last weight is `last`."""
    keys = [f"w{i}" for i in range(layers)]
    if last is not None:
        keys[-1] = last
    lines = [f'%w{i} = graph.weight "{key}" : tensor<32x32xf32>' for i, key in enumerate(keys)]
    for i in range(layers):
        x = "%x" if i == 0 else f"%y{i - 1}"
        lines.append(f"%y{i} = graph.matmul {x}, %w{i} : (tensor<4x32xf32>, tensor<32x32xf32>) -> tensor<4x32xf32>")
    body = "\n".join((*lines, f"func.return %y{layers - 1} : tensor<4x32xf32>"))
    return f"func.func @main(%x: tensor<4x32xf32>) -> tensor<4x32xf32> {{\n{body}\n}}\n"


def arrays(*keys: str) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(3)
    return {key: generator.standard_normal((32, 32), dtype=np.float32) / 5 for key in keys}


def instances_after(text: str, pipeline: str) -> dict[str, list[str]]:
    """The instances of each prepare function after `pipeline`."""
    module = parse(text)
    run_pipeline(make_context(), module, pipeline)
    found: dict[str, list[str]] = {}
    for function in module.ops:
        if isinstance(function, func.FuncOp) and "stepwell.prepare" in function.attributes:
            given = function.attributes.get(INSTANCES)
            found[function.sym_name.data] = list(given.data) if isinstance(given, DictionaryAttr) else []
    return found


PIPELINE = "graph-optimize,to-loops,prepack-weights,schedule-cpu,merge-prepare-functions"


def test_like_layers_share_one_function() -> None:
    (others,) = instances_after(net(), PIPELINE).values()
    assert len(others) == LAYERS - 1


@pytest.mark.parametrize("times", ["first", "from the cache"])
def test_each_layer_has_its_own_weight(times: str) -> None:
    weights = arrays(*(f"w{i}" for i in range(LAYERS)))
    x = np.random.default_rng(4).standard_normal((4, 32), dtype=np.float32)
    expected = x.astype(np.float64)
    for i in range(LAYERS):
        expected = expected @ weights[f"w{i}"]
    if times == "from the cache":
        stepwell.compile(net(), weights=weights)
    (found,) = stepwell.compile(net(), weights=weights)(x)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_each_stair_below_runs() -> None:
    """The text after the pass and on every level under it is a program with the same results."""
    weights = arrays(*(f"w{i}" for i in range(LAYERS)))
    x = np.ones((4, 32), np.float32)
    (expected,) = stepwell.compile(net(), weights=weights)(x)
    module = parse(net())
    for piece in (
        PIPELINE,
        "bufferize",
        "lower-loops-to-scf",
        "outline-parallel-loops,expand-math",
        "guard-divisions",
    ):
        run_pipeline(make_context(), module, piece)
        assert "stepwell.instances" in str(module)
        (found,) = stepwell.compile(str(module), weights=weights)(x)
        np.testing.assert_array_equal(found, expected)


def test_keys_that_are_missing_are_an_error() -> None:
    module = parse(net(2))
    run_pipeline(make_context(), module, PIPELINE)
    text = str(module).replace('= ["w1"]', "= []")
    with pytest.raises(OperationError, match=r"'stepwell.instances' has 0 keys for @prepare_panels1, expected 1"):
        stepwell.compile(text, weights=arrays("w0", "w1"))


def test_a_missing_weight_of_an_instance_is_named() -> None:
    with pytest.raises(Exception, match="'other'"):
        stepwell.compile(net(2, last="other"), weights=arrays("w0"))


NUMBERS = st.sampled_from(["0.0", "-0.0", "1.0", "0x7FC00000", "0x7FC00001"])
SIZES = st.sampled_from([1, 2, 3])
KEYS = st.sampled_from([("a", "a"), ("a", "b")])
ATTRIBUTES = st.sampled_from(["stepwell.prepare", "stepwell.prepare, other"])
PARTS = st.tuples(NUMBERS, SIZES, KEYS, st.permutations(["%v", "%w"]).map(tuple), ATTRIBUTES)


def function_text(name: str, parts: tuple) -> str:
    number, size, keys, order, attributes = parts
    type_ = f"tensor<{size}xf32>"
    v, w = (f'graph.weight "{name}.{key}" : {type_}' for key in keys)
    results = ", ".join([type_] * 3)
    return f"""
func.func private @{name}() -> ({results}) attributes {{{attributes}}} {{
  %v = {v}
  %w = {w}
  %c = graph.constant dense<{number}> : {type_}
  func.return {", ".join(order)}, %c : {results}
}}"""


@settings(max_examples=400 if FULL else 40, deadline=None)
@given(PARTS, PARTS)
def test_functions_that_differ_are_never_merged(one: tuple, other: tuple) -> None:
    assume(one != other)
    text = function_text("one", one) + function_text("other", other)
    assert instances_after(text, "merge-prepare-functions") == {"one": [], "other": []}


@settings(max_examples=100 if FULL else 10, deadline=None)
@given(PARTS)
def test_functions_that_do_not_differ_are_merged(parts: tuple) -> None:
    text = function_text("one", parts) + function_text("other", parts)
    assert instances_after(text, "merge-prepare-functions") == {"one": ["other"]}
