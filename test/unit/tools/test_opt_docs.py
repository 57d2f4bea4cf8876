"""Every command in docs/opt.md prints what the page says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from stepwell.testing.in_process import call_tool
from stepwell.testing.run_line import Command
from stepwell.tools.opt import main
from stepwell.tools.options.flags import add_flags
from stepwell.tools.options.rules import add_rule_flags
from stepwell.tools.options.weights import add_weight_flags

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "opt.md").read_text(encoding="utf-8")
FILES = re.findall(r"^```mlir file=(\S+)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
SESSIONS = re.findall(r"^```console\n\$ (.*?)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def in_folder_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in FILES:
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)


@pytest.mark.ci_cases(7)
@pytest.mark.usefixtures("in_folder_of_the_page")
@pytest.mark.parametrize("command, expected", SESSIONS, ids=[session[0] for session in SESSIONS])
def test_session(command: str, expected: str):
    words = shlex.split(command)
    assert words[0] == "stepwell-opt"
    if "--replay" in command:
        (earlier,) = [other for other, _ in SESSIONS if "--save-pipeline" in other]
        call_tool(main, Command(shlex.split(earlier)), b"")
    printed = call_tool(main, Command(words, merge_stderr=True), b"").stdout.decode()
    if expected.endswith("...\n"):
        assert printed.startswith(expected.removesuffix("...\n"))
    else:
        assert printed.rstrip() == expected.rstrip()


def test_the_page_has_examples():
    assert len(SESSIONS) >= 6 and len(FILES) >= 3


def test_every_flag_of_ours_is_on_the_page():
    import argparse

    parser = argparse.ArgumentParser()
    add_flags(parser, [])
    add_weight_flags(parser)
    add_rule_flags(parser)
    flags = set(parser._option_string_actions) - {"-h", "--help"}
    assert [flag for flag in sorted(flags) if flag not in PAGE] == []
