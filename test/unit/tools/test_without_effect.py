"""Flags that would have no effect, which is said."""

from pathlib import Path

import numpy as np
import pytest
import stepwell as sw
from stepwell.runtime.errors import CompileError
from stepwell.testing.in_process import call_tool
from stepwell.testing.run_line import Command
from stepwell.tools.main import main

PROGRAM = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.mlir").write_text(PROGRAM)
    np.savez("in.npz", x=np.ones(4, np.float32), y=np.ones(4, np.float32))


def stepwell(*words: str) -> tuple[int, str]:
    finished = call_tool(main, Command(["stepwell", *words]), b"")
    return finished.exit_code, finished.stderr.decode()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["run", "p.mlir", "--random", "0", "--weights", "nope.safetensors"],
            "the program has no weights, but --weights gives 'nope.safetensors'\n",
        ),
        (["run", "p.stepwell", "--random", "0", "--opt-level", "1"], "'p.stepwell' is compiled: --opt-level is for"),
        (["run", "p.stepwell", "--random", "0", "--numerics", "fast"], "'p.stepwell' is compiled: --numerics is for"),
        (["run", "p.stepwell", "--random", "0", "--check"], "'p.stepwell' is compiled: --check is for programs\n"),
        (["run", "p.mlir", "--profile", "--trace-values"], "beside --profile, --trace-values would have no effect\n"),
        (["run", "p.mlir", "--profile-by", "node", "--time"], "beside --profile-by, --time would have no effect\n"),
        (["run", "p.mlir", "--trace-values", "--time"], "beside --trace-values, --time would have no effect\n"),
        (
            ["run", "p.mlir", "--trace-values", "--repeat", "5"],
            "beside --trace-values, --repeat would have no effect\n",
        ),
        (["run", "p.mlir", "--inputs", "in.npz", "--shapes", "4"], "beside --inputs, --shapes would have no effect\n"),
        (["run", "p.mlir", "--input", "x.npy", "--shapes", "4"], "beside --input, --shapes would have no effect\n"),
        (
            ["run", "p.mlir", "--inputs", "in.npz", "--export", "q.o"],
            "--export is instead of a run, so --inputs would have no effect\nhint: leave one of them out\n",
        ),
        (["run", "p.mlir", "--ir", "scf", "--time"], "--ir is instead of a run, so --time would have no effect\n"),
        (
            ["run", "p.mlir", "--random", "0", "--trust-code"],
            "'p.mlir' is no saved program: --trust-code would have no effect\nhint: leave it out\n",
        ),
        *(
            (
                [verb, "m.onnx", *words],
                f"'m.onnx' is a model: {words[0]} is for programs\nhint: stepwell import-onnx makes it a program\n",
            )
            for verb in ("run", "compile")
            for words in (["--entry", "nope"], ["--entry", "main"], ["--weights", "nope.safetensors"])
        ),
        (
            ["opt", "--test-rules", "--cases", "1", "-o", "x.mlir"],
            "--test-rules is about rules, not about a program: it goes without -o\n",
        ),
        (["opt", "p.mlir", "--cases", "3"], "--cases is for --test-rules, --mutate-rules and --check-rules\n"),
        (
            ["opt", "p.mlir", "--seed", "3"],
            "--seed is for --check-semantics, --bisect and the flags that test rules\n",
        ),
    ],
)
def test_what_has_no_effect_is_an_error(words: list[str], said: str):
    if "p.stepwell" in words:
        assert stepwell("compile", "p.mlir", "--no-cache") == (0, "")
    code, errors = stepwell(*words)
    assert code == 1 and errors.startswith(f"error: {said}"), errors


def test_weights_for_a_program_without_any_are_an_error():
    with pytest.raises(CompileError, match="the program has no weights, but weights= gives 'nope.safetensors'"):
        sw.compile("p.mlir", weights="nope.safetensors", cache=False)


def test_an_array_that_no_argument_takes_is_told():
    said = "warning: 'in.npz' has an array 'y', which no argument takes: the arguments are x\n"
    assert stepwell("run", "p.mlir", "--inputs", "in.npz", "--no-cache") == (0, said)


def test_a_pass_that_is_to_be_shown_and_does_not_run_is_told():
    words = ["opt", "p.mlir", "-o", "o.mlir", "-p"]
    warning = "warning: the IR {} pass 'cse' is to be printed, but the pipeline has not run that pass\n"
    assert stepwell(*words, "canonicalize", "--print-ir-after=cse") == (0, warning.format("after"))
    assert stepwell(*words, "canonicalize", "--print-ir-before=cse") == (0, warning.format("before"))
    assert "warning" not in stepwell(*words, "cse", "--print-ir-after=cse")[1]


def test_an_entry_that_is_named_is_run():
    """A file that was saved for another function runs that one only where no other is named."""
    Path("p.mlir").write_text(PROGRAM + PROGRAM.replace("@main", "@second").replace("relu", "exp"))
    assert stepwell("compile", "p.mlir", "--entry", "second", "--no-cache") == (0, "")
    words = ["run", "p.stepwell", "--inputs", "x.npz", "--output", "out.npz"]
    np.savez("x.npz", x=np.full(4, -1, np.float32))
    for entry, expected in ((["--entry", "main"], 0), (["--entry", "second"], np.exp(-1)), ([], np.exp(-1))):
        assert stepwell(*words, *entry) == (0, "")
        np.testing.assert_allclose(np.load("out.npz")["result0"], expected, rtol=1e-5)
    assert stepwell(*words, "--entry", "third")[1].startswith("error: there is no function @third; ")
