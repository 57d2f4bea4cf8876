"""Compile time grows no faster than a program, in calls of Python functions, which are the same in each run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import FrameType

import pytest
from counts import FULL
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.lowering.llvm_text.pieces import emit_llvm_pieces

FEW = 8 if FULL else 2

ALLOWED = 1.15
"""What each further layer may cost beside those of a smaller program."""


def program(depths: Sequence[int]) -> str:
    """A product and a function of it for each depth. Their loops differ in nothing but the length of the sum."""
    arguments, lines = [], []
    kind = "tensor<24x64xf32>"
    for layer, depth in enumerate(depths):
        arguments += [f"%x{layer}: tensor<24x{depth}xf32>", f"%w{layer}: tensor<{depth}x64xf32>"]
        operands = f"(tensor<24x{depth}xf32>, tensor<{depth}x64xf32>)"
        lines.append(f"%p{layer} = graph.matmul %x{layer}, %w{layer} : {operands} -> {kind}")
        lines.append(f"%y{layer} = graph.relu %p{layer} : ({kind}) -> {kind}")
    results, kinds = ", ".join(f"%y{layer}" for layer in range(len(depths))), ", ".join([kind] * len(depths))
    head = f"func.func @main({', '.join(arguments)}) -> ({kinds}) {{"
    return "\n".join([head, *lines, f"func.return {results} : {kinds}", "}"])


def calls_of(text: str) -> int:
    """The calls of Python functions from the text of a program to that of LLVM."""
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    previous = sys.getprofile()
    sys.setprofile(count)
    try:
        context = make_context()
        module = parse_text(context, text)
        run_pipeline(context, module, "O3")
        assert "define" in "".join(emit_llvm_pieces(module))
    finally:
        sys.setprofile(previous)
    return calls


@pytest.mark.ci_cases(0)
@pytest.mark.parametrize("step", [0, 8], ids=["equal layers", "layers of other sizes"])
def test_each_layer_costs_what_the_one_before_cost(step: int) -> None:
    def calls(layers: int) -> int:
        return calls_of(program([64 + step * layer for layer in range(layers)]))

    calls(2)  # Loads modules and fills caches of attributes.
    few, twice, more = (calls(factor * FEW) for factor in (1, 2, 4))
    assert more - twice < ALLOWED * 2 * (twice - few)
