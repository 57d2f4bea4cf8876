"""
Graph passes in random orders on random programs: every step leaves a valid program, and the results stay.

Programs of the flavour `smooth` go through passes of every class and are compared within rounding, `decided` ones
through exact passes (constant folding among them) and `any` ones through exact passes that compute nothing, bit for
bit.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from counts import FULL
from random_pass_cases import CASES, PassCase, check_results, written_table
from stepwell.core.ir.verification import verify_module
from stepwell.core.text.parsing import parse_text
from stepwell.testing.graphs.maker import CTX, Flavour
from stepwell.testing.graphs.random_graph import random_graph

GRAPHS = 1200 if FULL else 30
CHUNKS = 6
MOST_PASSES = 6
FLAVOURS: tuple[Flavour, ...] = ("smooth", "any", "decided")


@pytest.fixture(autouse=True)
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    return written_table(tmp_path, monkeypatch)


def passes_for(flavour: Flavour) -> list[PassCase]:
    """The passes that programs of a flavour are compared after; no plan that is left for others to make invalid."""
    cases = [case for case in CASES if case.pipeline != "plan-fusion"]
    if flavour == "smooth":
        return cases
    exact = [case for case in cases if case.numerics == "exact"]
    return [case for case in exact if flavour == "decided" or case.flavours != ("decided",)]


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_any_order(chunk: int, table: str) -> None:
    changed = 0
    for seed in range(chunk, GRAPHS, CHUNKS):
        choose = random.Random(900_000 + seed)
        flavour = FLAVOURS[choose.randrange(3)]
        graph = random_graph(50_000 + seed, flavour)
        module, order = (
            graph.module,
            choose.choices(passes_for(flavour), k=choose.randrange(2, MOST_PASSES + 1)),
        )
        names = " ; ".join(case.pipeline for case in order)
        try:
            for case in order:
                module = case.apply(module, table)
                verify_module(module)
            assert str(parse_text(CTX, str(module))) == str(module), "printed and parsed"
            numerics = "rounding" if flavour == "smooth" else "exact"
            check_results(graph, module, numerics, keeps_failures=all(case.keeps_failures for case in order))
        except Exception as error:
            raise AssertionError(f"{flavour} program {seed}, {names}: {error}\n{graph.module}") from error
        changed += str(module) != str(graph.module)
    assert changed >= GRAPHS // CHUNKS * 3 // 4
