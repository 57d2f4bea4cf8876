"""The worked examples: what their READMEs show is what the commands print, and their programs pass their own checks."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from stepwell.testing.in_process import MainFunction, call_tool_in_child, load_tool
from stepwell.testing.lit_format import IN_PROCESS_TOOLS
from stepwell.testing.run_line import Finished, parse_run_line

ROOT = Path(__file__).parents[2]
EXAMPLES = [ROOT / "examples" / name for name in ("graph_rewriting",)]
BLOCK = re.compile(r"^```console\n\$ (?P<command>[^\n]+)\n(?P<output>.*?)^```$", re.MULTILINE | re.DOTALL)


def run_python(words: Sequence[str]) -> None:
    """A script as `python` runs it."""
    sys.argv = list(words)
    runpy.run_path(words[0], run_name="__main__")


def tool(name: str) -> MainFunction:
    if name == "python":
        return run_python
    return load_tool({**IN_PROCESS_TOOLS, "stepwell-run": "stepwell.tools.run:main"}[name])


def shown(command: str) -> str:
    """What a reader sees who types the command; the text of a pipe goes from one stage to the next."""
    (pipe,) = parse_run_line(command)
    finished = Finished(0)
    for stage in pipe:
        finished = call_tool_in_child(tool(stage.tool), stage, finished.stdout)
        text = (finished.stdout + finished.stderr).decode()
        assert (finished.exit_code != 0) == stage.inverted, f"{command}\n{text}"
    return (finished.stderr + finished.stdout).decode()


def blocks() -> list[tuple[Path, str]]:
    return [
        (folder, found["command"])
        for folder in EXAMPLES
        for found in BLOCK.finditer((folder / "README.md").read_text())
    ]


@pytest.mark.parametrize(("folder", "command"), blocks(), ids=lambda part: getattr(part, "name", part))
def test_the_readme_shows_what_the_command_prints(
    folder: Path, command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path))
    readme = folder / "README.md"
    text = readme.read_text()
    found = next(block for block in BLOCK.finditer(text) if block["command"] == command)
    output = "".join(line.rstrip() + "\n" for line in shown(command).rstrip().splitlines())
    if os.environ.get("STEPWELL_UPDATE_DOCS"):
        readme.write_text(text[: found.start("output")] + output + text[found.end("output") :])
        return
    assert found["output"] == output


def test_the_programs_pass_their_checks() -> None:
    """Every `RUN` line, by lit."""
    command = [sys.executable, "-m", "lit.main", "-q", "-j1", *map(str, EXAMPLES)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
def test_every_file_is_mentioned(folder: Path) -> None:
    text = (folder / "README.md").read_text()
    names = [
        path.name
        for path in folder.rglob("*")
        if path.suffix in (".mlir", ".py") and "Output" not in path.parts
    ]
    assert names
    assert not [name for name in sorted(names) if name not in text]


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
def test_the_links_lead_somewhere(folder: Path) -> None:
    for link in re.findall(r"\]\(([^)#:]+)\)", (folder / "README.md").read_text()):
        assert (folder / link).exists(), link
