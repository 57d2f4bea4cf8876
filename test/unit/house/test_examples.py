"""The worked examples: what their READMEs show is what the commands print, and their programs pass their own checks."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from stepwell.core.text.parsing import make_context, parse
from stepwell.patterns.language.functions import functions_of
from stepwell.patterns.running.driver import Driver
from stepwell.patterns.text.loading import rules_of_file
from stepwell.reference.run import run
from stepwell.testing.in_process import IN_PROCESS_TOOLS, MainFunction, call_tool_in_child, load_tool, run_subprocess
from stepwell.testing.run_line import Finished, parse_run_line

ROOT = Path(__file__).parents[3]
EXAMPLES = [ROOT / "examples" / name for name in ("graph_rewriting", "passes", "pattern_matching", "schedules")]
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
        if stage.tool == "grep":
            finished = run_subprocess(stage, finished.stdout, timeout=60)
        else:
            finished = call_tool_in_child(tool(stage.tool), stage, finished.stdout)
        text = (finished.stdout + finished.stderr).decode()
        fails = re.search(r"^([^\s:]+:\d+:\d+: )?error: ", finished.stderr.decode(), re.MULTILINE) is not None
        assert (finished.exit_code != 0) == fails, f"{command}\n{text}"
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
    command = [sys.executable, "-c", "from lit.main import main; main()", "-j1", *map(str, EXAMPLES)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
def test_every_file_is_mentioned(folder: Path) -> None:
    text = (folder / "README.md").read_text()
    names = [path.name for path in folder.rglob("*") if path.suffix in (".mlir", ".py") and "Output" not in path.parts]
    assert names
    assert not [name for name in sorted(names) if name not in text]


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
def test_the_links_lead_somewhere(folder: Path) -> None:
    for link in re.findall(r"\]\(([^)#:]+)\)", (folder / "README.md").read_text()):
        assert (folder / link).exists(), link


def test_the_formula_and_the_batch_norm_agree() -> None:
    """What `batch_norm.mlir` computes is the same before and after its rule, up to rounding."""
    folder = ROOT / "examples" / "pattern_matching"
    ctx = make_context()
    before = parse(folder / "batch_norm.mlir")
    after = before.clone()
    driver = Driver(ctx, rules_of_file(folder / "rules" / "batch_norm.mlir", ctx))
    driver.run(after)
    assert driver.statistics["batch-norm"].hits == 8
    random = np.random.default_rng(0)
    arrays = [random.uniform(0.5, 2.0, shape).astype(np.float32) for shape in ((4, 8), (8,), (8,), (8,), (8,))]
    for function in functions_of(before):
        name = function.sym_name.data
        (found,), (expected,) = run(after, name, *arrays), run(before, name, *arrays)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5, err_msg=name)
