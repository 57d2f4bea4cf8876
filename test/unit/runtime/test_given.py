"""Options, shapes, rounds and tolerances that are wrong, and sizes of arguments that do not agree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stepwell
from stepwell.runtime.errors import ArgumentError, CompileError

RELU = """func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = graph.relu %x : (tensor<?x4xf32>) -> tensor<?x4xf32>
  func.return %0 : tensor<?x4xf32>
}
"""
ADD = """func.func @main(%x: tensor<?xf32> {stepwell.dims = ["n"]}, %y: tensor<?xf32> {stepwell.dims = ["n"]})
    -> tensor<?xf32> {
  %0 = graph.add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  func.return %0 : tensor<?xf32>
}
"""


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"target": 5}, "the target is 5, expected the name of a machine"),
        ({"pipeline": 3}, "pipeline is 3, expected text, a pass, or a list of these"),
        ({"opt_level": 2.0}, "opt_level is 2.0, expected 0, 1, 2 or 3"),
        ({"opt_level": True}, "opt_level is True, expected 0, 1, 2 or 3"),
        ({"tuning": 5}, "tuning is 5, expected a tuning database, False or None"),
    ],
)
def test_options(given: dict[str, Any], message: str) -> None:
    with pytest.raises(CompileError, match=message):
        stepwell.compile(RELU, **given)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (3, r"shapes is 3, expected one shape per input \(x\)"),
        (((2, 4), (2, 4)), "'main' takes 1 argument"),
        ((3,), r"the shape of 'x' is 3, expected tensor<\?x4xf32>"),
        (((2, 5),), r"the shape of 'x' is 2x5, expected tensor<\?x4xf32>"),
        (((2,),), r"the shape of 'x' is 2, expected tensor<\?x4xf32>"),
        *[
            (((size, 4),), f"the shape of 'x' has size {size}, expected an integer from 0 to 2\\^63 - 1")
            for size in (-9, 2**63, 2.0, None, True)
        ],
    ],
)
def test_shapes(shapes: Any, message: str, tmp_path: Path) -> None:
    exe = stepwell.compile(RELU)
    for use in (
        exe.prepare,
        exe.memory_for,
        lambda given: exe.ir("scf", given),
        lambda given: exe.export(tmp_path / "m.o", shapes=given),
        exe.schedule,
    ):
        with pytest.raises(ArgumentError, match=message):
            use(shapes)
    assert not exe.programs()


def test_lists_are_shapes_too() -> None:
    exe = stepwell.compile(RELU)
    exe.prepare([[np.int64(2), 4]])  # pyright: ignore[reportArgumentType]
    assert list(exe.programs()) == [((2, 4),)]
    known = stepwell.compile(RELU.replace("?", "2"))
    known.prepare(((2, 4),))
    with pytest.raises(ArgumentError, match="the shape of 'x' is 3x4, expected tensor<2x4xf32>"):
        known.prepare(((3, 4),))


def test_a_level_below_the_graph_asks_for_shapes() -> None:
    exe = stepwell.compile(RELU)
    message = r"@main takes arrays of unknown sizes \(\?\): give shapes=, one per input"
    with pytest.raises(CompileError, match=message):
        exe.ir("scf")
    with pytest.raises(CompileError, match=message):
        _ = exe.memory
    assert "graph.relu" in exe.ir("graph")


def test_rounds_tolerance_and_machines(tmp_path: Path) -> None:
    exe, x = stepwell.compile(RELU), np.ones((2, 4), np.float32)
    for rounds in (0, -1, 1.5, True, "x"):
        with pytest.raises(
            ArgumentError, match=f"the number of rounds is {rounds!r}, expected (at least 1|an integer)"
        ):
            exe.profile(x, rounds=rounds)  # pyright: ignore[reportArgumentType]
    for tolerance in (-1, float("nan"), "x", True):
        with pytest.raises(ArgumentError, match=f"the tolerance is {tolerance!r}, expected a number of at least 0"):
            exe.trace(x, tolerance=tolerance)  # pyright: ignore[reportArgumentType]
    for cpu in (5, [5]):
        with pytest.raises(ArgumentError, match="cpu is .*5.*, expected names of machines"):
            exe.save(tmp_path / "m.stepwell", cpu=cpu)  # pyright: ignore[reportArgumentType]
    assert not list(tmp_path.iterdir())


def test_sizes_that_do_not_agree_are_an_argument_error() -> None:
    exe, two, three = stepwell.compile(ADD), np.ones(2, np.float32), np.ones(3, np.float32)
    message = "dimension 'n' is 2 .dimension 0 of argument 0. and 3 .dimension 0 of argument 1."
    for use in (exe, exe.apart, lambda *given: exe.run_into([two], *given), exe.trace, exe.profile):
        with pytest.raises(ArgumentError, match=message):
            use(two, three)
    with pytest.raises(ArgumentError, match=message):
        exe.prepare(((2,), (3,)))
    assert exe(two, two)[0].tolist() == [2, 2]
