"""Comments that are meant to be expectations of `--verify-diagnostics` and are none."""

from pathlib import Path

import pytest
from stepwell.testing.in_process import call_tool
from stepwell.testing.run_line import Command
from stepwell.tools.opt import main

KINDS = "expected one of expected-error, expected-warning, expected-remark, expected-note, each also with -re"
PLACES = "expected @+N, @-N, @above, @below, @here, @unknown"
TEXT = "write // {} {{{{a part of the message}}}}"
AXIS = "  %0 = graph.softmax %x, axis = 7 : (tensor<4xf32>) -> tensor<4xf32>"


def verified(text: str, path: Path) -> tuple[int, str, str]:
    path.write_text(text)
    finished = call_tool(main, Command(["stepwell-opt", path.name, "--verify-diagnostics"]), b"")
    return finished.exit_code, finished.stdout.decode(), finished.stderr.decode()


def program(comment: str) -> str:
    body = f"  // {comment}\n{AXIS}  // expected-error {{{{axis}}}}\n  func.return %0 : tensor<4xf32>"
    return f"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{\n{body}\n}}\n"


@pytest.mark.parametrize(
    ("comment", "said", "hint"),
    [
        ("expected-eror@below {{a}}", f"'expected-eror' announces no diagnostic, {KINDS}", "expected-error"),
        ("expected-errors", f"'expected-errors' announces no diagnostic, {KINDS}", "expected-error"),
        ("epected-warning {{a}}", f"'epected-warning' announces no diagnostic, {KINDS}", "expected-warning"),
        ("Expected_note {{a}}", f"'Expected_note' announces no diagnostic, {KINDS}", "expected-note"),
        ("expected-error@abov {{a}}", f"'@abov' is no place of a diagnostic, {PLACES}", "@above"),
        ("expected-error@1 {{a}}", f"'@1' is no place of a diagnostic, {PLACES}", None),
        ("expected-warning@above {a}", "'expected-warning' has no text in double braces", TEXT),
        ("expected-error {{a}", "'expected-error' has no text in double braces", TEXT),
        ("expected-error 2 {{a}}", "'expected-error' has no text in double braces", TEXT),
        ("expected-error-re {{a {{(}} b}}", "'a {{(}} b' has a piece that is no regular expression: missing ), ", None),
    ],
)
def test_a_misspelt_expectation_is_an_error(
    comment: str, said: str, hint: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    code, printed, errors = verified(program(comment), tmp_path / "m.mlir")
    assert code == 1 and printed == "", errors
    assert errors.startswith(f"m.mlir:2:6: error: {said}"), errors
    if hint is not None:
        word = comment.split("@")[0].split()[0]
        expected = hint.format(word) if "{}" in hint else f"did you mean '{hint}'?"
        assert errors.endswith(f"hint: {expected}\n"), errors


def test_prose_about_errors_is_no_expectation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for prose in ("expected errors are on the next line", "the expected-error comments follow", "see {{this}}"):
        assert verified(program(prose), tmp_path / "m.mlir") == (0, "", "")


def test_nothing_is_looked_for_without_the_flag(tmp_path: Path):
    path = tmp_path / "m.mlir"
    path.write_text("// expected-eror {{a}}\nfunc.func @f() { func.return }\n")
    assert call_tool(main, Command(["stepwell-opt", str(path)]), b"").exit_code == 0
