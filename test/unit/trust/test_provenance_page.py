"""
Every command in docs/provenance.md prints what the page says.

`STEPWELL_UPDATE_DOCS=1` writes what they print into the page.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest
from stepwell.testing.in_process import call_tool
from stepwell.testing.run_line import Command
from stepwell.tools.opt import main

PATH = Path(__file__).parents[3] / "docs/provenance.md"
PAGE = PATH.read_text(encoding="utf-8")
FILES = re.findall(r"^```mlir file=(\S+)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
SESSION = re.compile(r"^```console\n\$ (.*?)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("command, expected", SESSION.findall(PAGE), ids=lambda text: text[:60])
def test_session(command: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in FILES:
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    printed = call_tool(main, Command(shlex.split(command), merge_stderr=True), b"").stdout.decode()
    if os.environ.get("STEPWELL_UPDATE_DOCS"):
        block = re.compile(rf"^```console\n\$ {re.escape(command)}\n.*?^```", re.MULTILINE | re.DOTALL)
        now = PATH.read_text(encoding="utf-8")
        PATH.write_text(block.sub(lambda _: f"```console\n$ {command}\n{printed}```", now), encoding="utf-8")
        return
    assert printed == expected


def test_the_page_has_examples() -> None:
    assert len(SESSION.findall(PAGE)) >= 3 and FILES
