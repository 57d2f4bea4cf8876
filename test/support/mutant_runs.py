"""
Compiles mutants of the FileCheck programs, each job in a process of its own, and says how each ended.

Most mutants end in the parser or the verifier. So a job has several, and takes them in turn until one gets further.

    python test/support/mutant_runs.py --seed 1 --count 1000            # the failures, and how many ended how
    python test/support/mutant_runs.py --seed 1 --only 37 --keep DIR    # job 37 alone, its files kept
"""

from __future__ import annotations

import argparse
import faulthandler
import io
import json
import os
import random
import re
import resource
import shlex
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, fields
from functools import cache
from pathlib import Path

import stepwell
from mutants import FILECHECK, Source, mutant, sources, without_comments
from stepwell.core.plugins import registry
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.lowering.pipelines import PIPELINES
from stepwell.runtime.program.describe import functions, is_public
from stepwell.testing.in_process import call_tool
from stepwell.testing.run_line import Command
from stepwell.tools.opt import main as opt
from stepwell.tools.options.command import read_module, run_tool
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.printer import Printer
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import DiagnosticException, ParseError

SECONDS = 20
"""The processor time that a job may take."""

WAIT = 120
"""The seconds after which a job is ended that waits and does not compute."""

MEMORY = 6 << 30
TRIES = 4

PLACE = re.compile(r"^\S.*?:\d+:\d+: (?:error|warning|remark): ", re.MULTILINE)
FAULTS = ("internal error", "Traceback (most recent call last)", "a fault of the pass", "fault of the compiler")
ORDERLY = ("fine", "refused", "placeless")
RULES_IN = ("apply-patterns{file", "partition-by-pattern{table", "plan-fusion{rules", "merge-composite{table")


@dataclass(frozen=True)
class Job:
    """Mutants of one program, and the command that compiles one of them: `%` stands for its name."""

    index: int
    origin: str
    mutants: list[str]
    command: list[str]
    program: str = ""
    """The program that a mutant of a rule file is applied to, `program.mlir`."""


@dataclass(frozen=True)
class Outcome:
    """How a job ended: `fine`, `refused` at a place, `placeless` (refused without one), or a failure. What it said."""

    kind: str
    text: str

    @property
    def failed(self) -> bool:
        """Whether it is none of the orderly ends."""
        return self.kind not in ORDERLY


# Making jobs


@cache
def corpus() -> tuple[list[Source], list[Source], list[str]]:
    """Returns the programs, the rule files (those of the package too), and our passes that need no option."""
    package = Path(stepwell.__path__[0])
    rules = [*sorted(FILECHECK.rglob("*.rules")), *sorted(package.glob("rewrites/**/*.mlir"))]
    known = registry()
    own = [name for name in sorted(known.passes) if known.owner.get(("pass", name)) == "stepwell"]
    passes = [name for name in own if not any(each.default is MISSING for each in fields(known.passes[name]()))]
    return sources(), [Source(path, without_comments(path.read_text())) for path in rules], passes


def job(seed: int, index: int) -> Job:
    """Returns job `index` of a seed. Every tenth is compiled to machine code, every twentieth is of a rule file."""
    source = random.Random(f"{seed}:{index}")
    programs, rules, passes = corpus()
    chosen, other = source.choice(programs), source.choice(programs)
    if chosen.refused:  # Mutants of what is refused are mostly refused too.
        chosen = source.choice((chosen, source.choice(programs)))
    if index % 20 == 7:
        return _rule_job(source, index, chosen)
    form = source.random()
    text = generic(chosen) if form < 0.3 else one_op(chosen, source) if form < 0.5 else chosen.text
    mutants = [mutant(text, other.text, source) for _ in range(TRIES)]
    steps = [_pipeline(chosen, passes, source)]
    command = ["compile" if index % 10 == 0 else "opt", "%"]
    lowered = command[0] == "opt" and source.random() < 0.8
    if pipeline := ",".join(filter(None, [*steps, "finish" if lowered else ""])):
        command += ["-p", pipeline]
    return Job(index, chosen.path.name, mutants, command + (["-t", "llvm-ir"] if lowered else []))


@cache
def generic(program: Source) -> str:
    """Returns a program in generic form, which no parser of an op checks. What is not valid stays as it is written."""
    data = program.text.encode()
    return call_tool(opt, Command(["stepwell-opt", "-", "--print-op-generic"]), data).stdout.decode() or program.text


def one_op(program: Source, source: random.Random) -> str:
    """Returns a function of one op of a program, in generic form. Its arguments are the operands."""
    try:
        module = parse_text(make_context(), program.text, "program.mlir")
    except (DiagnosticException, ParseError):
        return program.text
    ops = [op for op in module.walk() if not (op.regions or op.successors or op.has_trait(IsTerminator))]
    if not ops:
        return program.text
    op = source.choice(ops)
    operands = list(dict.fromkeys(op.operands))
    function = FuncOp("main", ([each.type for each in operands], op.result_types))
    block = function.body.block
    copy = op.clone(dict(zip(operands, block.args, strict=True)))
    block.add_ops([copy, ReturnOp(*copy.results)])
    stream = io.StringIO()
    Printer(stream, print_generic_format=True).print_op(ModuleOp([function]))
    return stream.getvalue()


def warm_up() -> None:
    """Loads what every child needs, before the first one is forked."""
    program = (
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = graph.abs %x : (tensor<4xf32>)\n"
        "  func.return %y : tensor<4xf32>\n}\n"
    )
    command = ["stepwell-opt", "-", "-p", "O3", "-t", "llvm-ir"]
    assert call_tool(opt, Command(command), program.encode()).exit_code == 0


def _rule_job(source: random.Random, index: int, program: Source) -> Job:
    """Returns mutants of a rule file, which are applied to a program, or tested."""
    rules = corpus()[1]
    chosen, other = source.choice(rules), source.choice(rules)
    mutants = [mutant(chosen.text, other.text, source) for _ in range(TRIES)]
    command = ["opt", "program.mlir", "-p", f'{source.choice(RULES_IN)}="%"}}']
    if source.random() < 0.3:
        command = ["opt", "--test-rules=%", "--cases", "2"]
    return Job(index, chosen.path.name, mutants, command, program.text)


def _pipeline(chosen: Source, passes: list[str], source: random.Random) -> str:
    """Returns nothing, a pipeline of the file, a few passes, or a prefix of O0 to O3, now and then with a pass more."""
    kind = source.randrange(4)
    if kind == 0:
        return ""
    if kind == 1 and chosen.pipelines:
        text = source.choice(chosen.pipelines)
        return source.choice((text, text, f"{text},{text}", f"{text},{source.choice(passes)}"))
    if kind == 2:
        return ",".join(source.sample(passes, source.choice((1, 1, 1, 2, 3))))
    steps = _flat(source.choice(("O0", "O1", "O2", "O3")))
    steps = steps[: source.randint(1, len(steps))]
    if source.random() < 0.3:
        steps.insert(source.randint(0, len(steps)), source.choice(passes))
    return ",".join(steps)


def _flat(name: str) -> list[str]:
    """Returns the passes of a named pipeline."""
    steps = re.findall(r"[\w-]+(?:\{[^}]*\})?", PIPELINES[name])
    return [inner for step in steps for inner in (_flat(step) if step in PIPELINES else [step])]


# Running them


def run(each: Job, folder: Path) -> Outcome:
    """Runs a job in a forked child in `folder`."""
    (folder / "program.mlir").write_text(each.program)
    for number, text in enumerate(each.mutants):
        (folder / f"mutant{number}.mlir").write_text(text)
    child = os.fork()
    if child == 0:
        _run_in_child(each, folder)
    status = _wait(child, time.monotonic() + WAIT)
    errors, output = ((folder / name).read_text(errors="replace") for name in ("stderr", "stdout"))
    return _judged(status, errors or output)


def _run_in_child(each: Job, folder: Path) -> None:
    """Does not return: the exit code of the last command is that of this process."""
    code = 97
    try:
        os.chdir(folder)
        os.environ["STEPWELL_TUNING_DB"] = ""  # What has been tuned on this machine is not what is compiled.
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for number, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.stdout, sys.stderr = io.TextIOWrapper(io.FileIO(1, "w")), io.TextIOWrapper(io.FileIO(2, "w"))
        faulthandler.enable(sys.stderr)
        faulthandler.register(signal.SIGXCPU, sys.stderr, chain=True)
        for number in range(len(each.mutants)):
            code = _attempt([word.replace("%", f"mutant{number}.mlir") for word in each.command])
            if code != 1 or "in pass '" in Path("stderr").read_text(errors="replace"):
                break
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _attempt(command: list[str]) -> int:
    """Returns the exit code of a command."""
    code = (_compile if command[0] == "compile" else opt)(command[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def _compile(words: Sequence[str]) -> int:
    """Compiles the first entry of a file to machine code. It does not run."""

    def act(words: list[str], known: dict[str, str]) -> int:
        module = read_module(words[0], known)
        names = [name for name, op in functions(module).items() if is_public(op)]
        pipeline = words[2] if len(words) > 1 else None
        stepwell.compile(module, entry=names[0] if names else "main", pipeline=pipeline, cache=False, threads=1)
        return 0

    return run_tool("compile", words, act)


def _wait(child: int, end: float) -> int | None:
    """Returns the wait status of the child, or `None` where it had to be killed."""
    pause = 0.002
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(pause)
        pause = min(pause * 1.3, 0.1)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _judged(status: int | None, text: str) -> Outcome:
    """Returns the outcome of a child with this wait status that wrote `text`."""
    if status is None:
        return Outcome("hang", text)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return Outcome("hang" if number == signal.SIGXCPU else signal.Signals(number).name, text)
    code = os.WEXITSTATUS(status)
    fault = next((fault for fault in FAULTS if fault in text), None)
    if fault is not None or code not in (0, 1):
        return Outcome(fault or f"exit code {code}", text)
    if code == 0:
        return Outcome("fine", text)
    if "error: " in text:
        return Outcome("refused" if PLACE.search(text) else "placeless", text)
    return Outcome("refused" if "WRONG " in text or "?     " in text else "no message", text)  # of --test-rules


def main() -> int:
    """Runs the jobs of the command line. Prints a line of JSON for each failure, and the counts at the end."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--only", type=int, help="the one job to run")
    parser.add_argument("--keep", type=Path, help="the folder for the files")
    parser.add_argument("--all", action="store_true", help="print orderly ends too")
    options = parser.parse_args()
    indices = range(options.first, options.first + options.count) if options.only is None else [options.only]
    counts: Counter[str] = Counter()
    warm_up()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for index in indices:
            each = job(options.seed, index)
            outcome = run(each, folder)
            counts[outcome.kind] += 1
            if outcome.failed or options.all or options.only is not None:
                shown = {"index": index, "origin": each.origin, "command": shlex.join(each.command)}
                print(json.dumps(shown | {"kind": outcome.kind, "text": outcome.text}), flush=True)
    print(json.dumps(counts), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
