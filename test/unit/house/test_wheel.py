"""The wheel, made from the source archive and installed into an empty directory, has everything the tools need."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from socket import socket
from zipfile import ZipFile

import pytest
from entry_points import installed
from followed_page import blocks, commands, follow

ROOT = Path(__file__).parents[3]

PAGES = ("get-started.md", "serving.md")

PROGRAM = """func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = graph.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = graph.relu %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = graph.softmax %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %2 : tensor<2x3xf32>
}
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree."""
    left_out = shutil.ignore_patterns(".*", "build", "dist", "demo-output", "*.egg-info", "__pycache__", "Output")
    return Path(shutil.copytree(ROOT, tmp_path_factory.mktemp("source") / "stepwell", ignore=left_out))


@pytest.fixture(scope="module")
def archives(source: Path) -> tuple[Path, Path]:
    """The source archive, and the wheel made from it."""
    made = build(source)
    return next(made.glob("*.tar.gz")), next(made.glob("*.whl"))


def build(source: Path, *flags: str) -> Path:
    """Runs the tool `build` on a tree, and returns the folder with what it made."""
    command = [sys.executable, "-m", "build", "--no-isolation", *flags, "."]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    done = subprocess.run(command, cwd=source, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "would be ignored" not in done.stderr, "a folder with package data is no listed package"
    return source / "dist"


@pytest.fixture(scope="module")
def environment(archives: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment whose `stepwell` and commands are those of the wheel, not of the checkout."""
    target = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    done = subprocess.run([*pip, "--target", str(target), str(archives[1])], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    path = os.pathsep.join([str(target / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "PYTHONPATH": str(target), "STEPWELL_TEST_SITE": str(target)}


def run(environment: dict[str, str], folder: Path, *command: str) -> str:
    done = subprocess.run([sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_source_archive_has_docs_and_tests(archives: tuple[Path, Path]) -> None:
    with tarfile.open(archives[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"docs/get-started.md", "docs/decisions", "examples/serving/app.py", "test/full.py", "Makefile"} <= names
    assert not [name for name in names if "__pycache__" in name or name.startswith(".git/")]


@pytest.mark.ci_cases(0)
def test_the_wheel_is_the_same_twice(source: Path, archives: tuple[Path, Path]) -> None:
    first = archives[1].read_bytes()
    for path in source.rglob("*.py"):
        os.utime(path, (1_600_000_000, 1_600_000_000))
    shutil.rmtree(source / "build", ignore_errors=True)
    shutil.rmtree(source / "dist")
    (second,) = build(source, "--wheel").glob("*.whl")
    assert second.read_bytes() == first


def test_the_wheel_has_what_it_runs_and_what_it_shows(archives: tuple[Path, Path]) -> None:
    rooms = {name.split("/")[1] for name in ZipFile(archives[1]).namelist() if name.startswith("stepwell/")}
    assert {"docs", "examples", "py.typed"} <= rooms and not {"test", "bench"} & rooms


@pytest.mark.ci_cases(0)
@pytest.mark.parametrize("page", PAGES)
def test_whoever_copies_the_blocks_of_a_page_succeeds(environment: dict[str, str], tmp_path: Path, page: str) -> None:
    """In an empty folder, without a checkout. What a page installs is there."""
    environment = {**environment, "STEPWELL_CACHE_DIR": str(tmp_path / "cache")}
    (tmp_path / "here").mkdir()
    shipped = Path(environment["STEPWELL_TEST_SITE"]) / "stepwell" / "docs" / page
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (tmp_path / page).write_text(re.sub(r"\b8000\b", str(port), shipped.read_text(encoding="utf-8")))
    follow(tmp_path / page, tmp_path / "here", environment)


def test_the_first_page_has_five_commands(archives: tuple[Path, Path]) -> None:
    assert len(commands((ROOT / "docs" / "get-started.md").read_text(encoding="utf-8"))) <= 5


@pytest.mark.ci_cases(0)
def test_examples_are_listed_and_copied(environment: dict[str, str], tmp_path: Path) -> None:
    listed = run(environment, tmp_path, "-m", "stepwell.tools.example")
    assert "serving            A server for a model\n" in listed
    run(environment, tmp_path, "-m", "stepwell.tools.example", "schedules", "-o", "mine")
    assert (tmp_path / "mine" / "gemm.py").read_text() == (ROOT / "examples/schedules/gemm.py").read_text()


def test_the_package_is_the_installed_one(environment: dict[str, str], tmp_path: Path) -> None:
    found = run(environment, tmp_path, "-c", "import stepwell; print(stepwell.__file__)")
    assert Path(found.strip()).parent == Path(environment["STEPWELL_TEST_SITE"]) / "stepwell"


@pytest.mark.ci_cases(0)
def test_the_tools_work(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "p.mlir").write_text(PROGRAM)
    simplified = run(environment, tmp_path, "-m", "stepwell.tools.opt", "p.mlir", "-p", "simplify-expr")
    assert simplified.count("graph.relu") == 1, "the rules are package data"
    assert "llvm.func" in run(environment, tmp_path, "-m", "stepwell.tools.opt", "p.mlir", "-p", "O3")
    shown = run(environment, tmp_path, "-m", "stepwell.tools.run", "p.mlir", "--random", "0", "--no-cache")
    assert shown.startswith("result0: tensor<2x3xf32> [")


@pytest.mark.ci_cases(0)
def test_type_checkers_see_the_types(environment: dict[str, str]) -> None:
    package = Path(environment["STEPWELL_TEST_SITE"]) / "stepwell"
    assert (package / "py.typed").exists()
    assert (package / "__init__.pyi").exists() and (package / "core" / "__init__.pyi").exists()


def test_the_wheel_has_the_version_of_the_package(environment: dict[str, str], tmp_path: Path) -> None:
    (metadata,) = Path(environment["STEPWELL_TEST_SITE"]).glob("stepwell-*.dist-info")
    said = run(environment, tmp_path, "-c", "import stepwell; print(stepwell.__version__)").strip()
    assert metadata.name == f"stepwell-{said}.dist-info"


EXTENDING = ROOT / "docs" / "extending.md"
EXAMPLE = ROOT / "examples" / "mixin_dialect"


@pytest.mark.ci_cases(0)
def test_a_package_is_made_by_copying_the_blocks_of_extending(environment: dict[str, str], tmp_path: Path) -> None:
    saved = {block.file: block.text for block in blocks(EXTENDING.read_text(encoding="utf-8")) if block.file}
    installed(saved["pyproject.toml"], tmp_path)
    site = environment["STEPWELL_TEST_SITE"]
    own = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{site}", "STEPWELL_CACHE_DIR": str(tmp_path / "cache")}
    printed = follow(EXTENDING, tmp_path, {**environment, **own})
    assert "no reference in NumPy: 'quaternion.mul' is computed by its te" in printed
    assert "2 rules: 2 right" in printed and "Passed: 1 (100.00%)" in printed


def test_the_example_is_the_package_of_extending() -> None:
    saved = {block.file: block.text for block in blocks(EXTENDING.read_text(encoding="utf-8")) if block.file}
    for name, text in saved.items():
        assert (EXAMPLE / name).read_text(encoding="utf-8") == text, f"{name}: the last block of the page differs"
    package = {f"stepwell_quaternion/{file.name}" for file in (EXAMPLE / "stepwell_quaternion").glob("*.*")}
    assert package <= saved.keys()
