"""`--save-repro FILE` and `stepwell repro`: errors, signals, inputs, models, files of pipelines, what is refused."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np
import onnx
import pytest
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.tools.main import VERBS, main
from stepwell.tools.options.untrusted import FLAGS, needs_trust
from stepwell.trust.repro import Ending, LeftOut, Repro, parse_repro

PROGRAM = """\
func.func @main(%x: tensor<4xf32>, %i: tensor<2xi64>) -> tensor<2xf32> {
  %0 = graph.take %x, %i, axis = 0 : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
"""
PLUGIN = """
import os
from stepwell.core import StepwellPass
class Dies(StepwellPass):
    \"\"\"Dies.\"\"\"
    name = "dies-here"
    def apply(self, ctx, op):
        os.kill(os.getpid(), 9)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "away").mkdir()
    (tmp_path / "m.mlir").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def saved(*words: str) -> Repro:
    """Runs a command that fails, and returns what it has saved as `one.repro`."""
    assert main([*words, "--save-repro", "one.repro"]) != 0
    return parse_repro(Path("one.repro").read_text(), "one.repro")


def repeated(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """Runs it again elsewhere."""
    monkeypatch.chdir("away")
    return main(["repro", "../one.repro", *words])


def test_a_wrong_program(folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "m.mlir").write_text(PROGRAM.replace(", axis = 0", ""))
    repro = saved("opt", "m.mlir", "-p", "O1", "-o", str(folder / "out.mlir"))
    assert repro.words == ("opt", "m.mlir", "-p", "O1", "-o", "out.mlir")
    assert repro.ending.error == "error: graph.take needs the property 'axis'"
    assert {"stepwell", "xdsl", "llvmlite", "numpy", "python", "machine"} <= repro.versions.keys()
    assert repeated(monkeypatch) == 0
    assert capfd.readouterr().err.endswith(
        "note: 'one.repro' has this run: stepwell repro one.repro\n"
        "m.mlir:2:3: error: graph.take needs the property 'axis'\n"
        "    %0 = graph.take %x, %i : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>\n    ^\n"
        "repro: it ends as it did: exit code 1\n"
    )


def test_the_file_is_a_program_that_can_be_changed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    saved("opt", "m.mlir", "-p", "no-such-pass")
    text = Path("one.repro").read_text()
    assert main(["opt", "one.repro"]) == 0
    assert "graph.take %x, %i, axis = 0" in capfd.readouterr().out
    Path("one.repro").write_text(text.replace('"no-such-pass"', '"cse"'))
    assert repeated(monkeypatch) == 1
    assert capfd.readouterr().err == (
        "repro: it ends otherwise: exit code 0, it was exit code 1, error: unknown pass 'no-such-pass'\n"
    )


def test_a_run_with_its_inputs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    np.savez("in.npz", x=np.zeros(4, np.float32), i=np.array([1, 7]))
    repro = saved("run", "m.mlir", f"--inputs={folder}/in.npz", "--no-cache")
    assert repro.words == ("run", "m.mlir", "--inputs=in.npz", "--no-cache")
    assert repeated(monkeypatch) == 0
    assert "index out of range" in repro.ending.error


def test_standard_input(folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    import io
    import sys

    text = io.TextIOWrapper(io.BytesIO(PROGRAM.replace(", axis = 0", "").encode()))
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", text)
        assert saved("opt", "-").stdin == "stdin.mlir"
    assert main(["repro", "one.repro", "--unpack", "here"]) == 0
    assert capfd.readouterr().out == "cd here && stepwell opt - < stdin.mlir\n"
    assert repeated(monkeypatch) == 0


def test_what_a_pipeline_and_a_program_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "rules").mkdir()
    (folder / "rules" / "r.mlir").write_text("no rule\n")
    (folder / "w.safetensors").write_bytes(b"\0\1")
    program = (
        PROGRAM.replace("func.func", 'module attributes {stepwell.weights = "w.safetensors"} {\nfunc.func') + "}\n"
    )
    (folder / "m.mlir").write_text(program)
    repro = saved("opt", "m.mlir", "-p", 'apply-patterns{file="rules/r.mlir"}')
    assert repro.words[3] == 'apply-patterns{file="r.mlir"}'
    assert repro.files == {
        "m.mlir": program.encode(),
        "r.mlir": b"no rule\n",
        "w.safetensors": b"\0\1",
    }
    assert repeated(monkeypatch) == 0


def test_a_model_with_data_outside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = [onnx.helper.make_tensor_value_info(name, 1, [2]) for name in "xy"]
    weight = onnx.numpy_helper.from_array(np.ones(2, np.float32), "w")
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("NoSuch", ["x", "w"], ["y"])], "g", values[:1], values[1:], [weight]
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)])
    onnx.save(model, "n.onnx", save_as_external_data=True, location="n.bin", size_threshold=0)
    assert saved("import-onnx", "n.onnx").files.keys() == {"n.onnx", "n.bin"}
    assert repeated(monkeypatch) == 0


def test_a_signal_and_code_of_others(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "mine.py").write_text(PLUGIN)
    repro = saved("opt", "m.mlir", "-p", "dies-here", "--load-plugin", "mine.py")
    assert str(repro.ending) == "signal 9" and set(repro.files) == {"m.mlir", "mine.py"}
    assert repeated(monkeypatch) == 1
    assert capfd.readouterr().err.endswith(
        "error: '../one.repro' has code that would run: 'mine.py'\n"
        "hint: look at it (--unpack), and if you trust it: --trust-code\n"
    )
    assert main(["repro", "../one.repro", "--trust-code"]) == 0
    assert "repro: it ends as it did: signal 9\n" in capfd.readouterr().err


def test_a_run_that_succeeds_writes_nothing(folder: Path) -> None:
    assert main(["opt", "m.mlir", "-p", "cse", "--save-repro=one.repro"]) == 0
    assert not Path("one.repro").exists()


@pytest.mark.parametrize(
    "data", [b"", b"a", b"a\nb", b"a\r\n", b"\xff\n", b"// ==== x\n", b"a\n\n", "é\u2028\n".encode()]
)
def test_files_come_back_as_they_were(data: bytes) -> None:
    repro = Repro(("opt", "p"), Ending(1, 0, "error: it"), {}, {"A": "1"}, {"p": data, "q": data}, "p", "")
    found = parse_repro(repro.text(), "f")
    assert found.files == repro.files and found.variables == repro.variables and found.ending == repro.ending


def test_a_file_that_was_too_large_is_looked_for(tmp_path: Path) -> None:
    hash = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
    repro = parse_repro(Repro(("opt",), Ending(1), files={"w": LeftOut(1, hash)}).text(), "f")
    with pytest.raises(StepwellError, match=f"'w' was too large for the repro: 1 bytes, SHA-256 {hash}"):
        repro.unpack(tmp_path)
    (tmp_path / "w").write_bytes(b"x")
    repro.unpack(tmp_path)


@pytest.mark.ci_cases(6)
@pytest.mark.parametrize(
    "change, said",
    [
        (
            ("// stepwell repro 1", "// x"),
            "'one.repro' is no repro: it does not begin with '// stepwell repro 1'\n",
        ),
        (('words: ["opt"', "words: ["), "repro 'one.repro' is damaged: 'words' is no JSON"),
        (("// words", "// woods"), "repro 'one.repro' is damaged: its head has no 'words'"),
        (("// ==== program", "// ==== poem"), "repro 'one.repro' is damaged: '// ==== poem"),
        (
            (" m.mlir\n", " ../m.mlir\n"),
            "repro 'one.repro' is damaged: its file '../m.mlir' lies outside of the",
        ),
        (("// ==== program", "// ==== base64"), "repro 'one.repro' is damaged: its file 'm.mlir' has changed"),
        (('["opt"', '["rm"'), "'one.repro' runs no command of stepwell: rm m.mlir -p no-such-pass"),
        (('"no-such-pass"', '"/etc/passwd"'), "'one.repro' names '/etc/passwd', which is not in it"),
        (('"-p"', '"--command=rm"'), "'one.repro' has '--command=rm', which may run code or change what is not in it"),
    ],
)
def test_what_is_refused(change: tuple[str, str], said: str, capfd: pytest.CaptureFixture[str]) -> None:
    saved("opt", "m.mlir", "-p", "no-such-pass")
    text = Path("one.repro").read_text()
    assert change[0] in text
    Path("one.repro").write_text(text.replace(*change))
    capfd.readouterr()
    assert main(["repro", "one.repro"]) == 1
    assert capfd.readouterr().err.startswith(f"error: {said}")


SHELL = "touch '../done'"
EXTERNAL = """
func.func private @system(memref<4xf32>) -> i32
func.func @main(%x: memref<4xf32>) {
  %0 = func.call @system(%x) : (memref<4xf32>) -> i32
  func.return
}
"""


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["reduce", "m.mlir", "--comm", SHELL], "--comm"),
        (["reduce", "m.mlir", "--command", SHELL], "--command"),
        (["opt", "m.mlir", "--bisect-command", SHELL], "--bisect-command"),
        (["opt", "m.mlir", "--load-plugin", "p.txt"], "--load-plugin"),
        (["opt", "m.mlir", "--load-p=p.txt"], "--load-p=p.txt"),
        (["opt", "m.mlir", "--replay", "p.txt"], "--replay"),
        (["import-onnx", "m.onnx", "--converters", "p.txt"], "--converters"),
        (["import-onnx", "m.onnx", "--stub", "numpy.py"], "--stub"),
        (["opt", "m.mlir", "-p", 'mlir-opt{executable="sh"}'], 'mlir-opt{executable="sh"}'),
        (["opt", "m.mlir", "-p", 'cse{a="\\2Fetc"}'], 'cse{a="\\2Fetc"}'),
        (["opt", "m.mlir", "-p", 'externalize-weights{file="/x"}'], 'externalize-weights{file="/x"}'),
        (["run", "m.mlir", "--random", "0", "--output=/x"], "--output=/x"),
        (["opt", "m.mlir", "-o/x"], "-o/x"),
        (["opt", "m.mlir", "-o../x"], "-o../x"),
        (["update-checks", "m.mlir"], "update-checks"),
        (["cache", "--clear"], "--clear"),
        (["tune", "m.mlir"], "tune"),
        (["run", "m.stepwell", "--trust-code"], "--trust-code"),
    ],
)
def test_words_that_take_trust(words: list[str], shown: str, capfd: pytest.CaptureFixture[str]) -> None:
    files = {name: PROGRAM.encode() for name in ("m.mlir", "m.onnx", "p.txt")}
    Path("one.repro").write_text(Repro(tuple(words), Ending(1), files=files).text())
    assert main(["repro", "one.repro"]) == 1
    assert capfd.readouterr().err == (
        f"error: 'one.repro' has '{shown}', which may run code or change what is not in it\n"
        "hint: look at it (--unpack), and if you trust it: --trust-code\n"
    )


@pytest.mark.parametrize(
    ("words", "text", "shown"),
    [
        (["run", "m.mlir"], "%0 = llvm.mlir.constant(1 : i32) : i32", "m.mlir"),
        (["run", "m.mlir"], EXTERNAL, "m.mlir"),
        (["reduce", "m.mlir", "--wrong"], PROGRAM + "// -----\n" + EXTERNAL, "m.mlir"),
        (["opt", "m.mlir", "--check-semantics"], EXTERNAL, "m.mlir"),
        (["opt", "--test-rules=m.mlir"], 'pattern.rule "r" : relu(%x) => "llvm.inline_asm"(%x)', "m.mlir"),
        (
            ["opt", "m.mlir", "--check-semantics", "--allow-unregistered-dialect"],
            EXTERNAL + 'func.func @other() {\n  "a.b"() : () -> ()\n  func.return\n}\n',
            "m.mlir",
        ),
    ],
)
def test_programs_that_take_trust(words: list[str], text: str, shown: str) -> None:
    repro = Repro(tuple(words), Ending(1), files={"m.mlir": text.encode(), "in.npz": b"\xff\0"})
    assert needs_trust(repro) == f"has code that nothing checks and that would run: '{shown}'"
    assert needs_trust(Repro(("opt", "m.mlir"), Ending(1), files=repro.files)) is None


def test_variables_that_take_trust() -> None:
    def found(**variables: str) -> str | None:
        return needs_trust(Repro(("opt", "m.mlir"), Ending(1), variables=variables))

    assert found(STEPWELL_THREADS="2", STEPWELL_CACHE_DIR="/home/me/cache", STEPWELL_TUNING_DB="off") is None
    for name, value in (("STEPWELL_CACHE_DIR", "mine"), ("LD_PRELOAD", "x"), ("STEPWELL_TUNING_DB", "../x")):
        assert found(**{name: value}) == f"has the variable {name}, which may run code or change what is not in it"


def test_what_debugging_needs_takes_no_trust() -> None:
    rules = b'pattern.rule "twice" : add(%x, %x) => multiply(%x, %x)\n'
    for words in (
        ["opt", "m.mlir", "-p", 'apply-patterns{file="r.mlir"},O3', "--check-semantics", "--seed", "-1"],
        ["run", "m.mlir", "--inputs=in.npz", "--output", "out.npz", "--export", "m.so"],
        ["reduce", "-pO3", "m.mlir", "--crash"],
        ["fuzz", "--rules", "r.mlir", "--seconds", "1"],
        ["compile", "m.mlir", "-o", "m.stepwell"],
        ["opt", "-"],
    ):
        assert needs_trust(Repro(tuple(words), Ending(1), files={"m.mlir": PROGRAM.encode(), "r.mlir": rules})) is None


@pytest.mark.parametrize("verb", FLAGS)
def test_the_flags_that_take_no_trust_are_flags(verb: str) -> None:
    parser = import_module(f"stepwell.tools.{VERBS[verb][0]}").argument_parser()
    assert set(FLAGS[verb].split()) <= set(parser._option_string_actions)


def test_a_file_that_is_no_text(capfd: pytest.CaptureFixture[str]) -> None:
    Path("one.repro").write_bytes(b"\xff\xfe")
    assert main(["repro", "one.repro"]) == 1
    assert capfd.readouterr().err == (
        "error: 'one.repro' is no repro: it is no text in UTF-8\nhint: --save-repro of any command writes one\n"
    )
