"""
The wheel in empty environments: `python test/wheel.py [--python PATH] [--log FILE]`, after `make dist`.

Each page that begins with the wheel is followed by copying its blocks, in an empty folder with a virtual environment of
its own and no checkout. Packages come from the index that pip is set up for. Then `pip check` looks at the environment.
It writes docs/acceptance/<date>-wheel.log. Exit code 1 when a page fails.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "test" / "support"), str(ROOT / "test")]

from followed_page import commands, follow  # noqa: E402
from full import LOGS, head  # noqa: E402

PAGES = ("get-started.md", "extending.md", "serving.md")


def clean_environment(python: Path) -> dict[str, str]:
    """Returns the environment without what leads to this checkout. `python3` is the one given."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL", "STEPWELL"))}
    outside = [folder for folder in kept["PATH"].split(os.pathsep) if Path(sys.executable).parent != Path(folder)]
    return {**kept, "PATH": os.pathsep.join([str(python.parent), *outside])}


def with_wheel(folder: Path, environment: dict[str, str]) -> dict[str, str]:
    """Makes a virtual environment with the wheel in `folder`, and returns the settings in which it is active."""
    subprocess.run(["python3", "-m", "venv", ".venv"], cwd=folder, env=environment, check=True)
    commands = folder / ".venv" / "bin"
    pip = [str(commands / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *map(str, folder.glob("*.whl"))], cwd=folder, env=environment, check=True)
    return {**environment, "PATH": os.pathsep.join([str(commands), environment["PATH"]])}


def follow_in_empty_folder(page: str, wheel: Path, environment: dict[str, str]) -> str:
    """Follows a page as its reader does, and returns a line for the log."""
    text = ROOT / "docs" / page
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(wheel, folder)
        settings = {**environment, "STEPWELL_CACHE_DIR": str(Path(folder) / "cache")}
        start = time.monotonic()
        if "python3 -m venv" not in text.read_text(encoding="utf-8"):  # the page begins where get-started.md ends
            settings = with_wheel(Path(folder), settings)
        follow(text, Path(folder), settings, setup=True, timeout=600)
        seconds = time.monotonic() - start
        pip = [str(Path(folder) / ".venv" / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
        checked = subprocess.run([*pip, "check"], env=settings, capture_output=True, text=True)
        assert checked.returncode == 0, checked.stdout + checked.stderr
    typed = len(commands(text.read_text(encoding="utf-8")))
    return f"{page}: followed in {seconds:.0f} s, {typed} commands; pip check: {checked.stdout.strip()}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    base = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    parser.add_argument("--python", type=Path, default=base, help="the interpreter of the environments")
    parser.add_argument("--log", type=Path, default=LOGS / f"{datetime.now(UTC):%Y-%m-%d}-wheel.log")
    options = parser.parse_args()
    (wheel,) = (ROOT / "dist").glob("stepwell-*.whl")
    version = subprocess.run([str(options.python), "--version"], capture_output=True, text=True, check=True).stdout
    lines = [head(0, 1).replace("test/full.py", "test/wheel.py").rstrip(), f"{wheel.name}, {version.strip()}"]
    failed = 0
    for page in PAGES:
        try:
            lines.append(follow_in_empty_folder(page, wheel, clean_environment(options.python)))
        except (AssertionError, subprocess.TimeoutExpired) as error:
            failed += 1
            lines.append(f"{page}: FAILED\n{error}")
        print(lines[-1], flush=True)
    options.log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
