"""`stepwell fuzz`: what it finds in rules and ops of others, what it writes, seeds that go on, and what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import stepwell
from counts import FULL
from stepwell.core.ir.verification import verify_module
from stepwell.core.text.parsing import make_context
from stepwell.testing.in_process import call_tool, filecheck_main
from stepwell.testing.programs.movement_generators import FAMILIES
from stepwell.testing.run_line import Command
from stepwell.tools.main import main
from stepwell.tools.opt import main as opt
from stepwell.trust.check import CheckOptions
from stepwell.trust.fuzz.families import NEIGHBOURS, TOGETHER, ops_of, turn
from stepwell.trust.fuzz.hunt import Hunt, Hunters
from stepwell.trust.fuzz.layers import random_net
from stepwell.trust.fuzz.oracle import Right
from stepwell.trust.fuzz.sources import (
    Dialects,
    Families,
    Layers,
    Motifs,
    Ops,
    Rules,
    Source,
    all_shipped_rules,
    op_classes,
)
from stepwell.trust.reduce.subject import Program
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType

RULES = """
pattern.rule "square-of-negative" : square(negative(%x)) => square(%x)

pattern.rule "twice" : add(%x, %x) => multiply(%x, %x)
"""
DIALECT = """
import os
from stepwell import te
from stepwell.core import StepwellPass
from stepwell.dialects import graph
from xdsl.ir import Dialect
from xdsl.irdl import irdl_op_definition
from xdsl.rewriter import Rewriter

@irdl_op_definition
class ThriceOp(graph.PureGraphOp):
    \"\"\"Thrice x.\"\"\"
    name = "fuzzed.thrice"
    x = graph.tensor_operand("F")
    result = graph.tensor_result()

    @classmethod
    def infer(cls, x):
        return (x,)

    def te(self, x):
        return (te.compute(x.shape, lambda *i: x[i] * te.const(3.0, x.dtype), name="thrice"),)

class LowerPass(StepwellPass):
    \"\"\"Makes it twice x.\"\"\"
    name = "fuzzed-lower"
    def apply(self, ctx, op):
        for each in list(op.walk()):
            if isinstance(each, ThriceOp):
                {act}

Fuzzed = Dialect("fuzzed", [ThriceOp], [])
"""
TWICE = """
func.func @main(%x: tensor<2xi32>) -> tensor<2xi32> {
  %0 = graph.add %x, %x : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  func.return %0 : tensor<2xi32>
}
"""


class One(Source):
    """The same program for every seed."""

    name = "one"

    def __init__(self, text: str):
        self.text = text

    def program(self, context: Context, seed: int) -> ModuleOp:
        return stepwell.parse(self.text)


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("source", [Families(), Ops(), Motifs(), Layers(), Rules(all_shipped_rules()), Dialects([])])
def test_programs_are_valid_and_follow_from_the_seed(source: Source) -> None:
    context = make_context()
    programs = [source.program(context, seed) for seed in range(12)]
    for program in programs:
        if program is not None:
            verify_module(program)
    assert [str(each) for each in programs] == [str(source.program(context, seed)) for seed in range(12)]
    assert isinstance(source, Dialects) or len({str(each) for each in programs}) > 6


def test_each_family_comes_at_once_and_each_op_in_turn() -> None:
    wanted = {family for family in FAMILIES if family not in NEIGHBOURS}
    assert {family for seed in range(4) for family, _ in ops_of(seed)} == wanted
    seeds = range(-(-len(turn(0)) // TOGETHER))
    assert {name for seed in seeds for _, name in ops_of(seed)} == {
        name for family in wanted for name in FAMILIES[family]
    }
    assert turn(0) != turn(1) and sorted(turn(0)) == sorted(turn(1))


def test_programs_of_families_have_every_size_and_use_values_again() -> None:
    context = make_context()
    programs = [Families().program(context, seed) for seed in range(30)]
    values = [value for program in programs if program for op in program.walk() for value in op.results]
    sizes = {size for value in values if isinstance(value.type, TensorType) for size in value.type.get_shape()}
    assert sizes.issuperset(range(1, 21))
    assert sum(len(list(value.uses)) > 1 for value in values) > 60


def test_large_programs_are_compared_at_the_end_only(tmp_path: Path) -> None:
    hunt = Hunt(make_context(), [One(TWICE)], ["O1"], tmp_path)
    seed = next(seed for seed in range(20) if hunt.choice(seed)[2].each)
    assert hunt.question(seed, Program(hunt.context, TWICE, "t.mlir")).each
    large = TWICE.replace("tensor<2xi32>", "tensor<200x100xi32>")
    assert not hunt.question(seed, Program(hunt.context, large, "t.mlir")).each


def test_nets_are_valid() -> None:
    for seed in range(30):
        verify_module(stepwell.parse(random_net(seed)))


def test_a_wrong_rule_is_found_and_becomes_a_test(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = tmp_path / "mine.mlir"
    rules.write_text(RULES)
    words = ["fuzz", "--rules", str(rules), "--most", "1", "-o", str(tmp_path / "found"), "--seconds", "300"]
    assert main(words) == 1
    said = capsys.readouterr().out.splitlines()
    (file,) = (tmp_path / "found").iterdir()
    text = file.read_text()
    assert said[0].endswith(": wrong") and said[1] == "  to blame: rule 'twice' of pass 'apply-patterns'"
    assert said[2].endswith(f" ops, now 3 in {file}")
    assert said[3].endswith("1 fault; --seed 1 goes on") and "graph.add" in text
    run = [line for line in text.splitlines() if "RUN:" in line]
    assert run == [f"// RUN: stepwell-opt %s -p 'apply-patterns{{file=\"{rules}\"}}' --check-semantics | filecheck %s"]
    call = Command(["stepwell-opt", str(file), "-p", f'apply-patterns{{file="{rules}"}}', "--check-semantics"])
    assert call_tool(opt, call, b"").exit_code == 1
    rules.write_text(RULES.partition('pattern.rule "twice"')[0])
    done = call_tool(opt, call, b"")
    assert done.exit_code == 0, done.stderr
    assert call_tool(filecheck_main, Command(["filecheck", str(file)]), done.stdout).exit_code == 0


FAULTS = [
    ("Rewriter.replace_op(each, graph.AddOp(each.x, each.x))", "wrong"),
    ("raise KeyError('it')", "crash: KeyError in "),
    ("os.kill(os.getpid(), 11)", "signal 11"),
    ("each.detach()", "invalid IR: "),
]
"""What a pass of another package does, and what that is called."""


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("act, kind", FAULTS if FULL else FAULTS[::3])
def test_ops_and_passes_of_others(act: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = f"fuzzed{len(act)}"
    plugin = tmp_path / f"{name}.py"
    plugin.write_text(DIALECT.replace("{act}", act).replace("fuzzed", name))
    words = ["fuzz", "--load-plugin", str(plugin), "--source", "dialects", "-p", f"{name}-lower", "--most", "1"]
    assert main([*words, "-o", str(tmp_path), "--seconds", "300"]) == 1
    said = capsys.readouterr().out
    assert f"{name}-lower: {kind}" in said, said
    (file,) = tmp_path.glob("fuzz-*.mlir")
    assert f"{name}.thrice" in file.read_text()
    assert [each.name for each in op_classes([name])] == [f"{name}.thrice"]


def test_a_right_program_passes_in_machine_code_and_after_each_pass() -> None:
    context = make_context()
    for each in (False, True):
        right = Right("O1", context, CheckOptions(), each=each, threads=2)
        assert right.kind(Program(context, TWICE, "t.mlir")) is None


@pytest.mark.ci_cases(0)
def test_what_fails_in_the_same_way_is_told_once_and_seeds_go_on(tmp_path: Path) -> None:
    (tmp_path / "mine.mlir").write_text(RULES)
    pipeline = f'apply-patterns{{file="{tmp_path}/mine.mlir"}}'
    hunt = Hunt(make_context(), [One(TWICE)], [pipeline], tmp_path, Hunters(2, 60.0))
    running = hunt.run(40, 300)
    first, second = next(running), next(running)
    hunt.workers.stop()
    assert (first.seed, first.again, second.seed, second.again) == (40, False, 41, True)
    assert hunt.next == 42 and sorted(os.listdir(tmp_path)) == ["fuzz-40.mlir", "mine.mlir"]


@pytest.mark.parametrize(
    "words, said",
    [
        (
            ["--source", "rule"],
            "there is no source 'rule', expected families, ops, motifs, layers, rules, dialects\nhint:",
        ),
        (["--source", "dialects"], "no dialect of another package has an op that says what it computes\nhint: --load"),
        (["--seconds", "0"], "--seconds is 0, expected a number above 0\n"),
        (["--seed", "-1"], "--seed is -1, expected a number of at least 0\n"),
        (["-p", "nope"], "unknown pass"),
        (["--rules", "none.mlir"], "cannot read"),
    ],
)
def test_what_is_refused(
    words: list[str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("stepwell.trust.fuzz.sources.dialects_of_others", list)
    assert main(["fuzz", *words]) == 1
    assert capsys.readouterr().err.startswith(f"error: {said}")


def test_a_hunt_that_is_interrupted_before_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("stepwell.trust.fuzz.hunt.warm_up", interrupted)
    assert main(["fuzz", "--seed", "5", "-o", str(tmp_path)]) == 130
    assert capsys.readouterr().out == "fuzz: no seeds, 0 programs, 0 faults; --seed 5 goes on\n"
