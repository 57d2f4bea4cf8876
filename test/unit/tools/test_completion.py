"""`stepwell completion`: what bash offers, and that each script has every flag of every verb."""

from __future__ import annotations

import subprocess
from importlib import import_module

import pytest
from stepwell.machine.named import machine_named, machine_names
from stepwell.testing.in_process import call_tool
from stepwell.testing.run_line import Command
from stepwell.tools.main import VERBS, main
from stepwell.tools.options.shells import OLD, SHELLS
from stepwell.tools.start import __dict__ as SCRIPTS

TYPED = {
    "stepwell com": ["compile", "completion"],
    "stepwell-opt -p canonicalize,eliminate-co": ["canonicalize,eliminate-common-subexpr"],
    "stepwell opt --passes = graph-op": ["graph-optimize", "graph-optimize-strict"],
    "stepwell opt --disable-pass cse,plan-sch": ["cse,plan-schedules"],
    "stepwell opt -t as": ["asm"],
    "stepwell run --target zen": ["zen4", "zen5"],
    "stepwell compile --cpu x86-64-v3,zen": ["x86-64-v3,zen4", "x86-64-v3,zen5"],
    "stepwell-run --numerics =": ["default", "strict", "fast"],
    "stepwell run --check-bounds o": ["on", "off"],
    "stepwell run --ir llvm": ["llvm", "llvm-ir"],
    "stepwell run --repe": ["--repeat"],
    "stepwell completion z": ["zsh"],
    "stepwell import-onnx m": [],
    "stepwell run --inputs m": [],
}
"""What stands on the line, by words as readline cuts them, and what is offered. Files are left to the shell."""

ASK = """
type() { COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _stepwell; echo "${COMPREPLY[*]}"; }
"""


def script(shell: str) -> str:
    finished = call_tool(main, Command(["stepwell", "completion", shell]), b"")
    assert (finished.exit_code, finished.stderr) == (0, b"")
    return finished.stdout.decode()


def test_what_bash_offers() -> None:
    lines = "\n".join(f"type {line}" for line in TYPED)
    done = subprocess.run(["bash", "-c", f"{script('bash')}{ASK}{lines}"], capture_output=True, text=True)
    assert done.stderr == ""
    assert dict(zip(TYPED, (line.split() for line in done.stdout.splitlines()), strict=True)) == TYPED


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_has_all_flags(shell: str) -> None:
    text = script(shell)
    for verb, (module, _) in VERBS.items():
        parser = import_module(f"stepwell.tools.{module}").argument_parser()
        for name in parser._option_string_actions:
            written = name if shell != "fish" else f"-l {name[2:]} " if name.startswith("--") else f"-s {name[1:]} "
            assert written in text, (verb, name)
        assert text.count(verb) > 1


def test_the_lists_are_complete() -> None:
    assert all(machine_named(name).name == name for name in machine_names())
    assert sorted(f"{name.replace('-', '_')}" for name in OLD) == sorted(
        name
        for name in SCRIPTS
        if name.islower() and not name.startswith("_") and name not in ("stepwell", "annotations")
    )


def test_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "tcsh"]) == 1
    assert capsys.readouterr().err.startswith(
        "error: argument shell: invalid choice: 'tcsh' (choose from 'bash', 'zsh'"
    )
