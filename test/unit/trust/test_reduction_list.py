"""A few of the programs of test/trust/reduction.py, which `python test/trust/reduction.py` reduces all."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from counts import FULL

SCRIPT = Path(__file__).parents[2] / "trust" / "reduction.py"


@pytest.fixture(scope="module")
def script() -> Any:
    """The names of the script. Its data classes look for their module by name."""
    name = "reduction_list"
    module = type(sys)(name)
    sys.modules[name] = module
    vars(module).update({"__file__": str(SCRIPT)})
    exec(compile(SCRIPT.read_text(), str(SCRIPT), "exec"), vars(module))
    yield module
    del sys.modules[name]


def test_the_list_has_forty_programs(script: Any):
    assert len(script.CASES) == len(set(script.CASES)) == 40
    assert {each.size for each in script.CASES} <= set(range(100, 3001))


@pytest.mark.parametrize("number", [0, 9, 17, 25, 32] if FULL else [0, 25])
def test_a_program_becomes_small(number: int, script: Any, tmp_path: Path):
    ops, least, _, _ = script.reduced(script.CASES[number], tmp_path, 2)
    assert ops == least
