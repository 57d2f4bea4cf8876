"""A small program loads what it needs alone. No times are looked at."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TYPE = "tensor<64x64xf32>"
GEMM = (
    f"func.func @main(%x: {TYPE}, %y: {TYPE}) -> {TYPE} {{\\n"
    f"%0 = graph.matmul %x, %y : ({TYPE}, {TYPE}) -> {TYPE}\\nfunc.return %0 : {TYPE}\\n}}"
)

PROGRAM = f"""
import json, sys
import numpy, stepwell
x = numpy.ones((64, 64), numpy.float32)
assert stepwell.compile("{GEMM}", tuning=False)(x, x)[0][0][0] == 64
rules = sys.modules.get("stepwell.rewrites.shipped")
read = sorted(file for file, _ in rules._READ) if rules else []
print(json.dumps([sorted(sys.modules), read]))
"""

NEVER = {
    "argparse": "no command is run",
    "email": "nobody reads mail; Python's reader of metadata does",
    "importlib.metadata": "the files of entry points say that nothing is plugged in",
    "onnx": "the program is no model",
    "stepwell.frontends.onnx.importer": "the program is no model",
    "stepwell.patterns.running.explain": "nobody asks why a rule does not match",
    "stepwell.reference": "nothing is compared",
    "stepwell.runtime.tuning": "nothing is tuned",
    "stepwell.testing": "nothing is tested",
    "xdsl.dialects.tensor": "no op of it is used",
}
"""The modules that a matrix product must not load, and why it need not."""

NEVER_FROM_CACHE = {
    "stepwell.analysis.ranges.accesses": "the program is on tensors, which have no indices",
    "stepwell.lowering.llvm": "nothing is lowered",
    "stepwell.patterns.running.driver": "no rule runs",
    "stepwell.runtime.machine_code": "nothing is compiled",
    "stepwell.schedule.default": "nothing is scheduled",
    "xdsl.dialects.llvm": "nothing is lowered",
    "xdsl.dialects.math": "nothing is lowered",
}
"""The modules that it must not load either where it is in the compile cache."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[set[str], list[str]]]:
    """The modules loaded, and the files whose rules are read, with an empty compile cache and from it."""
    environment = os.environ | {"STEPWELL_CACHE_DIR": str(tmp_path_factory.mktemp("cache"))}
    found: list[tuple[set[str], list[str]]] = []
    for _ in range(2):
        run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment)
        assert run.returncode == 0, run.stderr
        modules, files = json.loads(run.stdout)
        found.append((set(modules), files))
    return found


def loaded(modules: set[str], unwanted: dict[str, str]) -> list[str]:
    return [f"{name}: {why}" for name, why in unwanted.items() if name in modules]


def test_a_product_loads_what_it_needs(runs: list[tuple[set[str], list[str]]]):
    assert loaded(runs[0][0], NEVER) == []


def test_a_product_from_the_cache_loads_less(runs: list[tuple[set[str], list[str]]]):
    assert loaded(runs[1][0], NEVER | NEVER_FROM_CACHE) == []


def test_a_product_reads_no_rules_but_those_for_any_op(runs: list[tuple[set[str], list[str]]]):
    assert [files for _, files in runs] == [["cse"], []]


@pytest.mark.parametrize("name", [*NEVER, *NEVER_FROM_CACHE])
def test_the_names_are_those_of_modules(name: str):
    if name.startswith("stepwell."):
        path = Path(__file__).resolve().parents[3].joinpath(*name.split(".")[1:])
        assert path.is_dir() or path.with_suffix(".py").exists()
