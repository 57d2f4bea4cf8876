"""Outputs that are inputs too, outputs that name one file twice, and the names of weights files beside an output."""

import os
from pathlib import Path

import numpy as np
import pytest
from stepwell.core.weights import open_weights, write_weights
from stepwell.testing.in_process import call_tool
from stepwell.testing.run_line import Command
from stepwell.tools.main import main

LARGE = ", ".join(str(float(number)) for number in range(2000))
PROGRAM = f"""func.func @main(%x: tensor<2000xf32>) -> tensor<2000xf32> {{
  %w = graph.constant dense<[{LARGE}]> : tensor<2000xf32>
  %0 = graph.add %x, %w : (tensor<2000xf32>, tensor<2000xf32>) -> tensor<2000xf32>
  func.return %0 : tensor<2000xf32>
}}
"""
APART = """builtin.module attributes {stepwell.weights = "w.safetensors"} {
  func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
    %w = graph.weight "w" : tensor<3xf32>
    %0 = graph.add %x, %w : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    func.return %0 : tensor<3xf32>
  }
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("p.mlir").write_text(PROGRAM)
    Path("q.mlir").write_text(APART)
    write_weights("w.safetensors", {"w": np.arange(3, dtype=np.float32)})
    Path("link.mlir").symlink_to("p.mlir")
    os.link("p.mlir", "hard.mlir")
    Path("sub").mkdir()
    np.savez("in.npz", x=np.zeros(2000, np.float32))
    return tmp_path


def stepwell(*words: str, data: str = "") -> tuple[int, str, str]:
    finished = call_tool(main, Command(["stepwell", *words]), data.encode())
    return finished.exit_code, finished.stdout.decode(), finished.stderr.decode()


def contents() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


MOVES = 'externalize-weights{file="p.mlir"}'


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["opt", "p.mlir", "--externalize-weights", "p.mlir", "-o", "o.mlir"],
            "--externalize-weights 'p.mlir' is the program itself",
        ),
        (
            ["opt", "p.mlir", "--externalize-weights", "sub/../p.mlir"],
            "--externalize-weights 'sub/../p.mlir' is the program itself",
        ),
        (
            ["opt", "p.mlir", "--externalize-weights", "link.mlir"],
            "--externalize-weights 'link.mlir' is the program itself",
        ),
        (
            ["opt", "p.mlir", "--externalize-weights", "hard.mlir"],
            "--externalize-weights 'hard.mlir' is the program itself",
        ),
        (
            ["opt", "p.mlir", "--externalize-weights", "o.mlir", "-o", "./o.mlir"],
            "-o and --externalize-weights both name 'o.mlir', expected a file for each",
        ),
        (["opt", "p.mlir", "-p", MOVES], "the file of pass 'externalize-weights' 'p.mlir' is the program itself"),
        (
            ["opt", "link.mlir", "-p", MOVES.replace("p.mlir", "o.mlir"), "-o", "o.mlir"],
            "-o and the file of pass 'externalize-weights' both name 'o.mlir', expected a file for each",
        ),
        (["opt", "p.mlir", "--save-pipeline", "p.mlir"], "--save-pipeline 'p.mlir' is the program itself"),
        (["opt", "p.mlir", "--dump-failure", "p.mlir"], "--dump-failure 'p.mlir' is the program itself"),
        (["opt", "q.mlir", "-o", "w.safetensors"], "-o 'w.safetensors' is the weights file of the program itself"),
        (
            ["opt", "p.mlir", "--check-semantics", "--inputs", "in.npz", "--save-inputs", "in.npz"],
            "--save-inputs 'in.npz' is the file of --inputs itself",
        ),
        (["run", "p.mlir", "-p", MOVES, "--random", "0", "--no-cache"], "the file of pass 'externalize-weights', "),
        (["run", "p.mlir", "--random", "0", "--output", "p.mlir"], "--output 'p.mlir' is the program itself"),
        (["run", "p.mlir", "--inputs", "in.npz", "--output", "in.npz"], "--output 'in.npz' is the file of --inputs"),
        (
            ["run", "p.mlir", "--random", "0", "--profile-output", "link.mlir"],
            "--profile-output 'link.mlir' is the program itself",
        ),
        (
            ["run", "p.mlir", "--random", "0", "--check", "--save-inputs", "p.mlir"],
            "--save-inputs 'p.mlir' is the program itself",
        ),
        (
            ["run", "q.mlir", "--random", "0", "--output", "w.safetensors"],
            "--output 'w.safetensors' is the weights file of the program itself",
        ),
        (
            ["compile", "q.mlir", "-o", "w.safetensors"],
            "the output 'w.safetensors' is the weights file of the program itself",
        ),
        (
            ["calibrate", "p.mlir", "--data", "in.npz", "--output", "in.npz"],
            "--output 'in.npz' is the file of --data itself",
        ),
        (
            ["opt", "p.mlir", "-p", "nothing", "--save-repro", "p.mlir"],
            "--save-repro 'p.mlir' is a file that the command names itself",
        ),
        (
            ["import-onnx", "m.onnx", "-o", "m.safetensors"],
            "-o and the weights file both name 'm.safetensors', expected a file for each",
        ),
    ],
)
def test_what_is_read_is_not_replaced(words: list[str], said: str):
    before = contents()
    code, _, errors = stepwell(*words)
    assert code == 1 and f"error: {said}" in errors, errors
    assert contents() == before


@pytest.mark.parametrize(
    ("words", "flag"),
    [
        (["compile", "p.mlir", "-o"], "the output"),
        (["run", "p.mlir", "--random", "0", "--output"], "--output"),
        (["run", "p.mlir", "--random", "0", "--profile-output"], "--profile-output"),
        (["calibrate", "p.mlir", "--data", "in.npz", "-o"], "--output"),
        (["calibrate", "p.mlir", "--data", "in.npz", "--stats"], "--stats"),
        (["opt", "p.mlir", "--externalize-weights"], "--externalize-weights"),
        (["import-onnx", "m.onnx", "--stub"], "--stub"),
        (["opt", "p.mlir", "-p", "nothing", "--save-repro"], "--save-repro"),
    ],
)
def test_what_is_no_program_does_not_go_to_standard_output(words: list[str], flag: str):
    before = contents()
    for name, hint in (("-", "hint: a file of this name is ./-\n"), ("", "")):
        code, out, errors = stepwell(*words, name)
        assert (code, out) == (1, "") and errors == f"error: {flag} is '{name}', expected the name of a file\n{hint}"
    assert contents() == before


def test_a_program_goes_to_standard_output():
    assert stepwell("opt", "p.mlir", "-o", "-")[:2] == stepwell("opt", "p.mlir")[:2]
    before = contents()
    code, out, _ = stepwell("reduce", "q.mlir", "--command", "grep -q graph.add {}", "-o", "-")
    assert code == 0 and "graph.add" in out and contents() == before


def test_a_program_may_take_its_own_place():
    assert stepwell("opt", "p.mlir", "-o", "p.mlir")[0] == 0
    assert stepwell("opt", "q.mlir", "--externalize-weights", "w.safetensors", "-o", "q.mlir")[0] == 0


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--externalize-weights", "x.safetensors"], "--externalize-weights"),
        (["-p", MOVES], "pass 'externalize-weights'"),
        (["--dump-dir", "dumped"], "--dump-dir"),
    ],
)
def test_files_of_one_program_do_not_go_with_several(words: list[str], what: str):
    before = contents()
    code, _, errors = stepwell("opt", "p.mlir", "--split-input-file", *words)
    assert code == 1 and errors == f"error: {what} is about one program, it goes without --split-input-file\n"
    assert contents() == before


def named_in(file: str) -> str:
    return Path(file).read_text().partition('stepwell.weights = "')[2].partition('"')[0]


def test_a_program_elsewhere_names_the_same_weights():
    assert stepwell("opt", "q.mlir", "-p", "O1", "-o", "sub/q.mlir")[0] == 0
    assert named_in("sub/q.mlir") == "../w.safetensors"
    assert stepwell("run", "sub/q.mlir", "--random", "0")[0] == 0
    assert stepwell("opt", "sub/q.mlir", "-o", "back.mlir", "--dump-dir", "sub/dumped")[0] == 0
    assert named_in("back.mlir") == "w.safetensors"
    assert named_in("sub/dumped/000_input.mlir") == "../../w.safetensors"
    assert named_in_text(stepwell("opt", "sub/q.mlir")[1]) == "../w.safetensors", "standard output has no folder"


def named_in_text(text: str) -> str:
    Path("text").write_text(text)
    return named_in("text")


def test_the_pass_names_what_it_writes_as_seen_from_the_output():
    moves = 'externalize-weights{file="w4.safetensors"}'
    assert stepwell("opt", "p.mlir", "-p", moves, "-o", "sub/p4.mlir")[0] == 0
    assert named_in("sub/p4.mlir") == "../w4.safetensors" and open_weights("w4.safetensors").keys() == ["w"]
    Path("sub/p.mlir").write_text(PROGRAM)
    code, text, errors = stepwell("opt", "sub/p.mlir", "-p", moves)
    assert code == 0 and named_in_text(text) == "w4.safetensors", "as given, for standard output"
    code, text, errors = stepwell("opt", "sub/p.mlir", "-p", f"{moves},inline-weights")
    assert code == 0 and text == stepwell("opt", "p.mlir")[1], errors


def test_a_dump_of_a_failure_names_the_same_weights():
    Path("w.safetensors").rename("sub/w.safetensors")
    Path("q.mlir").rename("sub/q.mlir")
    broken = Path("sub/q.mlir").read_text().replace("tensor<3xf32>", "tensor<4xf32>")
    Path("sub/q.mlir").write_text(broken)
    assert stepwell("opt", "sub/q.mlir", "-p", "inline-weights", "--dump-failure", "f.mlir")[0] == 1
    assert named_in("f.mlir") == "sub/w.safetensors"
