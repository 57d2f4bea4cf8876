"""`stepwell update-checks`: lines for new tests, lines that are refreshed, what is kept, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from stepwell.testing.check_lines.patterns import Names, check_of, is_own, matches
from stepwell.tools.main import main

RUN = "// RUN: stepwell-opt %s -p simplify-expr | filecheck %s"
FUNCTION = """
/// What it is for.
func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.abs %y : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
"""
WRITTEN = """\
// CHECK-LABEL: func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: %[[V0:.*]] = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %y = graph.exp %[[V0]] : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: func.return %y : tensor<4xf32>
"""


@pytest.fixture
def test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "t.mlir"
    path.write_text(RUN + "\n" + FUNCTION)
    return path


def update(*words: str) -> int:
    return main(["update-checks", "t.mlir", *words])


def test_a_new_test_gets_lines_before_its_function(test: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert update("--dry-run") == 1
    assert test.read_text() == RUN + "\n" + FUNCTION
    assert update() == 0
    assert test.read_text() == RUN + "\n" + FUNCTION.replace("func.func @twice", WRITTEN + "func.func @twice")
    assert update() == update("--all", "--dry-run") == 0
    said = ["1 new; changed", "1 new; changed", "1 kept; as it was", "1 refreshed; as it was"]
    assert capsys.readouterr().out == "".join(f"t.mlir: {each}\n" for each in said)


def test_functions_of_the_output_alone_follow_in_their_order(test: Path) -> None:
    test.write_text(test.read_text().replace("simplify-expr", "lower-graph-to-loops"))
    assert update() == 0
    text = test.read_text()
    kernels = text[text.index("func.return %1 : tensor<4xf32>\n}") :]
    assert kernels.count("-LABEL: tensor_loop.func private @") == 3
    assert "// CHECK-SAME: %[[OPERAND:.*]]: memref<4xf32>) outs(%[[OUT:.*]]: memref<4xf32>)" in kernels


def test_only_what_does_not_fit_is_refreshed(test: Path) -> None:
    old = WRITTEN.replace("V0", "NEGATED").replace("exp", "tanh").replace(" : (tensor<4xf32>) -> tensor<4xf32>\n", "\n")
    by_hand = "// CHECK-NOT: graph.abs\n// CHECK: return %{{[a-z]+}}\n"
    old = old.replace("// CHECK-NEXT: func.return %y : tensor<4xf32>\n", by_hand)
    test.write_text(test.read_text().replace("func.func @twice", old + "func.func @twice"))
    assert update("--function", "twice") == 0
    fresh = "%y = graph.exp %[[NEGATED]] : (tensor<4xf32>) -> tensor<4xf32>"
    assert test.read_text().count(old.replace("%y = graph.tanh %[[NEGATED]]", fresh)) == 1


def test_functions_that_are_not_chosen_stay(test: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = FUNCTION.replace("twice", "other")
    test.write_text(test.read_text() + other.replace("func.func", "// CHECK-LABEL: @other\nfunc.func"))
    assert update() == 0
    assert "// CHECK-LABEL: @other\nfunc.func @other" in test.read_text()
    assert capsys.readouterr().out == "t.mlir: 1 new, 1 kept; changed\n"
    broken = test.read_text().replace("graph.exp %[[V0]] :", "graph.sin %[[V0]] :")
    test.write_text(broken)
    assert update() == 1
    said = capsys.readouterr().err
    assert said.startswith("error: 't.mlir' would not pass with prefix CHECK, so it stays as it is:\n")
    assert said.endswith("hint: --function NAME or --all refreshes the lines that it has\n")
    assert test.read_text() == broken


def test_output_that_is_no_program_is_taken_line_by_line(test: Path) -> None:
    test.write_text("// RUN: stepwell-opt --show-pipeline O0 | filecheck %s\n")
    assert update() == 0
    lines = test.read_text().splitlines()
    assert lines[2].startswith("// CHECK: ")
    test.write_text("// RUN: echo two | filecheck %s\n\n// CHECK: one\n")
    assert update() == 1
    assert update("--all") == 0
    assert test.read_text().endswith("\n\n// CHECK: two\n")


@pytest.mark.parametrize(
    "run, more, words, said",
    [
        ("// no", "", (), "error: 't.mlir' has no RUN line that ends in filecheck\nhint: a line such as // RUN: stepw"),
        ("// RUN: a; b", "", (), "error: RUN line 1 of 't.mlir' needs a shell, and what a shell does is not known"),
        ("// RUN: cat 'a | filecheck %s", "", (), "error: RUN line 1 of 't.mlir': No closing quotation: cat 'a"),
        ("// RUN: stepwell-opt %s -p nope | filecheck %s", "", (), "error: RUN line 1 of 't.mlir' fails:\n$ stepwell"),
        (f"{RUN} --check-prefixes=A,B", "", (), "error: RUN line 1 of 't.mlir' has the prefixes A, B, and nothing"),
        (f"{RUN} --input-file=x", "", (), "error: RUN line 1 of 't.mlir' gives filecheck an --input-file, expected a"),
        (
            f"{RUN}\n// RUN: stepwell-opt %s | filecheck %s",
            "",
            (),
            "error: RUN lines 1 and 2 of 't.mlir' have the prefix CHECK, but print something else\nhint: give one of",
        ),
        (RUN, "", ("--function", "twise"), "error: no RUN line of 't.mlir' prints a function @twise\nhint: did you me"),
        (
            RUN,
            "// CHECK: graph.exp",
            ("--function", "twice"),
            "error: the CHECK lines of 't.mlir' have no CHECK-LABEL, so nothing says whose they are\nhint: write // CH",
        ),
        (
            RUN,
            "// CHECK-LABEL: @twice\n// CHECK-DAG: exp",
            ("--all",),
            "t.mlir:3:1: error: CHECK-DAG does not say which lines it stands for\n  // CHECK-DAG: exp\n",
        ),
        (
            RUN,
            "// CHECK-LABEL: @twice\n// CHECK: {{sin|cos}}",
            ("--all",),
            "t.mlir:3:1: error: '{{sin|cos}}' was written by hand and fits nothing that is printed now\n",
        ),
        ("// RUN: cat /dev/null | filecheck %s", "", (), "error: RUN line 1 of 't.mlir' prints nothing to filecheck"),
        (
            "// RUN: echo one | filecheck %s",
            "// CHECK-NOT: two",
            ("--all",),
            "error: 't.mlir' has lines for prefix CHECK that somebody has written by hand\nhint: line 2 is one;",
        ),
    ],
)
def test_what_is_refused(
    run: str, more: str, words: tuple[str, ...], said: str, test: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    test.write_text("\n".join([run, more, FUNCTION]))
    before = test.read_text()
    assert update(*words) == 1
    assert capsys.readouterr().err.startswith(said)
    assert test.read_text() == before


def test_a_file_that_is_not_there(test: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["update-checks", "none.mlir"]) == 1
    assert capsys.readouterr().err == "error: cannot read 'none.mlir': no such file or directory\n"


@pytest.mark.parametrize(
    "line, pattern",
    [
        ("%0 = a.b %x, %y_1", "%[[V0:.*]] = a.b %x, %[[Y_1:.*]]"),
        ("%1:2 = a.b %0, %0", "%[[V1:.*]]:2 = a.b %[[V0:.*]], %[[V0]]"),
        ("dense<[[1, 2]]> {{x}}", "dense<{{\\[\\[}}1, 2]]> {{\\{\\{}}x}}"),
        ("cf.br ^bb0(%x)", "cf.br ^[[BB0:.*]](%x)"),
    ],
)
def test_a_line_becomes_a_pattern_that_fits_it(line: str, pattern: str) -> None:
    assert check_of(line, Names(frozenset({"x", "y"}))) == pattern
    assert is_own("NEXT", pattern)
    assert matches(pattern, line, Names())


def test_variables_hold_what_they_were_bound_to() -> None:
    names = Names()
    assert matches("%[[A:.*]] = a.b [[B:%.*]][%x]", "%7 = a.b %8[%x]", names)
    assert matches("c.d [[B]], %[[A]]", "c.d %8, %7", names)
    assert not matches("c.d [[B]]", "c.d %7", names)
    assert not matches("c.d [[C]]", "c.d %7", names)
    assert check_of("%7 = e.f %8", names) == "%[[A]] = e.f [[B]]"
