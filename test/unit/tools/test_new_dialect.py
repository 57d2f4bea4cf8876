"""`stepwell new-dialect NAME`: the package that it makes, whose tests pass at once, and what is refused."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from entry_points import installed
from stepwell.tools.main import main
from stepwell.tools.new_dialect import MOVED, SOURCE, package


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new package, in an empty folder."""
    folder = tmp_path_factory.mktemp("empty") / "package"
    assert main(["new-dialect", "spin_ice", "-o", str(folder)]) == 0
    return folder


def test_it_is_the_package_of_the_page_under_other_names() -> None:
    files = package("spin_ice")
    new = {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.*") if path.suffix in (".py", ".mlir")}
    assert len(files) == len(new) + len(["README.md", "pyproject.toml", "ci.yml"]) > 20
    for name, text in files.items():
        if name != "README.md":
            back = {made: old for old, made in MOVED.items()}.get(name, name).replace("spin_ice", "quaternion")
            old = (SOURCE / back).read_text(encoding="utf-8").splitlines()
            for one, other in zip(old, text.splitlines(), strict=True):
                assert one == other or "quat" in one.lower(), name


def test_no_name_of_the_example_is_left(made: Path) -> None:
    names = [path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file()]
    assert not [name for name in names if "quaternion" in name]
    assert ".github/workflows/test.yml" in names and "stepwell_spin_ice/dialect.py" in names
    for name in names:
        found = re.search(r"\bquaternion[._]\w|\w-quat|Quat\w*Pass|stepwell.quaternion", (made / name).read_text())
        assert found is None, f"{name}: {found}"


def test_its_tests_pass(made: Path, tmp_path: Path) -> None:
    """Of a few files here; `python test/trust/habits.py` runs all that its server runs."""
    installed((made / "pyproject.toml").read_text(), tmp_path)
    own = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{made}", "STEPWELL_CACHE_DIR": str(tmp_path / "cache")}
    lit = ["-c", "from lit.main import main; main()", "-j1", "--filter=(loops|simplify|typed).mlir", str(made / "test")]
    done = subprocess.run([sys.executable, *lit], env={**os.environ, **own}, capture_output=True, text=True)
    assert done.returncode == 0 and re.search(r"Passed *: 3 \(", done.stdout), done.stdout + done.stderr


@pytest.mark.parametrize(
    "words, said",
    [
        (["Ising"], "'Ising' cannot be the name of a dialect: expected small letters, digits and _, beginning with a"),
        (["lambda"], "'lambda' cannot be the name of a dialect"),
        (["graph"], "there is a dialect 'graph' already: 'stepwell' has it\n"),
        (["ising", "-o", "."], "'.' exists, expected a folder to be made\nhint: -o names another folder\n"),
        (["ising", "-o", "file/in"], "cannot write 'file/in/"),
    ],
)
def test_what_is_refused(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("")
    assert main(["new-dialect", *words]) == 1
    assert capsys.readouterr().err.startswith(f"error: {said}")
