"""
`simplify-inference` and `canonicalize-ops`: on random instances of each op, close to the reference and idempotent.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from stepwell import reference
from stepwell.core.ir.verification import verify_module
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.reference.run import run
from stepwell.testing.programs.ir_generators import RandomChooser, batch_text
from stepwell.testing.programs.movement_generators import FAMILIES, random_case
from tolerances import check_case, check_same
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

CTX = make_context()
INSTANCES = 40
NORMS = ["batch_norm", "layer_norm", "instance_norm", "group_norm", "l2_normalize", "rms_norm", "dropout"]


def apply(pipeline: str, module: ModuleOp) -> None:
    for each in parse_pipeline(pipeline):
        each.apply(CTX, module)
        verify_module(module)


def returning_first(module: ModuleOp) -> ModuleOp:
    """`main` that returns only the first result of its op."""
    function = module.body.block.first_op
    assert isinstance(function, func.FuncOp)
    last = function.body.block.last_op
    assert last is not None
    last.operands = last.operands[:1]
    inputs, outputs = function.function_type.inputs.data, function.function_type.outputs.data
    function.function_type = type(function.function_type).from_lists(list(inputs), [outputs[0]])
    return module


def names(module: ModuleOp) -> set[str]:
    return {op.name for op in module.walk()}


def test_table_names_every_normalisation() -> None:
    assert {*NORMS, "bias_add"} == set(FAMILIES["normalization"])


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("op", NORMS)
def test_arithmetic_is_close_to_the_op(op: str) -> None:
    gone = 0
    for number in range(INSTANCES):
        case = random_case(RandomChooser(101 * number + 7), "normalization", op)
        arrays = case.arrays(number)
        module = returning_first(parse_text(CTX, batch_text([case])))
        apply("simplify-inference", module)
        gone += case.name not in names(module)
        expected = case.evaluate(arrays)
        check_case(case, arrays, [*run(module, "main", *arrays), *expected[1:]], expected)
        once = str(module)
        apply("simplify-inference", module)
        assert str(module) == once
    assert gone > INSTANCES // 2


@pytest.mark.parametrize("op", ["batch_norm", "dropout"])
def test_used_results_keep_the_op(op: str) -> None:
    case = random_case(RandomChooser(3), "normalization", op)
    module = parse_text(CTX, batch_text([case]))
    before = str(module)
    apply("simplify-inference", module)
    assert str(module) == before


def test_strict_numerics_keeps_all_but_dropout() -> None:
    cases = [random_case(RandomChooser(5), "normalization", op) for op in NORMS if op != "dropout"]
    module = parse_text(CTX, batch_text(cases))
    before = str(module)
    apply('simplify-inference{numerics="strict"}', module)
    assert str(module) == before


def test_bias_add_is_add() -> None:
    for number in range(INSTANCES):
        case = random_case(RandomChooser(13 * number + 1), "normalization", "bias_add")
        arrays = case.arrays(number)
        module = parse_text(CTX, batch_text([case]))
        apply("canonicalize-ops", module)
        assert "graph.bias_add" not in names(module)
        check_same(run(module, "main", *arrays), case.evaluate(arrays))
        once = str(module)
        apply("canonicalize-ops", module)
        assert str(module) == once


class TestReference:
    """The references of the ops by hand."""

    def test_groups_of_one_channel_are_instances(self) -> None:
        random = np.random.default_rng(0)
        x, gamma, beta = (random.standard_normal(shape) for shape in ((2, 6, 3, 4), (6,), (6,)))
        by_group = reference.evaluate("graph.group_norm", {"num_groups": 6}, x, gamma, beta)
        by_instance = reference.evaluate("graph.instance_norm", {}, x, gamma, beta)
        np.testing.assert_allclose(by_group, by_instance, rtol=1e-12)

    def test_one_group_is_the_layer(self) -> None:
        x = np.random.default_rng(1).standard_normal((2, 6, 3))
        whole = np.ones((6, 3)), np.zeros((6, 3))
        by_group = reference.evaluate("graph.group_norm", {"num_groups": 1}, x, np.ones(6), np.zeros(6))
        by_layer = reference.evaluate("graph.layer_norm", {"axes": [1, 2]}, x, *whole)
        np.testing.assert_allclose(by_group, by_layer, rtol=1e-12)

    def test_group_norm_by_hand(self) -> None:
        x = np.array([[[1.0], [3.0], [10.0], [10.0]]])
        gamma, beta = np.array([1.0, 2.0, 1.0, 1.0]), np.array([0.0, 0.5, 7.0, 8.0])
        (y,) = reference.evaluate("graph.group_norm", {"num_groups": 2, "epsilon": 0.0}, x, gamma, beta)
        np.testing.assert_array_equal(y[0, :2, 0], [-1.0, 2.5])

    def test_l2_normalize_keeps_zeros(self) -> None:
        (y,) = reference.evaluate("graph.l2_normalize", {}, np.array([[3.0, 4.0], [0.0, 0.0]]))
        np.testing.assert_array_equal(y, [[3 / math.sqrt(25), 4 / math.sqrt(25)], [0.0, 0.0]])

    def test_l2_normalize_bounds_and_does_not_add(self) -> None:
        (y,) = reference.evaluate("graph.l2_normalize", {"epsilon": 4.0}, np.array([1.0]))
        assert y[0] == 0.5

    def test_rms_norm_by_hand(self) -> None:
        x, gamma = np.array([[1.0, 7.0]]), np.array([1.0, 2.0])
        (y,) = reference.evaluate("graph.rms_norm", {"epsilon": 0.0}, x, gamma)
        np.testing.assert_array_equal(y, [[1 / 5, 14 / 5]])

    def test_dropout_drops_nothing(self) -> None:
        x = np.array([1.0, np.nan], np.float32)
        kept, mask = reference.evaluate("graph.dropout", {"rate": 0.9}, x)
        np.testing.assert_array_equal(kept, x)
        assert mask.dtype == np.bool_ and mask.all()

    def test_bias_add_along_an_axis(self) -> None:
        x = np.zeros((2, 3, 2), np.int8) + np.int8(127)
        (y,) = reference.evaluate("graph.bias_add", {"axis": -2}, x, np.array([0, 1, 2], np.int8))
        np.testing.assert_array_equal(y[1, :, 0], [127, -128, -127])
