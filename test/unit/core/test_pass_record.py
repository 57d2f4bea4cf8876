"""The hash of a program, records of runs, and replays."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from sample_passes import PROGRAM, FailingPass, HighPass, LowPass, note
from stepwell.core.ir.structural_hash import Texts, structural_hash, structural_hash_of_ops
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.passes.context import PassContext
from stepwell.core.passes.decorators import module_pass
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.passes.record import PipelineRecord, ReplayCheck, RunRecord, read_record
from stepwell.core.text.parsing import make_context, parse
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = sorted((ROOT / "test" / "programs").glob("*.mlir"))

BRANCHES = """
func.func @f(%c: i1, %x: i32) -> i32 {
  cf.cond_br %c, ^left(%x : i32), ^right
^left(%a: i32):
  func.return %a : i32
^right:
  %z = arith.constant 0 : i32
  func.return %z : i32
}
"""


def hash_of(text: str) -> str:
    return structural_hash(parse(text))


@pytest.mark.parametrize(
    "old, new",
    [("%x", "%renamed"), ("^left", "^other"), ("\n", "\n\n// comment\n"), ("@f(", "@f  (")],
)
def test_names_and_places_do_not_count(old: str, new: str):
    assert old in BRANCHES
    assert hash_of(BRANCHES.replace(old, new)) == hash_of(BRANCHES)


@pytest.mark.parametrize(
    "old, new",
    [
        ("@f", "@g"),
        ("i32", "i64"),
        ("constant 0", "constant 1"),
        ("^left(%x : i32), ^right", "^right, ^left(%x : i32)"),
        ("return %a", "return %x"),
        ("%z = ", "%y = arith.constant 0 : i32\n  %z = "),
        ("@f(%c: i1, %x: i32) -> i32 {", "@f(%c: i1, %x: i32) -> i32 attributes {a} {"),
    ],
)
def test_everything_else_counts(old: str, new: str):
    assert old in BRANCHES
    assert hash_of(BRANCHES.replace(old, new)) != hash_of(BRANCHES)


def test_operands_count_by_which_value_they_are():
    lines = "func.func @f(%a: i32, %b: i32) {{\n  %c = arith.subi %{}, %{} : i32\n  func.return\n}}\n"
    assert len({hash_of(lines.format(*pair)) for pair in ("ab", "ba", "aa", "bb")}) == 4


def test_nesting_counts():
    inner = "scf.if %c {{ {} scf.yield }} {} "
    op = '"test.op"() : () -> ()'
    function = "func.func @f(%c: i1) {{ {} func.return }}\n"
    assert hash_of(function.format(inner.format(op, ""))) != hash_of(function.format(inner.format("", op)))


@pytest.mark.parametrize(
    "one, other",
    [
        # The region that an op stands in, the block a branch goes to, a type that nothing else repeats.
        (
            '"test.op"() ({ "test.op"() : () -> () }, { ^a: }) : () -> ()',
            '"test.op"() ({ ^a: }, { "test.op"() : () -> () }) : () -> ()',
        ),
        (
            (
                '"test.op"() ({ "test.termop"() [^b, ^c] : () -> () ^b: "test.termop"() : () -> () ^c: '
                '"test.termop"() : () -> () }) : () -> ()'
            ),
            (
                '"test.op"() ({ "test.termop"() [^c, ^b] : () -> () ^b: "test.termop"() : () -> () ^c: '
                '"test.termop"() : () -> () }) : () -> ()'
            ),
        ),
        ('%a = "test.op"() : () -> i32', '%a = "test.op"() : () -> i64'),
    ],
)
def test_structure_counts(one: str, other: str):
    programs = [parse(f"{text}\n", verify=False) for text in (one, other)]
    assert structural_hash(programs[0]) != structural_hash(programs[1])


def test_order_of_attributes_does_not_count():
    op = '"test.op"() {{{}}} : () -> ()\n'
    assert hash_of(op.format("a = 1 : i32, b")) == hash_of(op.format("b, a = 1 : i32"))
    assert hash_of(op.format("a, b")) != hash_of(op.format("a"))


@pytest.mark.parametrize("type_", ["f32", "tensor<1xf32>"])
def test_signs_of_zeros_count(type_: str):
    def program(*values: str) -> str:
        shown = [value if type_ == "f32" else f"dense<{value}>" for value in values]
        return "".join(f"%c{i} = arith.constant {each} : {type_}\n" for i, each in enumerate(shown))

    pairs = [("0.0", "0.0"), ("0.0", "-0.0"), ("-0.0", "0.0"), ("-0.0", "-0.0")]
    assert len({hash_of(program(*pair)) for pair in pairs}) == 4


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_printing_and_cloning_keep_the_hash(path: Path):
    module = parse(path)
    assert structural_hash(module.clone()) == structural_hash(module) == hash_of(str(module) + "\n")


def test_the_hash_is_the_same_in_every_process():
    code = (
        "import sys; from stepwell.core.text.parsing import parse; from stepwell.core.ir.structural_hash import "
        "structural_hash; print(structural_hash(parse(sys.argv[1])))"
    )
    path = str(PROGRAMS[0])
    printed = [
        subprocess.run(
            [sys.executable, "-c", code, path],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout.strip()
        for seed in ("1", "2")
    ]
    assert printed == [structural_hash(parse(path))] * 2


def test_a_long_chain_is_hashed():
    lines = "".join(f"  %v{i + 1} = arith.addi %v{i}, %v{i} : i32\n" for i in range(4_000))
    module = parse(f"func.func @f(%v0: i32) {{\n{lines}  func.return\n}}\n", verify=False)
    assert structural_hash(module) == structural_hash(module.clone())


# Records


def recorded(*passes, **arguments) -> RunRecord:
    recorder = PipelineRecord(**arguments)
    run_pipeline(make_context(), parse(PROGRAM), list(passes), instruments=[recorder])
    return recorder.record


def test_what_a_record_holds():
    with PassContext(2, config={"verify-each": True}):
        record = recorded(LowPass(), *parse_pipeline("cse"), HighPass())
    first, second, third = record.passes
    assert record.context == {
        "opt_level": 2,
        "disabled": [],
        "required": [],
        "config": {"verify-each": True},
    }
    assert (first.name, first.changed, first.ops_before, first.ops_after) == ("low", True, 3, 3)
    assert (second.name, second.changed, second.hash) == ("cse", False, first.hash)
    assert (third.skipped, third.hash) == ("level 3 is above opt level 2", None)
    assert record.input_hash == hash_of(PROGRAM) and record.output_hash == second.hash != record.input_hash
    assert all(each.ms >= 0 for each in record.passes)


def test_op_counts():
    text = PROGRAM.replace("  func.return", "  %z = arith.addi %x, %x : i32\n  func.return")
    recorder = PipelineRecord()
    run_pipeline(make_context(), parse(text), "dce,cse", instruments=[recorder])
    assert [(row.ops_before, row.ops_after, row.changed) for row in recorder.record.passes] == [
        (4, 3, True),
        (3, 3, False),
    ]


def test_a_record_of_a_failed_run_is_written(tmp_path: Path):
    path = tmp_path / "run.json"
    with pytest.raises(KeyError):
        recorded(LowPass(), FailingPass(), path=path)
    record = read_record(path)
    assert record.output_hash is None
    assert [row.failed for row in record.passes] == [None, "KeyError: 'oops'"]


def test_a_record_reads_as_it_was_written(tmp_path: Path):
    path = tmp_path / "run.json"
    text = 'fold-constant{max-elements=3 prepare=false},simplify-expr{rules="a b",c numerics="x,y\\"z"},cse'
    passes = parse_pipeline(text)
    recorder = PipelineRecord(path)
    recorder.record.passes = [recorder._add(pass_) for pass_ in passes]
    recorder.finish()
    record = read_record(path)
    assert record.passes == recorder.record.passes
    assert [row.make() for row in record.passes] == passes


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("name", ["mlp", "two_functions", "reductions"])
def test_a_replay_gives_the_same(name: str, tmp_path: Path):
    path = ROOT / "test" / "programs" / f"{name}.mlir"
    record_path = tmp_path / "run.json"
    with PassContext(1, disabled=["fold-constant"], config={"bufferize.reuse": False}):
        module = parse(path)
        run_pipeline(make_context(), module, "O2", instruments=[PipelineRecord(record_path)])
    record = read_record(record_path)
    again = parse(path)
    passes = [row.make() for row in record.run_passes()]
    run_pipeline(make_context(), again, passes, instruments=[ReplayCheck(record)])
    assert structural_hash(again) == record.output_hash == structural_hash(module)
    assert str(again) == str(module)


def test_a_replay_on_another_program_or_with_another_result_is_an_error():
    @module_pass("moody")
    @dataclass(frozen=True)
    class Moody(LowPass):
        """Does something else each time."""

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            calls.append(1)
            note(op, str(len(calls)))

    calls: list[int] = []
    record = recorded(LowPass(), Moody())
    other = parse(PROGRAM.replace("addi", "muli"))
    with pytest.raises(StepwellError, match="the program is not that of the record: its hash is"):
        run_pipeline(make_context(), other, [LowPass()], instruments=[ReplayCheck(record)])
    with pytest.raises(StepwellError, match="the result of pass 'moody' has hash .*, recorded is"):
        run_pipeline(make_context(), parse(PROGRAM), [LowPass(), Moody()], instruments=[ReplayCheck(record)])


@pytest.mark.parametrize(
    "data, message",
    [
        ("{", "it is not JSON"),
        ("[]", 'it has no "format": "stepwell-pipeline-record"'),
        ({"format": "other"}, 'it has no "format"'),
        ({"format": "stepwell-pipeline-record", "version": 99}, "its version is 99, expected 1"),
        ({"format": "stepwell-pipeline-record", "version": 1}, "'passes'"),
        ({"format": "stepwell-pipeline-record", "version": 1, "passes": [{"nome": 1}]}, "'nome'"),
        ({"format": "stepwell-pipeline-record", "version": 1, "passes": [1]}, "mapping"),
    ],
)
def test_files_that_are_no_records(data, message: str, tmp_path: Path):
    path = tmp_path / "run.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    with pytest.raises(StepwellError) as caught:
        read_record(path)
    assert "is not a record of --save-pipeline" in str(caught.value) and message in str(caught.value)


def test_texts_shared_by_hashes_do_not_mix_attributes_up() -> None:
    """0.0 and -0.0 are equal as attributes; and an object may get the place in memory of one that went."""
    texts = Texts()

    def hash_with(value: str, texts: Texts | None) -> str:
        ops = list(parse(f"%0 = graph.full {value} : tensor<4xf32>").body.block.ops)
        return structural_hash_of_ops(ops, [], texts)

    numbers = ["0.0", "-0.0", *(f"{each}.0" for each in range(1, 60))]
    assert len({hash_with(each, texts) for each in numbers}) == len(numbers)
    assert all(hash_with(each, texts) == hash_with(each, None) for each in numbers)
