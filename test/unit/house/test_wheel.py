"""The wheel, installed into an empty directory and used from another one, has everything the tools need."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

PROGRAM = """func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = graph.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = graph.relu %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = graph.softmax %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %2 : tensor<2x3xf32>
}
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment whose `stepwell` is the wheel, not the checkout."""
    source = tmp_path_factory.mktemp("source") / "stepwell"
    left_out = shutil.ignore_patterns(".*", "test", "docs", "build", "dist", "demo-output", "*.egg-info", "__pycache__")
    shutil.copytree(ROOT, source, ignore=left_out)
    target = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    done = subprocess.run([*pip, "--target", str(target), str(source)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {**os.environ, "PYTHONPATH": str(target), "STEPWELL_TEST_SITE": str(target)}


def run(environment: dict[str, str], folder: Path, *command: str) -> str:
    done = subprocess.run([sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_package_is_the_installed_one(environment: dict[str, str], tmp_path: Path) -> None:
    found = run(environment, tmp_path, "-c", "import stepwell; print(stepwell.__file__)")
    assert Path(found.strip()).parent == Path(environment["STEPWELL_TEST_SITE"]) / "stepwell"


def test_the_tools_work(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "p.mlir").write_text(PROGRAM)
    simplified = run(environment, tmp_path, "-m", "stepwell.tools.opt", "p.mlir", "-p", "simplify-expr")
    assert simplified.count("graph.relu") == 1, "the rules are package data"
    assert "llvm.func" in run(environment, tmp_path, "-m", "stepwell.tools.opt", "p.mlir", "-p", "O3")
    shown = run(environment, tmp_path, "-m", "stepwell.tools.run", "p.mlir", "--random", "0", "--no-cache")
    assert shown.startswith("result0: tensor<2x3xf32> [")


def test_type_checkers_see_the_types(environment: dict[str, str]) -> None:
    package = Path(environment["STEPWELL_TEST_SITE"]) / "stepwell"
    assert (package / "py.typed").exists()
    assert (package / "__init__.pyi").exists() and (package / "core" / "__init__.pyi").exists()


def test_the_wheel_has_the_version_of_the_package(environment: dict[str, str], tmp_path: Path) -> None:
    (metadata,) = Path(environment["STEPWELL_TEST_SITE"]).glob("stepwell-*.dist-info")
    said = run(environment, tmp_path, "-c", "import stepwell; print(stepwell.__version__)").strip()
    assert metadata.name == f"stepwell-{said}.dist-info"
