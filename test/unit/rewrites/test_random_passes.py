"""
Every graph pass on random programs: the result is valid, prints and parses, computes the same, is a fixed point of the
pass, and the program that was given stays as it was. That a pass changes enough of the programs is asserted too.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from counts import FULL
from random_pass_cases import CASES, PassCase, check_results, written_table
from stepwell.core.ir.verification import verify_module
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.core.text.parsing import parse_text
from stepwell.testing.graphs.maker import CTX, Flavour, Graph
from stepwell.testing.graphs.random_graph import random_graph
from xdsl.utils.exceptions import PassFailedException

GRAPHS = 320 if FULL else 6
"""Programs per pass and flavour; few of them are followed by more until the pass has changed one."""
MOST_GRAPHS = 320 if FULL else 60


@cache
def graph_of(seed: int, flavour: Flavour) -> Graph:
    return random_graph(seed, flavour)


@pytest.fixture(autouse=True)
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    return written_table(tmp_path, monkeypatch)


def check(case: PassCase, graph: Graph, table: str) -> bool:
    """Checks one pass on one program; whether it changed anything."""
    before = str(graph.module)
    made = case.apply(graph.module, table)
    assert str(graph.module) == before, "the module that was given changed"
    verify_module(made)
    text = str(made)
    again = parse_text(CTX, text)
    assert str(again) == text, "printed and parsed"
    if text == before:
        return False
    check_results(graph, made, case.numerics, keeps_failures=case.keeps_failures)
    if not case.again:
        assert str(case.apply(again, table)) == text, "a second run changes something"
    return True


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.pipeline}-{case.numerics}")
def test_pass(case: PassCase, table: str) -> None:
    changed = checked = 0
    for flavour in case.flavours:
        for seed in range(MOST_GRAPHS):
            if seed >= GRAPHS and changed:
                break
            graph = graph_of(seed, flavour)
            try:
                changed += check(case, graph, table)
            except Exception as error:
                raise AssertionError(f"{flavour} program {seed}: {error}\n{graph.module}") from error
            checked += 1
    share = case.least if FULL else 1 / MOST_GRAPHS
    assert changed >= share * checked, f"only {changed} programs of {checked} changed"


def test_placement_is_checked() -> None:
    """`check-lca-placement` accepts what `sink-to-lca` would leave alone, and refuses what it would move."""
    check_, sink = parse_pipeline("check-lca-placement"), parse_pipeline("sink-to-lca")
    refused = 0
    for seed in range(MOST_GRAPHS):
        module = graph_of(seed, "any").module
        before = str(module)
        sunk = sink[0](module)  # pyright: ignore
        try:
            check_[0](module)  # pyright: ignore
        except PassFailedException:
            refused += 1
        else:
            assert str(sunk) == before
        assert str(module) == before
    assert refused >= MOST_GRAPHS / 10
