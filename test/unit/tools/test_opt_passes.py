"""`stepwell-opt`: which passes run, configuration, dumps, records and replays; docs/passes.md."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from pathlib import Path
from types import ModuleType

import pytest
from stepwell.core.ir.structural_hash import structural_hash
from stepwell.core.passes.context import PassContext
from stepwell.core.passes.decorators import module_pass
from stepwell.core.passes.sequential import Sequential
from stepwell.core.text.parsing import parse
from stepwell.lowering.pipelines import POINTS
from stepwell.testing.in_process import call_tool
from stepwell.testing.run_line import Command
from stepwell.tools.opt import main
from stepwell.tools.pages.passes import page
from stepwell.universe import PASSES, pipelines
from xdsl.dialects.builtin import UnitAttr

ROOT = Path(__file__).resolve().parents[3]
MLP = str(ROOT / "test" / "programs" / "mlp.mlir")

PROGRAM = """func.func @main(%x: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %a = arith.addi %x, %zero : i32
  %b = arith.addi %x, %zero : i32
  %c = arith.muli %a, %b : i32
  func.return %c : i32
}
"""


def opt(*arguments: str, data: str = PROGRAM) -> tuple[int, str, str]:
    finished = call_tool(main, Command(["stepwell-opt", *arguments]), data.encode())
    return finished.exit_code, finished.stdout.decode(), finished.stderr.decode()


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


# Which passes run


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_opt_level_cuts_a_pipeline_down(level: int):
    code, output, errors = opt(MLP, "-p", "O2", "--opt-level", str(level))
    assert (code, errors) == (0, "")
    with PassContext(level):
        assert output == str(Sequential(["O2"])(parse(MLP))) + "\n\n"


@pytest.mark.ci_cases(0)
def test_without_the_flag_nothing_is_left_out():
    expected = opt(MLP, "-p", "O3")
    assert expected == opt(MLP, "-p", "O3", "--opt-level", "3") != opt(MLP, "-p", "O3", "--opt-level", "1")
    assert expected == opt(MLP, "-p", "O3", "--config", "verify-each=true")


def test_other_flags_bring_no_level_with_them():
    @module_pass("of-level-three", opt_level=3)
    def of_level_three(module, ctx):
        """Marks the module."""
        module.attributes["marked"] = UnitAttr()

    for flags in ([], ["--config", "verify-each=true"], ["--disable-pass", "cse"], ["--opt-level=3"]):
        assert "marked" in opt("-p", "of-level-three", *flags)[1]
    assert "marked" not in opt("-p", "of-level-three", "--opt-level=2")[1]


def test_passes_are_disabled_and_required():
    both = opt("-p", "canonicalize,cse")[1]
    assert opt("-p", "canonicalize,cse", "--disable-pass", "canonicalize")[1] == opt("-p", "cse")[1] != both
    assert opt("-p", "canonicalize,cse", "--disable-pass=canonicalize,cse")[1] == opt()[1]
    off = ["--disable-pass=cse", "--disable-pass=canonicalize"]
    assert opt("-p", "canonicalize,cse", *off, "--require-pass=cse")[1] == opt()[1]
    ran = opt(MLP, "-p", "graph-optimize", "--opt-level=0", "--require-pass=fold-constant", "--statistics")[2]
    assert [line.split(":")[0] for line in ran.splitlines() if " ops -> " in line] == [
        "specialize-shapes",
        "fold-constant",
    ]


def test_remarks_say_what_was_left_out():
    _, _, errors = opt("-p", "cse", "--disable-pass", "cse", "--remarks")
    assert "remark: 'builtin.module': pass 'cse' skipped: disabled" in errors
    assert opt("-p", "cse", "--disable-pass", "cse")[2] == ""


def test_config():
    direct = opt(MLP, "-p", "lower-graph-to-loops,bufferize{reuse=false}")
    assert direct == opt(MLP, "-p", "lower-graph-to-loops,bufferize", "--config", "bufferize.reuse=false")
    quick = opt("-p", "cse", "--config", "verify-each=false", "--time-passes")[2]
    assert quick.splitlines()[1].split()[1:] == ["0.000", "cse"]


@pytest.mark.parametrize(
    "flags, message",
    [
        (["--disable-pass=canonicalise"], "unknown pass 'canonicalise'\nhint: did you mean 'canonicalize'?"),
        (["--require-pass=zzz"], "unknown pass 'zzz'"),
        (["--opt-level=7"], "--opt-level is 7, expected one of 0, 1, 2, 3"),
        (["--opt-level=-1"], "--opt-level is -1, expected one of 0, 1, 2, 3"),
        (["--opt-level=two"], "argument --opt-level: invalid int value: 'two'"),
        (["--config", "verify-each"], "config setting 'verify-each' is not of the form key=value"),
        (["--config", "verfy-each=true"], "did you mean 'verify-each'?"),
        (["--config", "verify-each=3"], "config key 'verify-each' is \"3\", expected flag"),
        (["--replay=r.json", "-p", "cse"], "--replay runs the passes of its record"),
        (["--replay=r.json", "--opt-level=1"], "--replay runs the passes of its record"),
        (["--replay=r.json"], "cannot read 'r.json': no such file"),
        (["--save-pipeline=r.json", "--split-input-file"], "--save-pipeline is about one program"),
    ],
)
def test_wrong_flags_are_explained(flags: list[str], message: str):
    code, output, errors = opt(*flags)
    assert (code, output) == (1, "") and message in errors


def test_listing_shows_the_level():
    listed = opt("--list-passes")[1]
    assert "\n  plan-fusion                      level 2  Marks which ops" in listed
    assert "\n  canonicalize                     level 0  Applies all" in listed
    assert "\n  verify-each                      verify the module after every pass\n      flag = true" in listed


# Dumps


def test_dump_directory(tmp_path: Path):
    _, output, _ = opt("-p", "canonicalize,cse", "--dump-dir", "some/dump")
    folder = tmp_path / "some" / "dump"
    assert sorted(path.name for path in folder.iterdir()) == [
        "000_input.mlir",
        "001_canonicalize.mlir",
        "002_cse.mlir",
    ]
    assert (folder / "000_input.mlir").read_text().strip() == opt()[1].strip()
    assert (folder / "002_cse.mlir").read_text().strip() == output.strip()


def test_a_failing_pass_is_named_and_what_it_was_given_is_dumped():
    program = (
        "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = graph.relu %x : (tensor<4xf32>) -> "
        "tensor<4xf32>\n  func.return %y : tensor<4xf32>\n}\n"
    )
    flags = ["-p", "cse,bufferize", "--dump-failure", "given.mlir", "--dump-dir", "dump"]
    code, _, errors = opt(*flags, data=program)
    assert code == 1 and "note: in pass 'bufferize' (number 2 of the pipeline)" in errors
    assert "note: what the pass was given is in given.mlir" in errors
    given = Path("given.mlir").read_text()
    assert given.startswith("// stepwell-opt given.mlir -p bufferize\n")
    assert structural_hash(parse("given.mlir")) == structural_hash(parse("dump/001_cse.mlir"))
    assert "'graph.relu' works on tensors" in opt("given.mlir", "-p", "bufferize")[2]
    assert "is in given.mlir" not in opt("-p", "cse,bufferize", data=program)[2]


def test_the_command_of_a_dump_repeats_the_failure(tmp_path: Path):
    """It names the flags without which the program is not read, and runs in the folder of the dump."""
    Path("plug.py").write_text("from xdsl.passes import ModulePass\n")
    program = 'func.func @f() {\n  "foo.bar"() : () -> ()\n  func.return\n}\n'
    flags = ["--allow-unregistered-dialect", "--load-plugin=plug.py", "--config", "target=x86-64-v3"]
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    code, _, errors = opt(*flags, "-p", "O1", "--dump-failure", str(folder / "given.mlir"), data=program)
    assert code == 1 and "'foo.bar': no lowering to the llvm dialect" in errors
    first = (folder / "given.mlir").read_text().splitlines()[0]
    plugin = os.path.relpath("plug.py", folder)
    assert first == (
        f"// stepwell-opt given.mlir --allow-unregistered-dialect --load-plugin={plugin} --config=target=x86-64-v3 "
        "-p lower-to-llvm-dialect"
    )
    os.chdir(folder)
    code, _, errors = opt(*shlex.split(first)[2:])
    assert code == 1 and "'foo.bar': no lowering to the llvm dialect" in errors


@pytest.mark.parametrize("flag", ["--disable-pass", "--require-pass", "--print-ir-after", "--print-ir-before"])
def test_a_named_pipeline_is_told_from_a_pass(flag: str):
    code, _, errors = opt(flag, "to-loops")
    assert code == 1 and errors == (
        "error: 'to-loops' is a named pipeline, expected a pass\n"
        "hint: name one of its passes: --show-pipeline to-loops lists them\n"
    )


@pytest.mark.parametrize("target", ["asm", "llvm-ir"])
def test_a_program_that_is_not_lowered_has_no_machine_code(target: str):
    code, _, errors = opt("-t", target, data="func.func @f() {\n  func.return\n}\n")
    assert code == 1 and errors == (
        f"<stdin>:1:1: error: 'func.func': -t {target} prints programs that are lowered to the llvm dialect\n"
        "  func.func @f() {\n  ^\n"
        "hint: lower it first: -p O3, or -p finish where passes have run already\n"
    )
    assert opt("-t", target, "-p", "O1", data="func.func @f() {\n  func.return\n}\n")[0] == 0


def test_nothing_is_dumped_when_nothing_fails():
    assert opt("-p", "cse", "--dump-failure", "given.mlir")[0] == 0
    assert not Path("given.mlir").exists()


# Records


def test_record_and_replay():
    first = opt(MLP, "-p", "O2", "--opt-level=1", "--disable-pass=fold-constant", "--save-pipeline", "run.json")
    again = opt(MLP, "--replay", "run.json", "--save-pipeline", "again.json")
    assert first == again and first[0] == 0
    one, two = (json.loads(Path(name).read_text()) for name in ("run.json", "again.json"))
    assert one["output_hash"] == two["output_hash"]
    assert one["context"]["disabled"] == ["fold-constant"] and two["context"] is None
    by_name = {row["name"]: row for row in one["passes"]}
    assert by_name["fold-constant"]["skipped"] == "disabled"
    assert by_name["fuse-ewise-fma"]["skipped"] == "level 2 is above opt level 1"
    assert by_name["bufferize"]["changed"] and by_name["bufferize"]["hash"]
    ran = [row["name"] for row in one["passes"] if row["skipped"] is None]
    assert ran == [row["name"] for row in two["passes"]]


def test_a_replay_does_not_hide_differences():
    opt("-p", "canonicalize", "--save-pipeline", "run.json")
    code, output, errors = opt("--replay", "run.json", data=PROGRAM.replace("muli", "addi"))
    assert (code, output) == (1, "") and "the program is not that of the record" in errors
    record = json.loads(Path("run.json").read_text())
    record["passes"][0]["hash"] = "0123456789abcdef"
    Path("run.json").write_text(json.dumps(record))
    code, _, errors = opt("--replay", "run.json")
    assert code == 1 and "the result of pass 'canonicalize' has hash" in errors
    assert "note: in after_pass of ReplayCheck, at pass 'canonicalize' (number 1 of the pipeline)" in errors


def test_a_replay_runs_passes_that_have_gone_not_silently():
    opt("-p", "canonicalize", "--save-pipeline", "run.json")
    text = Path("run.json").read_text().replace('"canonicalize"', '"canonicalise"')
    Path("run.json").write_text(text)
    code, _, errors = opt("--replay", "run.json")
    assert code == 1 and "unknown pass 'canonicalise'" in errors


def test_the_hash_of_the_record_is_that_of_the_printed_program():
    _, output, _ = opt(MLP, "-p", "graph-optimize", "--save-pipeline", "run.json")
    assert json.loads(Path("run.json").read_text())["output_hash"] == structural_hash(parse(output))


# docs/passes.md


def test_the_page_of_passes_is_up_to_date():
    text = (ROOT / "docs" / "passes.md").read_text(encoding="utf-8")
    assert text == page(), "run python -m stepwell.tools.pages.passes > docs/passes.md"


def test_the_example_of_the_page_runs(monkeypatch: pytest.MonkeyPatch):
    (example,) = re.findall(r"^```python\n(.*?)^```", page(), re.MULTILINE | re.DOTALL)
    module = parse("func.func @main() {\n  func.return\n}\nfunc.func private @external()\n")
    written = ModuleType("example_of_the_page")
    monkeypatch.setitem(sys.modules, written.__name__, written)
    written.__dict__["module"] = module
    exec(example, written.__dict__)
    main_, external = written.__dict__["marked"].ops
    assert [set(each.attributes) for each in (main_, external)] == [{"number", "hot"}, {"number"}]
    assert main_.attributes["number"].data == 1  # pyright: ignore
    assert "hot" not in str(module)


def test_the_page_has_every_pass_and_pipeline():
    text = page()
    for name in PASSES:
        assert f"\n## {name}\n" in text
    for name in pipelines():
        assert (f"\n| `{name}` |" in text) == (name not in POINTS)
    assert "\n\n\n" not in re.sub("```.*?```", "example", text, flags=re.DOTALL)
