"""What `pyproject.toml` ships is what the tree holds."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from code_size import OUTSIDE_THE_PACKAGE, ROOT, package_files


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def package_folders() -> set[Path]:
    """Folders of the package with an `__init__.py`, relative to the root."""
    return {path.parent.relative_to(ROOT) for path in package_files(ROOT) if path.name == "__init__.py"}


def data_folders() -> set[Path]:
    """Folders that are shipped although they are no packages: `stepwell docs` and `stepwell example` show them."""
    examples = {path.parent for path in (ROOT / "examples").rglob("*") if path.is_file()}
    shown = {path for path in examples if not path.name.startswith(("__", ".", "Output"))}
    return {path.relative_to(ROOT) for path in (*shown, ROOT / "docs", ROOT / "docs" / "decisions")}


def test_every_package_folder_is_listed():
    folders = package_folders() | data_folders()
    expected = {".".join(("stepwell", *folder.parts)) for folder in folders}
    assert set(project()["tool"]["setuptools"]["packages"]) == expected


def test_packages_are_listed_once():
    packages = project()["tool"]["setuptools"]["packages"]
    assert len(packages) == len(set(packages))


def test_no_python_file_stands_outside_of_a_package():
    packages = package_folders()
    lost = [
        path
        for folder in packages
        for path in (ROOT / folder).glob("*/*.py")
        if path.parent.relative_to(ROOT) not in packages
        and path.parent.name not in OUTSIDE_THE_PACKAGE
        and not path.parent.name.startswith((".", "__"))
    ]
    assert lost == []


@pytest.mark.parametrize("suffix", [".mlir", ".typed", ".json", ".toml", ".pyi"])
def test_data_files_in_packages_are_shipped(suffix: str):
    patterns: dict[str, list[str]] = project()["tool"]["setuptools"]["package-data"]
    for folder in sorted(package_folders()):
        name = ".".join(("stepwell", *folder.parts))
        for path in (ROOT / folder).glob(f"*{suffix}"):
            if path.name in ("pyproject.toml", "pyrightconfig.json"):
                continue
            assert any(path.match(pattern) for pattern in patterns.get(name, []) + patterns["*"]), (
                f"{path} would not be shipped"
            )


def test_entry_points_name_functions_that_exist():
    from importlib import import_module

    metadata = project()["project"]
    locations = {**metadata["scripts"], **metadata["entry-points"]["xdsl.universe"]}
    for location in locations.values():
        module_name, _, object_name = location.partition(":")
        assert hasattr(import_module(module_name), object_name), location


def test_import_is_lazy():
    import subprocess
    import sys

    program = "import sys, stepwell; print([m for m in ('xdsl', 'numpy', 'llvmlite') if m in sys.modules])"
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert finished.stdout.strip() == "[]"


def test_the_version_is_that_of_the_installed_package():
    from importlib.metadata import version

    import stepwell

    assert stepwell.__version__ == version("stepwell")
