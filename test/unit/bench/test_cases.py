"""bench/cases.json: it holds every case that the acceptance list asks for, and every one has a description."""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest

BENCH = Path(__file__).resolve().parents[3] / "bench"
sys.path.insert(0, str(BENCH))

from suite.programs import describe, load_cases, load_classes  # noqa: E402
from suite.vocabulary import Program  # noqa: E402

CASES: dict[str, dict[str, Any]] = {case["name"]: case for case in load_cases()}


def sizes_of(kind: str, **given: Any) -> set[tuple[int, ...]]:
    """The sizes of the cases of a kind whose other fields are as given."""
    return {
        tuple(case["sizes"])
        for case in CASES.values()
        if case["kind"] == kind and all(case[name] == value for name, value in given.items())
    }


def test_names_are_unique_and_classes_known():
    cases = load_cases()
    assert len({case["name"] for case in cases}) == len(cases)
    assert {case["class"] for case in cases} == set(load_classes())


def test_every_case_of_the_issue_is_there():
    assert {(n, n, n) for n in (128, 256, 512, 768, 1024, 2048)} <= sizes_of("gemm")
    assert set(product((100, 768, 1000), repeat=3)) <= sizes_of("gemm")
    assert {1, 4, 16, 64} == {m for m, _, _ in sizes_of("linear")}
    rows = {(128, 1024), (512, 768), (64, 4096), (1024, 128), (512, 1024)}
    assert sizes_of("unary", op="softmax") == sizes_of("layer_norm") == rows
    for op in ("exp", "tanh", "erf", "gelu", "gelu_tanh", "sigmoid", "silu", "relu"):
        assert sizes_of("unary", op=op) == {(1 << 16,), (1 << 20,)}
    assert sizes_of("mlp") == {(batch, 784, 128, 10) for batch in (1, 8, 256)}
    assert sizes_of("encoder_layer") == {(1, 128, 384), (1, 128, 768)}


@pytest.mark.parametrize("kind", ["conv", "depthwise"])
def test_convolutions_come_with_batch_1_and_8(kind: str):
    found = sizes_of(kind)
    batches = {sizes[1:]: {other[0] for other in found if other[1:] == sizes[1:]} for sizes in found}
    assert set(map(frozenset, batches.values())) == {frozenset({1, 8})}
    assert any(sizes[1] % 2 for sizes in found)


def test_grouped_convolutions_of_the_issue():
    """3x3, stride 1 and 2, 14 to 56 pixels, 4 to 64 channels a group, 1 and 8 images."""
    cases = [case for case in CASES.values() if case["class"] == "C2-grouped"]
    inside = {case["sizes"][1] // case["groups"] for case in cases}
    assert min(inside) == 4 and max(inside) == 64
    for place, expected in ((0, {1, 8}), (3, {14, 28, 56}), (4, {3}), (5, {1, 2})):
        assert {case["sizes"][place] for case in cases} == expected


@pytest.mark.parametrize("name", CASES)
def test_every_case_has_a_description(name: str):
    program = describe(CASES[name])
    assert program.outputs and program.bytes > 0
    assert all(extent > 0 for node in program.nodes for extent in node.result.shape)


def test_work_is_counted():
    program = Program()
    x = program.input(1, 8, 6, 6)
    y = program.conv(x, 16, 3, stride=2)
    assert y.shape == (1, 16, 3, 3)
    assert program.flops == 2 * 16 * 9 * 8 * 9
    program.outputs = [y]
    assert program.bytes == 4 * (8 * 36 + 16 * 8 * 9 + 16 + 16 * 9)
