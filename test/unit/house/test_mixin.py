"""The example package: installed by pip into an empty directory, its own tests pass with the stock tools."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[3] / "examples" / "mixin_dialect"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which the package is installed."""
    import shutil

    source = tmp_path_factory.mktemp("source") / "package"
    shutil.copytree(EXAMPLE, source, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__", "Output"))
    target = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--target", str(target), str(source)], check=True, capture_output=True)
    return {**os.environ, "PYTHONPATH": str(target)}


def run(environment: dict[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", *command], env=environment, capture_output=True, text=True)


def test_its_own_tests_pass(environment: dict[str, str]) -> None:
    lit = [sys.executable, "-c", "from lit.main import main; main()", "-j1", str(EXAMPLE / "test")]
    done = subprocess.run(lit, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and "(100.00%)" in done.stdout, done.stdout + done.stderr


def test_the_tools_list_and_explain_it(environment: dict[str, str]) -> None:
    assert "stepwell-quaternion" in run(environment, "stepwell.tools.opt", "--list-plugins").stdout
    assert "Hamilton product" in run(environment, "stepwell.tools.opt", "--explain-op", "quaternion.mul").stdout


def test_without_it_the_dialect_is_unknown() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "stepwell.tools.opt", str(EXAMPLE / "test" / "mul.mlir")],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "op 'quaternion.mul' is unknown: there is no dialect 'quaternion'" in done.stderr
