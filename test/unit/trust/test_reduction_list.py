"""A few of the programs of test/trust/failing.py, which `python test/trust/reduction.py` reduces all."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest
from counts import FULL

SCRIPTS = Path(__file__).parents[2] / "trust"
NAMES = ("reduction", "failing", "planting", "small_models")


@pytest.fixture(scope="module")
def script():
    """The script as a module. What it imports from its folder goes again afterwards."""
    sys.path.insert(0, str(SCRIPTS))
    before = list(sys.path)
    import reduction  # pyright: ignore[reportMissingImports]

    yield reduction
    sys.path[:] = before[1:]
    for name in NAMES:
        sys.modules.pop(name, None)


def test_the_list_has_forty_programs(script: ModuleType) -> None:
    assert len(script.CASES) == len(set(script.CASES)) == 40
    assert {each.size for each in script.CASES} <= set(range(100, 3001))
    assert len({each.kind for each in script.CASES}) == 8


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("kind", ["chain", "apart", "crash", "message", "diagnostic"] if FULL else ["chain", "message"])
def test_a_program_becomes_small(kind: str, script: ModuleType, tmp_path: Path) -> None:
    case = next(each for each in script.CASES if each.kind == kind)
    ops, least, *_ = script.reduced(case, tmp_path, 2)
    assert ops == least
