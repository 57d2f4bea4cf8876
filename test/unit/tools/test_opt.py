"""The command line of `stepwell-opt`: what it loads, how fast it starts, what it writes, that it is deterministic."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from stepwell.testing.in_process import call_tool
from stepwell.testing.run_line import Command
from stepwell.tools.opt import main
from xdsl.ir import Attribute
from xdsl.xdsl_opt_main import xDSLOptMain

FULL = os.environ.get("STEPWELL_FULL", "") == "1"
ROOT = Path(__file__).resolve().parents[3]

PROGRAM = """func.func @main(%x: i32, %y: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %a = arith.addi %x, %zero : i32
  %b = arith.muli %a, %y {second = 2 : i32, first = 1 : i32} : i32
  %c = arith.muli %a, %y {second = 2 : i32, first = 1 : i32} : i32
  %d = arith.addi %b, %c : i32
  func.return %d : i32
}
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "program.mlir"
    path.write_text(PROGRAM)
    return str(path)


def opt(*arguments: str, data: str = "") -> tuple[int, str, str]:
    finished = call_tool(main, Command(["stepwell-opt", *arguments]), data.encode())
    return finished.exit_code, finished.stdout.decode(), finished.stderr.decode()


def process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, str(ROOT / "tools" / "opt.py"), *arguments],
        capture_output=True,
        env={**os.environ, **environment},
        cwd="/",
    )


def test_prints_what_xdsl_prints(program: str, capsys: pytest.CaptureFixture[str]):
    for flags in ([], ["--print-op-generic"], ["-p", "canonicalize,cse"], ["--print-no-properties"]):
        xDSLOptMain(args=[program, *flags]).run()
        expected = capsys.readouterr().out
        assert opt(program, *flags) == (0, expected, "")


def test_every_flag_of_xdsl_opt_is_there():
    _, listed, _ = opt("--help")
    import argparse

    parser = argparse.ArgumentParser()
    stock = xDSLOptMain(args=[os.devnull])
    stock.register_all_arguments(parser)
    for flag in parser._option_string_actions:
        assert re.search(rf"(^|[\s,]){flag}\b", listed), flag


def test_reads_standard_input():
    for arguments in ([], ["-"]):
        code, output, _ = opt(*arguments, data=PROGRAM)
        assert code == 0 and "@main" in output


def test_writes_a_file_and_nothing_else(program: str, tmp_path: Path):
    target = tmp_path / "out.mlir"
    assert opt(program, "-o", str(target)) == (0, "", "")
    assert "@main" in target.read_text()
    target.chmod(0o640)
    assert opt(program, "-o", str(target), "-p", "canonicalize")[0] == 0
    assert target.stat().st_mode & 0o777 == 0o640 and "constant" not in target.read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.mlir", "program.mlir"]


def test_writing_over_the_input_and_through_a_link(program: str, tmp_path: Path):
    link = tmp_path / "link.mlir"
    link.symlink_to(program)
    assert opt(program, "-o", str(link), "-p", "canonicalize")[0] == 0
    assert link.is_symlink() and "constant" not in Path(program).read_text()


def test_dev_null_stays_what_it_is(program: str):
    assert opt(program, "-o", os.devnull)[0] == 0
    assert not Path(os.devnull).is_file()


def test_disable_verify_is_undone(program: str):
    checked = Attribute.__post_init__
    wrong = PROGRAM.replace("func.return %d", "func.return %d, %d").replace("%d : i32\n", "%d, %d : i32, i32\n")
    assert opt("--disable-verify", data=PROGRAM.replace(": i32) -> i32 {", ": i32) -> i64 {"))[0] == 0
    assert Attribute.__post_init__ is checked
    assert opt(data=wrong)[0] == 1


def test_verify_each_can_be_switched_off(program: str):
    _, _, each = opt(program, "-p", "cse,cse", "--time-passes")
    _, _, none = opt(program, "-p", "cse,cse", "--time-passes", "--verify-each=false")
    verified = [float(line.split()[1]) for line in each.split("\n")[1:3]]
    unverified = [float(line.split()[1]) for line in none.split("\n")[1:3]]
    assert all(milliseconds > 0 for milliseconds in verified)
    assert unverified == [0.0, 0.0]


def test_shrink_as_in_xdsl_opt(program: str):
    code, output, _ = opt(program, "--shrink")
    assert code == 1 and "Failure, can't shrink" in output


def test_version_and_help_succeed():
    assert opt("--version")[0] == 0 and opt("--version")[1].startswith("stepwell-opt 0.")
    assert opt("--help")[0] == 0


def test_unregistered_ops_when_allowed():
    unknown = '"nowhere.op"() {a = 1 : i32} : () -> ()\n'
    assert opt(data=unknown)[0] == 1
    code, output, _ = opt("--allow-unregistered-dialect", data=unknown)
    assert code == 0 and '"nowhere.op"()' in output
    _, _, message = opt(
        "--allow-unregistered-dialect",
        data='%a = "nowhere.op"(%b) : (i32) -> i32\n%b = "x.y"() : () -> i32\n',
    )
    assert "'nowhere.op': operand 0 (%b) is used before its definition" in message


def test_debuginfo_shows_locations(program: str):
    assert f'loc("{program}":7:3)' in opt(program, "--print-debuginfo")[1]


def test_named_and_inlined_pipelines_agree():
    code, shown, _ = opt("--show-pipeline", "cse,canonicalize{}")
    assert (code, shown) == (0, "cse,\ncanonicalize\n")
    assert opt("-p", shown, data=PROGRAM)[0] == 0


# Processes


def test_runs_as_a_script_from_anywhere(program: str):
    finished = process(program, "-p", "canonicalize")
    assert finished.returncode == 0 and b"@main" in finished.stdout and finished.stderr == b""


@pytest.mark.ci_cases(0)
def test_output_does_not_depend_on_the_hash_seed(program: str):
    runs = [
        [process(program, "-p", "canonicalize,cse", "--print-debuginfo", PYTHONHASHSEED=seed).stdout,
         process("--list-dialects", PYTHONHASHSEED=seed).stdout]
        for seed in ("1", "2")
    ]  # fmt: skip
    assert runs[0] == runs[1] and runs[0][0]


def test_lowering_does_not_depend_on_the_hash_seed():
    """The whole way down, for several programs, in two processes."""
    names = [
        "mlp",
        "two_functions",
        *(["attention", "conv_block", "mixed_dtypes", "reductions"] if FULL else []),
    ]
    programs = [str(ROOT / "test" / "programs" / f"{name}.mlir") for name in names]
    code = "import sys; from stepwell.tools.opt import main; sys.exit(max(main([f, '-p', 'O2']) for f in sys.argv[1:]))"
    printed = []
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        finished = subprocess.run([sys.executable, "-c", code, *programs], capture_output=True, env=environment)
        assert finished.returncode == 0, finished.stderr.decode()
        printed.append(finished.stdout)
    assert printed[0] == printed[1] and b"llvm.func" in printed[0]


def test_graph_programs_are_printed_without_numpy():
    programs = sorted(str(path) for path in (ROOT / "test" / "programs").glob("*.mlir"))
    code = (
        "import sys; from stepwell.tools.opt import main; assert max(main([f]) for f in sys.argv[1:]) == 0; "
        "assert not {'numpy', 'llvmlite', 'ml_dtypes'} & set(sys.modules)"
    )
    finished = subprocess.run([sys.executable, "-c", code, *programs], capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("arguments", [[], ["-p", "canonicalize,cse"], ["--list-dialects"]])
def test_parse_and_print_load_neither_numpy_nor_llvmlite(program: str, arguments: list[str]):
    code = (
        "import sys; from stepwell.tools.opt import main; assert main(sys.argv[1:]) == 0; "
        "sys.exit(' '.join(m for m in ('numpy', 'llvmlite', 'ml_dtypes') if m in sys.modules))"
    )
    finished = subprocess.run([sys.executable, "-c", code, program, *arguments], capture_output=True, text=True)
    assert finished.returncode == 0 or finished.stderr == "\n", finished.stderr
    assert finished.stderr.strip() == ""


def test_a_closed_pipe_is_quiet(program: str):
    many = Path(program).with_name("many.mlir")
    many.write_text("".join(PROGRAM.replace("@main", f"@main{number}") for number in range(300)))
    command = f"'{sys.executable}' '{ROOT}/tools/opt.py' '{many}' | head -n 1"
    finished = subprocess.run(["bash", "-c", command], capture_output=True)
    assert finished.stdout == b"builtin.module {\n" and finished.stderr == b""


def test_a_long_chain_passes_the_tool(tmp_path: Path):
    lines = [f"  %v{number + 1} = arith.addi %v{number}, %v0 : i32" for number in range(4_000)]
    text = "\n".join(["func.func @main(%v0: i32) -> i32 {", *lines, "  func.return %v4000 : i32", "}"])
    path = tmp_path / "chain.mlir"
    path.write_text(text)
    code, output, errors = opt(str(path), "-p", "cse")
    assert (code, errors) == (0, "") and output.count("arith.addi") == 4_000
