"""The lit format: RUN lines it runs in-process, tests it refuses, and failures it must see."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from stepwell.core.messages.diagnostics import render
from stepwell.testing.directives import prefixes_of, unknown_directives
from stepwell.testing.in_process import call_tool, call_tool_in_child, filecheck_main
from stepwell.testing.run_line import (
    Command,
    Finished,
    NotARunLine,
    Runner,
    ends_in_check,
    expand_macros,
    parse_run_line,
    run_lines,
)

CONFIGURATION = """
import stepwell.testing.lit_format
config.name = "sample"
config.suffixes = [".mlir"]
config.test_exec_root = {root!r}
config.substitutions.append(("%twice", "stepwell-opt %s -p cse | stepwell-opt"))
config.test_format = stepwell.testing.lit_format.StepwellTest()
"""

PROGRAM = """
// CHECK: @main
// GENERIC: "func.func"
func.func @main() {
  func.return
}
"""

BAD_PROGRAM = """
// CHECK: error: op 'arith.nothing' is unknown
arith.nothing
// -----
// CHECK: // -----
// CHECK: @main
func.func @main() {
  func.return
}
"""


def run_lit(folder: Path, *arguments: str) -> dict[str, str]:
    """Runs stock lit; the verdict of each test by file name."""
    (folder / "lit.cfg.py").write_text(CONFIGURATION.format(root=str(folder)))
    command = [
        sys.executable,
        "-c",
        "from lit.main import main; main()",
        "-v",
        "-j1",
        *arguments,
        str(folder),
    ]
    finished = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": ""})
    verdicts = {}
    for line in finished.stdout.split("\n"):
        verdict, separator, rest = line.partition(": sample :: ")
        if separator:
            verdicts[rest.split(" ")[0].removesuffix(".mlir")] = verdict
    assert verdicts, finished.stdout + finished.stderr
    return verdicts


VERDICTS = {
    "passes": ("stepwell-opt %s | filecheck %s", "PASS"),
    "roundtrip": ("%roundtrip", "PASS"),
    "generic": ("%generic", "PASS"),
    "own_macro": ("%twice | filecheck %s", "PASS"),
    "through_a_file": ("stepwell-opt %s -o %t && cat %t | filecheck %s", "PASS"),
    "redirected": ("stepwell-opt %s > %t && filecheck %s < %t", "PASS"),
    "same_text": ("stepwell-opt %s -o %t && stepwell-opt %t | diff %t -", "PASS"),
    "expected_failure": ("not stepwell-opt %S 2>&1 | filecheck %s --check-prefix=FOLDER\n// FOLDER: directory", "PASS"),
    "continued": ("stepwell-opt %s \\\n// RUN:   | filecheck %s", "PASS"),
    "in_a_shell": ("(cd %S; stepwell-opt %s) | filecheck %s", "PASS"),
    "check_fails": ("stepwell-opt %s | filecheck %s --check-prefix=OTHER\n// OTHER: @nothing", "FAIL"),
    "no_check_lines": ("stepwell-opt %s | filecheck %s --check-prefix=ABSENT", "FAIL"),
    "tool_fails_before_the_check": ("stepwell-opt %S | filecheck %s --allow-empty --check-prefix=NONE\n// NONE-NOT: x",
                                    "FAIL"),
    "not_of_a_success": ("not stepwell-opt %s | filecheck %s", "FAIL"),
    "second_line_fails": ("stepwell-opt %s | filecheck %s\n// RUN: stepwell-opt %S 2>&1 | filecheck %s", "FAIL"),
    "no_such_tool": ("no-such-tool %s | filecheck %s", "FAIL"),
    "shell_fails": ("(exit 3); false | filecheck %s", "FAIL"),
    "crash_under_not": ("not python -c 'import os; os.abort()'", "FAIL"),
    "misspelt_directive": ("stepwell-opt %s | filecheck %s\n// CHECK-NXT: garbage", "FAIL"),
    "misspelt_under_a_macro": ("%generic\n// GENERIC-SMAE: garbage", "FAIL"),
    "word_of_no_prefix": ("stepwell-opt %s | filecheck %s\n// GENERIC-NXT: garbage", "PASS"),
    "prefix_with_a_hyphen": ("stepwell-opt %s | filecheck %s\n// RUN: stepwell-opt %s | filecheck %s "
                             "--check-prefix=CHECK-A\n// CHECK-A: @main\n// CHECK-A-NEXT: return", "PASS"),
    "no_check": ("stepwell-opt %s", "UNRESOLVED"),
    "no_check_after_a_check": ("stepwell-opt %s | filecheck %s\n// RUN: stepwell-opt %s", "UNRESOLVED"),
    "unbalanced_quote": ("stepwell-opt %s -p 'cse | filecheck %s", "UNRESOLVED"),
    "missing_feature": ("stepwell-opt %s | filecheck %s\n// REQUIRES: a-feature", "UNSUPPORTED"),
    "known_to_fail": ("not stepwell-opt %s\n// XFAIL: *", "XFAIL"),
}  # fmt: skip


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("suite with a space")
    for name, (line, _) in VERDICTS.items():
        (folder / f"{name}.mlir").write_text(f"// RUN: {line}\n{PROGRAM}")
    (folder / "invalid.mlir").write_text(f"// RUN: %invalid\n{BAD_PROGRAM}")
    (folder / "no_run_line.mlir").write_text(PROGRAM)
    return run_lit(folder)


@pytest.mark.ci_cases(6)
@pytest.mark.parametrize("name", VERDICTS)
def test_verdict(verdicts: dict[str, str], name: str):
    assert verdicts[name] == VERDICTS[name][1]


def test_invalid_macro(verdicts: dict[str, str]):
    assert verdicts["invalid"] == "PASS"


def test_a_file_without_run_line_is_unresolved(verdicts: dict[str, str]):
    assert verdicts["no_run_line"] == "UNRESOLVED"


def test_a_misspelt_directive_is_told_with_its_place():
    text = "// RUN: x\n// CHECK: @f CHECK-OF:\n  // CHECK-NXT: a\n# CHECK-A-LABLE{LITERAL}: b\n// CHECK_NEXT: c\n"
    shown = [render(each) for each in unknown_directives("a.mlir", text, ["CHECK", "CHECK-A"])]
    kinds = "NEXT, SAME, NOT, DAG, LABEL, EMPTY or COUNT-<n>"
    assert [each.split("\n")[0] for each in shown] == [
        f"a.mlir:3:6: error: 'CHECK-NXT' is no directive: expected CHECK-, then {kinds}",
        f"a.mlir:4:3: error: 'CHECK-A-LABLE' is no directive: expected CHECK-A-, then {kinds}",
        f"a.mlir:5:4: error: 'CHECK_NEXT' is no directive: expected CHECK-, then {kinds}",
    ]
    assert [each.split("hint: ")[1] for each in shown] == [
        "did you mean 'CHECK-NEXT'?",
        "did you mean 'CHECK-A-LABEL'?",
        "did you mean 'CHECK-NEXT'?",
    ]


def test_prefixes_of_run_lines():
    lines = [
        "x %s | filecheck %s",
        "x %s | not filecheck %s --check-prefix=A,B-C && x | FileCheck --check-prefixes 'D' %s",
        "x %s | filecheck %S/other.txt --check-prefix=E",
    ]
    assert prefixes_of(lines) == ["CHECK", "A", "B-C", "D"]


# Parsing


def words(text: str) -> list[list[list[str]]]:
    return [[command.words for command in pipe] for pipe in parse_run_line(text)]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("a b", [[["a", "b"]]]),
        ("a | b|c", [[["a"], ["b"], ["c"]]]),
        ("a && b | c", [[["a"]], [["b"], ["c"]]]),
        ("a -p 'x{y=\"1 | 2\"}'", [[["a", "-p", 'x{y="1 | 2"}']]]),
        ('a "b \\" c"', [[["a", 'b " c']]]),
        ("a 2 1", [[["a", "2", "1"]]]),
    ],
)
def test_lines_are_split(text: str, expected: list[list[list[str]]]):
    assert words(text) == expected


def test_redirections():
    (command,) = parse_run_line("a x 2>&1 < in > out")[0]
    assert command == Command(["a", "x"], merge_stderr=True, stdin_file="in", stdout_file="out")
    (command,) = parse_run_line("a --cases 2 2>&1")[0]
    assert command.words == ["a", "--cases", "2"] and command.merge_stderr
    (command,) = parse_run_line("not a 2> errors")[0]
    assert command == Command(["a"], inverted=True, stderr_file="errors")


@pytest.mark.parametrize("text", ["a | | b", "a 'b", "a >", "a 2>&3", "not", "| a"])
def test_lines_that_are_no_commands(text: str):
    with pytest.raises(NotARunLine):
        parse_run_line(text)


def test_ends_in_check():
    assert ends_in_check(parse_run_line("a | filecheck b"))
    assert ends_in_check(parse_run_line("not a"))
    assert not ends_in_check(parse_run_line("a | filecheck b && c"))
    assert not ends_in_check([])


def test_paths_with_spaces_stay_one_word():
    (command,) = parse_run_line("a %s x%s", lambda word: word.replace("%s", "/with space/f"))[0]
    assert command.words == ["a", "/with space/f", "x/with space/f"]


def test_macros_of_the_configuration_come_first():
    assert expand_macros("%roundtrip", [("%roundtrip", "mine %s")]) == "mine %s"
    assert expand_macros("%generics", []) == "%generics"


def test_run_lines(tmp_path: Path):
    path = tmp_path / "t.mlir"
    path.write_text("// RUN: a \\\n// RUN:   b\n// RUN: c\nRUN:d\n")
    assert run_lines(str(path)) == ["a b", "c", "d"]


def test_all_stages_of_a_pipe_have_to_succeed():
    codes = {"ok": 0, "bad": 1, "crash": -6}

    def execute(command: Command, data: bytes) -> Finished:
        return Finished(codes[command.tool], data + command.tool.encode())

    def passes(text: str) -> bool:
        return Runner(execute).run(parse_run_line(text)).passed

    assert passes("ok | ok") and passes("not bad | ok")
    assert not passes("bad | ok") and not passes("ok | bad") and not passes("not ok | ok")
    assert not passes("not crash") and not passes("bad && ok")


# Tools


def tool(arguments) -> int:
    print(sys.stdin.read(), *arguments)
    print("to stderr", file=sys.stderr)
    return 3


def test_streams_are_captured():
    assert call_tool(tool, Command(["t", "x"]), b"in") == Finished(3, b"in x\n", b"to stderr\n")
    merged = call_tool(tool, Command(["t", "x"], merge_stderr=True), b"in")
    assert merged == Finished(3, b"in x\nto stderr\n", b"")
    assert call_tool_in_child(tool, Command(["t", "x"]), b"in") == Finished(3, b"in x\n", b"to stderr\n")


def raising(arguments) -> int:
    raise ValueError("broken")


def exiting(arguments) -> int:
    sys.exit("a message")


def killed(arguments) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def test_exits_and_crashes():
    raised = call_tool(raising, Command(["t"]), b"")
    assert raised.exit_code < 0 and b"ValueError: broken" in raised.stderr
    assert call_tool(exiting, Command(["t"]), b"") == Finished(1, b"", b"a message\n")
    crashed = call_tool_in_child(killed, Command(["t"]), b"")
    assert crashed.exit_code == -9 and b"SIGKILL" in crashed.stderr


def test_streams_are_restored():
    before = sys.stdin, sys.stdout, sys.stderr
    call_tool(raising, Command(["t"]), b"")
    assert (sys.stdin, sys.stdout, sys.stderr) == before


def test_without_filecheck_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "filecheck.main", None)
    finished = call_tool(filecheck_main, Command(["filecheck", "case.mlir"]), b"")
    assert (finished.exit_code, finished.stderr) == (1, b"filecheck is not installed: pip install filecheck\n")
