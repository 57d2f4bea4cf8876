"""The console scripts."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[3] / "pyproject.toml"
SCRIPTS: dict[str, str] = tomllib.loads(PROJECT.read_text())["project"]["scripts"]

INTERRUPTED_LOADING = """
import sys

class Interrupts:
    def find_spec(self, name, *_):
        if name == "argparse":
            raise KeyboardInterrupt

sys.modules.pop("argparse", None)
sys.meta_path.insert(0, Interrupts())
from {module} import {function}
sys.exit({function}())
"""


def test_a_tool_ends_without_a_look_for_garbage() -> None:
    """Python looks for garbage when it ends, which takes a quarter of a second after a large model."""
    code = """
import gc, sys
from stepwell.tools.start import stepwell
sys.argv = ["stepwell", "cache"]
code = stepwell()
print("code", code, "frozen", gc.get_freeze_count() > 1000)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "code 0 frozen True"


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("script", SCRIPTS)
def test_ctrl_c_while_a_tool_is_loading_is_quiet(script: str) -> None:
    module, function = SCRIPTS[script].split(":")
    code = INTERRUPTED_LOADING.format(module=module, function=function)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_runs_its_tool(
    script: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module, function = SCRIPTS[script].split(":")
    monkeypatch.setattr(sys, "argv", [script, "--help"])
    assert getattr(import_module(module), function)() == 0
    assert capsys.readouterr().out.startswith(f"usage: {script} ")
