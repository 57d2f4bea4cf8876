"""The command line of `stepwell-run`: where inputs come from, where results go, what an error looks like."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import stepwell
from stepwell.core.messages.diagnostics import listening
from stepwell.core.weights import write_weights
from stepwell.testing.in_process import call_tool
from stepwell.testing.run_line import Command
from stepwell.tools import opt
from stepwell.tools import run as run_module
from stepwell.tools.run import main

ADD = """func.func @main(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = graph.add %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}
"""

TAKE = """func.func @main(%x: tensor<4xf32>, %i: tensor<3xi64>) -> tensor<3xf32> {
  %0 = graph.take %x, %i, axis = 0 : (tensor<4xf32>, tensor<3xi64>) -> tensor<3xf32>
  func.return %0 : tensor<3xf32>
}
"""

DYNAMIC = """func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = graph.relu %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  func.return %0 : tensor<?x3xf32>
}
"""

WEIGHTS = """builtin.module attributes {stepwell.weights = "w.safetensors"} {
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %w = graph.weight "w" : tensor<2xf32>
    %0 = graph.multiply %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    func.return %0 : tensor<2xf32>
  }
}
"""

X = np.arange(6, dtype=np.float32).reshape(2, 3)
Y = np.array([10, 20, 30], np.float32)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the programs, to run in; no cache of anybody else."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path / "cache"))
    for name, text in (("add", ADD), ("take", TAKE), ("dynamic", DYNAMIC), ("weights", WEIGHTS)):
        (tmp_path / f"{name}.mlir").write_text(text)
    (tmp_path / "unnamed.mlir").write_text(WEIGHTS.replace(' attributes {stepwell.weights = "w.safetensors"}', ""))
    np.save("x.npy", X)
    np.save("y.npy", Y)
    return tmp_path


def run(*arguments: str, data: str = "") -> tuple[int, str, str]:
    finished = call_tool(main, Command(["stepwell-run", *arguments]), data.encode())
    return finished.exit_code, finished.stdout.decode(), finished.stderr.decode()


def results(path: str = "out.npz") -> dict[str, Any]:
    return dict(np.load(path))


def fails(*arguments: str, data: str = "") -> str:
    """The message of a run that fails as it should: exit code 1, one screen, no traceback, nothing else printed."""
    before = sorted(Path().iterdir())
    code, out, err = run(*arguments, data=data)
    assert code == 1 and out == ""
    assert "Traceback" not in err and "internal error" not in err and len(err.splitlines()) < 25
    assert sorted(path for path in Path().iterdir() if path.name != "cache") == [
        path for path in before if path.name != "cache"
    ]
    return err


class TestInputs:
    def test_one_file_per_argument(self) -> None:
        assert run("add.mlir", "--input", "x.npy", "--input", "y.npy", "--output", "out.npz") == (0, "", "")
        np.testing.assert_array_equal(results()["result0"], X + Y)

    @pytest.mark.parametrize("names", [("x", "y"), ("arr_0", "arr_1"), ("arr_0", "y")])
    def test_an_archive_by_name_or_by_place(self, names: Sequence[str]) -> None:
        # The order in the archive does not matter.
        np.savez("in.npz", **{names[1]: Y, names[0]: X, "other": X})
        assert run("add.mlir", "--inputs", "in.npz", "--output", "out.npz")[0] == 0
        np.testing.assert_array_equal(results()["result0"], X + Y)

    def test_random_ones_follow_from_the_seed(self) -> None:
        once, again = run("add.mlir", "--random", "3"), run("add.mlir", "--random", "3")
        assert once == again and once[0] == 0 and once[1].startswith("result0: tensor<2x3xf32> [")
        assert run("add.mlir", "--random", "4") != once

    def test_random_ones_of_unknown_size(self) -> None:
        code, out, _ = run("dynamic.mlir", "--random", "1", "--shapes", "2x3", "--print")
        assert code == 0 and out.startswith("result0 = float32[2, 3]\n")

    def test_sizes_come_from_the_files(self) -> None:
        np.save("wide.npy", -np.ones((5, 3), np.float32))
        assert run("dynamic.mlir", "--input", "wide.npy", "--output", "out.npz")[0] == 0
        assert results()["result0"].shape == (5, 3)

    def test_bf16_crosses_files(self) -> None:
        text = ADD.replace("f32", "bf16")
        np.save("x.npy", X.astype(ml_dtypes.bfloat16))
        np.savez("in.npz", x=X.astype(ml_dtypes.bfloat16), y=Y.astype(ml_dtypes.bfloat16))
        assert run("-", "--inputs", "in.npz", "--output", "out.npz", data=text) == (0, "", "")
        found = results()["result0"].view(ml_dtypes.bfloat16)
        np.testing.assert_array_equal(found.astype(np.float32), X + Y)


class TestOutput:
    def test_print_shows_name_type_and_values(self) -> None:
        code, out, err = run("add.mlir", "--input", "x.npy", "--input", "y.npy", "--print")
        assert (code, err) == (0, "")
        assert out == "result0 = float32[2, 3]\n[[10. 21. 32.]\n [13. 24. 35.]]\n"

    def test_without_flags_a_summary(self) -> None:
        np.save("many.npy", np.zeros((4, 3), np.float32))
        specialised, result = run("dynamic.mlir", "--input", "many.npy")[1].splitlines()
        assert result == "result0: tensor<?x3xf32> [0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 …]"
        assert re.fullmatch(r"specialised for 4x3: ready after \d+\.\d{3} s, found by 0 calls", specialised)

    def test_repeat_times_the_call_alone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Ctrl-C is caught around the calls, not in each of them: that took ten times as long as a small call."""
        guarded: list[int] = []
        guard = run_module.interruptible
        monkeypatch.setattr(run_module, "interruptible", lambda: guarded.append(1) or guard())
        assert run("add.mlir", "--random", "1", "--repeat", "50")[0] == 0
        assert len(guarded) == 2

    def test_repeat_prints_times(self) -> None:
        code, out, _ = run("add.mlir", "--random", "1", "--repeat", "3")
        assert code == 0 and out.startswith("3 runs: first ") and "median" in out

    def test_the_file_is_replaced_whole_and_nothing_else_is_left(self, folder: Path) -> None:
        Path("out.npz").write_text("old")
        assert run("add.mlir", "--random", "1", "--output", "out.npz")[0] == 0
        assert list(results()) == ["result0"]
        assert [path.name for path in folder.iterdir() if "tmp" in path.name] == []

    @pytest.mark.parametrize(
        ("stair", "mark"),
        [
            ("graph", "graph.add"),
            ("tensor_loop", "tensor_loop.func"),
            ("scf", "scf.for"),
            ("llvm-ir", "define"),
        ],
    )
    def test_ir_prints_a_stair_and_runs_nothing(self, stair: str, mark: str) -> None:
        code, out, err = run("add.mlir", "--ir", stair)
        assert (code, err) == (0, "") and mark in out

    def test_ir_of_unknown_sizes(self) -> None:
        assert "graph.relu" in run("dynamic.mlir", "--ir", "graph")[1]
        assert "memref<2x3xf32>" in run("dynamic.mlir", "--ir", "scf", "--shapes", "2x3")[1]
        assert 'hint: give the sizes first: specialize-shapes{main="4x784"}' in fails("dynamic.mlir", "--ir", "scf")


class TestPrograms:
    @pytest.mark.parametrize("level", range(4))
    def test_every_level(self, level: int) -> None:
        code, out, _ = run("add.mlir", "--input", "x.npy", "--input", "y.npy", "--opt-level", str(level))
        assert code == 0 and out == "result0: tensor<2x3xf32> [10.0 21.0 32.0 13.0 24.0 35.0]\n"

    @pytest.mark.ci_cases(4)
    @pytest.mark.parametrize(
        "passes",
        [
            "graph-optimize",
            "lower-graph-to-loops",
            "to-loops",
            "to-loops,bufferize",
            "to-loops,bufferize,schedule-cpu",
            "to-loops,bufferize,schedule-cpu,lower-loops-to-scf",
            "to-loops,bufferize,schedule-cpu,to-llvm",
        ],
    )
    def test_text_of_every_stair_runs_and_gives_the_same(self, passes: str) -> None:
        text = call_tool(opt.main, Command(["stepwell-opt", "add.mlir", "-p", passes]), b"").stdout.decode()
        assert text
        found = run("-", "--input", "x.npy", "--input", "y.npy", data=text)
        assert found == (0, "result0: tensor<2x3xf32> [10.0 21.0 32.0 13.0 24.0 35.0]\n", "")
        # The passes may as well run here.
        assert run("add.mlir", "-p", passes, "--input", "x.npy", "--input", "y.npy") == found

    def test_the_target_is_that_of_the_program_and_of_its_export(self) -> None:
        code, out, _ = run("add.mlir", "--target", "neoverse-v2", "--ir", "asm")
        assert code == 0 and "fadd" in out
        assert run("add.mlir", "--target", "neoverse-v2", "--export", "add.o") == (0, "", "")
        assert Path("add.o").read_bytes()[18] == 183, "e_machine of ELF: AArch64"
        found = fails("add.mlir", "--target", "neoverse-v2", "--random", "1")
        assert "error: the program is compiled for neoverse-v2, and this processor is of " in found
        assert "unknown target 'm68k'" in fails("add.mlir", "--target", "m68k", "--random", "1")

    def test_another_entry(self) -> None:
        text = ADD + ADD.replace("@main", "@other").replace("graph.add", "graph.subtract")
        arguments = ("-", "--entry", "other", "--input", "x.npy", "--input", "y.npy")
        assert run(*arguments, data=text)[1].startswith("result0: tensor<2x3xf32> [-10.0 -19.0")

    def test_weights_beside_the_program_or_given(self) -> None:
        np.save("ones.npy", np.ones(2, np.float32))
        write_weights("w.safetensors", {"w": np.array([2, 3], np.float32)})
        write_weights("v.safetensors", {"w": np.array([4, 5], np.float32)})
        assert run("weights.mlir", "--input", "ones.npy")[1] == "result0: tensor<2xf32> [2.0 3.0]\n"
        given = run("weights.mlir", "--input", "ones.npy", "--weights", "v.safetensors")
        assert given[1] == "result0: tensor<2xf32> [4.0 5.0]\n"
        # Of a program from standard input, the file is relative to the working directory.
        assert run("-", "--input", "ones.npy", data=WEIGHTS)[1] == "result0: tensor<2xf32> [2.0 3.0]\n"


class TestErrors:
    def test_a_failure_at_run_time_points_at_the_op_and_writes_nothing(self) -> None:
        np.savez("in.npz", x=np.arange(4, dtype=np.float32), i=np.array([0, 9, 1]))
        err = fails("take.mlir", "--inputs", "in.npz", "--output", "out.npz", "--print")
        lines = err.splitlines()
        assert lines[0] == "take.mlir:2:3: error: graph.take: index out of range"
        assert lines[1].strip().startswith("%0 = graph.take %x, %i")
        assert lines[2].strip() == "^" and lines[1].index("%0") == lines[2].index("^")
        assert not Path("out.npz").exists()

    def test_the_same_of_a_program_from_standard_input(self) -> None:
        np.savez("in.npz", x=np.arange(4, dtype=np.float32), i=np.array([0, 9, 1]))
        err = fails("-", "--inputs", "in.npz", data=TAKE)
        assert err.startswith("<stdin>:2:3: error: graph.take: index out of range\n    %0 = graph.take")

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("none.mlir",), "error: cannot read 'none.mlir': no such file or directory"),
            (
                ("add.mlir", "--input", "none.npy"),
                "error: cannot read input 'none.npy': no such file or directory",
            ),
            (("add.mlir", "--inputs", "x.npy"), "error: input 'x.npy' is one array, expected a .npz archive"),
            (("add.mlir", "--input", "x.npy"), "error: 'main' takes 2 arguments ('x', 'y'), found 1"),
            (
                ("add.mlir", "--input", "y.npy", "--input", "y.npy"),
                "error: argument 'x' has rank 1 (shape 3), expected tensor<2x3xf32>",
            ),
            (("add.mlir", "--entry", "mian", "--random", "1"), "error: the module has no function @mian"),
            (("add.mlir", "-p", "fold", "--random", "1"), "error: unknown pass 'fold'"),
            (
                ("add.mlir", "-p", "qqqq", "--random", "1"),
                "error: unknown pass 'qqqq'\n"
                "hint: stepwell opt --list-passes lists the passes and the named pipelines\n",
            ),
            (
                ("unnamed.mlir", "--random", "1"),
                "error: the program reads weights ('w') but the module names no file: add the module attribute "
                'stepwell.weights = "file.safetensors" or pass --weights\n',
            ),
            (("dynamic.mlir", "--export", "a.o"), "error: @main takes arrays of unknown sizes (?): exporting needs --"),
            (("add.mlir", "-p", "fold-constant{", "--random", "1"), "error: malformed pipeline"),
            (("add.mlir", "--random", "-1"), "error: the seed is -1, expected a number that is not negative"),
            (("add.mlir", "--random", "1", "--shapes", "2x3"), "error: --shapes gives 1 shapes, expected 2"),
            (("dynamic.mlir", "--random", "1", "--shapes", "2y3"), "error: shapes '2y3' are malformed"),
            (("dynamic.mlir", "--random", "1", "--shapes=-1x3"), "error: shapes '-1x3' are malformed, expected for"),
            (
                ("dynamic.mlir", "--random", "1", "--shapes", "999999999999999999999x3"),
                "error: an array of shape 999999999999999999999x3 has more bytes than a computer can address\n"
                "hint: give smaller sizes to --shapes",
            ),
            (
                ("dynamic.mlir", "--random", "1", "--shapes", "4611686018427387904x0x3"),
                "error: an array of shape 4611686018427387904x0x3 has more bytes than a computer can address",
            ),
            (("dynamic.mlir", "--memory", "--shapes=-1x3"), "error: shapes '-1x3' are malformed, expected for"),
            (
                ("dynamic.mlir", "--random", "1"),
                "error: argument 'x' is tensor<?x3xf32>: its size is not known",
            ),
            (
                ("dynamic.mlir", "--random", "1", "--shapes", "2x4"),
                "error: argument 'x' has shape 2x4, expected",
            ),
            (
                ("add.mlir", "--ir", "scf", "--print"),
                "error: --ir is instead of a run, so --print would have no effect\nhint: leave one of them out",
            ),
            (("add.mlir", "--memory", "--export", "a.so"), "error: --memory is instead of a run, so --export would"),
            (("add.mlir", "--export", "a.so", "--repeat", "3"), "error: --export is instead of a run, so --repeat"),
            (("add.mlir", "--ir", "hlo"), "error: there is no level 'hlo', expected one of graph"),
            (
                ("add.mlir", "--random", "1", "--output", "no/out.npz"),
                "error: cannot write 'no/out.npz': no such",
            ),
            (("add.mlir", "--random", "1", "--input", "x.npy"), "error: argument --input: not allowed with"),
            (
                ("weights.mlir", "--random", "1"),
                "weights.mlir:3:5: error: weights file 'w.safetensors': no such file or directory",
            ),
        ],
    )
    def test_wrong_arguments(self, arguments: tuple[str, ...], message: str) -> None:
        assert message in fails(*arguments)

    @pytest.mark.parametrize("content", [b"", b"PK garbage", b"PK\x03\x04 cut off", b"\x93NUMPY\x01\x00", b"no array"])
    @pytest.mark.parametrize("flag", ["--input", "--inputs"])
    def test_files_that_are_no_arrays(self, content: bytes, flag: str) -> None:
        Path("bad").write_bytes(content)
        assert fails("add.mlir", flag, "bad").startswith("error: input 'bad' is not a .npy or .npz file")

    def test_an_archive_where_an_array_is_expected(self) -> None:
        np.savez("in.npz", x=X)
        assert fails("add.mlir", "--input", "in.npz") == (
            "error: input 'in.npz' is an archive, expected one array\nhint: use --inputs\n"
        )

    def test_missing_damaged_and_python_arrays_in_an_archive(self) -> None:
        np.savez("in.npz", x=X, yy=Y)
        err = fails("add.mlir", "--inputs", "in.npz")
        assert err == "error: 'in.npz' has no array for argument 'y' (tensor<3xf32>)\nhint: did you mean 'yy'?\n"
        np.savez("in.npz", x=np.array([{}], dtype=object), y=Y)
        assert (
            fails("add.mlir", "--inputs", "in.npz")
            == "error: array 'x' of 'in.npz' is damaged or holds Python objects\n"
        )
        np.savez("in.npz", x=X, y=Y)
        data = bytearray(Path("in.npz").read_bytes())
        data[150] ^= 0xFF
        Path("in.npz").write_bytes(data)
        assert "array 'x' of 'in.npz' is damaged" in fails("add.mlir", "--inputs", "in.npz")

    def test_a_weights_file_of_another_kind(self) -> None:
        Path("w.safetensors").write_text("no weights")
        assert "w.safetensors" in fails("weights.mlir", "--random", "1")

    def test_a_program_that_does_not_parse(self) -> None:
        err = fails("-", "--random", "1", data=ADD.replace("graph.add", "graph.ad"))
        assert err.startswith("<stdin>:2:") and "graph.ad" in err


@pytest.mark.parametrize(
    ("passes", "told"),
    [
        ("fold-constant", True),
        ("fold-constant,eliminate-dead-code", True),
        ("fold-constant,O3", False),
        ("O1", False),
        ("graph-optimize", False),
        ("lower-graph-to-loops", False),
        ("", False),
    ],
)
def test_a_pipeline_that_leaves_the_optimiser_out_says_so(passes: str, told: bool) -> None:
    """AUDIT B5."""
    code, _, error = run("add.mlir", "-p", passes, "--random", "1")
    remark = f"remark: the pipeline '{passes}' runs in place of the optimiser; '{passes},O3' has both\n"
    assert (code, error) == (0, remark if told else "")


def test_python_hears_that_the_optimiser_is_left_out() -> None:
    """AUDIT B5."""
    heard: list[str] = []
    with listening(lambda diagnostic: heard.append(diagnostic.message)):
        stepwell.compile(ADD, pipeline="fold-constant")
        stepwell.compile(ADD, pipeline="fold-constant,O3")
        stepwell.compile(ADD)
    told = [text for text in heard if "optimiser" in text]
    assert len(told) == 1 and told[0].endswith(
        "the pipeline 'fold-constant' runs in place of the optimiser; 'fold-constant,O3' has both"
    )


def test_time_names_the_stages_and_adds_up():
    for known in (False, True):
        code, out, err = run("add.mlir", "--random", "1", "--time")
        assert (code, err) == (0, "")
        lines = out.splitlines()
        rows = [line.split(maxsplit=1) for line in lines[1 : next(i for i, x in enumerate(lines) if "total" in x) + 1]]
        names = [name for _, name in rows]
        compiled = [name for name in names if name.startswith("pass ")]
        assert ("pass lower-to-llvm-dialect" in compiled) != known
        expected = ["import", "parse", *([] if known else ["import of passes", *compiled, "machine code"])]
        assert names == [*expected, "load", "first run", "other", "total"]
        seconds = [float(number) for number, _ in rows]
        assert sum(seconds[:-1]) == pytest.approx(seconds[-1], abs=0.05)


def test_no_time_without_the_flag():
    assert "seconds" not in run("add.mlir", "--random", "1")[1]


DONATED = """
func.func @main(%s: tensor<4xf32> {stepwell.donated}, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.add %s, %x : (tensor<4xf32>, tensor<4xf32>)
  func.return %0 : tensor<4xf32>
}
"""


@pytest.mark.parametrize("size", ["4", "?"])
def test_repeated_calls_get_the_arguments_that_were_given(size: str, folder: Path) -> None:
    Path("donated.mlir").write_text(DONATED.replace("<4x", f"<{size}x"))
    np.savez("given.npz", s=np.zeros(4, np.float32), x=np.ones(4, np.float32))
    code, *_ = run("donated.mlir", "--inputs", "given.npz", "--repeat", "5", "--output", "out.npz")
    assert code == 0
    np.testing.assert_array_equal(np.load("out.npz")["result0"], np.ones(4))


@pytest.mark.parametrize("instrument", ["--profile", "--trace-values"])
def test_a_profile_and_a_trace_give_the_results_too(instrument: str) -> None:
    code, out, _ = run("add.mlir", "--random", "1", instrument, "--print", "--output", "out.npz")
    assert code == 0 and "result0 = float32" in out
    assert list(np.load("out.npz")) == ["result0"]
