"""A sample of the planted faults and of the right programs that `make test-trust` looks at whole."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

TRUST = Path(__file__).parents[2] / "trust"


@pytest.fixture(scope="module", autouse=True)
def on_the_path() -> Iterator[None]:
    """Puts the scripts of test/trust on the path."""
    folders = [str(TRUST), str(TRUST / "faults")]
    sys.path[:0] = folders
    yield
    for each in folders:
        sys.path.remove(each)


@pytest.fixture(scope="module")
def faults() -> dict[str, Any]:
    from planting import FAULTS  # pyright: ignore[reportMissingImports]

    return FAULTS


def test_the_list_is_long_and_each_fault_can_be_planted(faults: dict[str, Any]):
    from planting import PACKAGE, planted  # pyright: ignore[reportMissingImports]
    from stepwell.rewrites.shipped import SHIPPED
    from stepwell.universe import PASSES

    assert len(faults) >= 60
    assert {Path(each.file).stem for each in faults.values()} >= SHIPPED.keys() - {"cse"}
    for fault in faults.values():
        assert (PACKAGE / fault.file).is_file() and fault.pass_ in PASSES and fault.programs
        with planted(fault):
            pass


def test_a_fault_that_stands_nowhere_is_refused(faults: dict[str, Any]):
    from dataclasses import replace

    from planting import planted  # pyright: ignore[reportMissingImports]

    fault = replace(next(iter(faults.values())), old="no such text")
    with pytest.raises(LookupError, match="has its text 0 times, expected once"), planted(fault):
        pass


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize(
    "name",
    [
        "and-without-opposite-is-or",
        "wrong-order-of-results",
        "other-branch-is-taken",
        "last-maximum",
        "softmax-without-maximum",
    ],
)
def test_a_fault_is_found(name: str, faults: dict[str, Any]):
    from planted import MOST_RUNS, first_that_shows  # pyright: ignore[reportMissingImports]

    _, found = first_that_shows(faults[name])
    assert found.names_pass(faults[name]) and found.names_application(faults[name])
    assert found.runs <= MOST_RUNS


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("seed, level", [(0, "O0"), (1, "O1"), (3, "O2"), (6, "O3")])
def test_no_right_program_is_blamed(seed: int, level: str):
    from alarms import alarms_of, random_module  # pyright: ignore[reportMissingImports]

    alarm, check = alarms_of(f"random program {seed}", random_module(seed), level)
    assert alarm is None and check.counts.changed > 0
