"""
Lists hashes of what the compiler prints, to show that two versions of it print the same.

    python test/ir_listing.py -o before.txt            examples and benchmark cases
    python test/ir_listing.py --models -o before.txt   whole ONNX models as well
    python test/ir_listing.py --compare before.txt     prints the lines that differ; the exit code is then 1
    python test/ir_listing.py --short …                O3 and llvm-ir alone, for the first target, as models take long

A line is `hash  program  level  target`. The levels are the texts of `stepwell-opt -p O0` to `-p O3`, and
`llvm-ir`, that of `-p O3 -t llvm-ir`. Where the compiler refuses a program, the hash is that of its message.

* `examples/….mlir`: every such file of the examples
* `examples/….py`: the modules that a script runs pipelines on; the level `own` is all that these make of them
* `bench/…`: the cases of bench/cases.json
* `models/…`: those of test/models, by `from_onnx`, and by `compile_onnx` where it needs values of a call

All are compiled at every level for every target. The second program of a script or model is called `….py#2`.
Schedules are made for named targets, and code for AVX-512 although this machine may not have it; nothing is
cached or tuned; paths are relative to the root. So the listing does not depend on the machine. The number of
threads changes no text; it is 2. Models are files in build/models, the same ones in checkouts to compare.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import multiprocessing
import os
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

ROOT = Path(__file__).resolve().parents[1]
sys.path += [str(ROOT / "bench"), str(ROOT / "test" / "models")]

TARGETS = ("sapphire-rapids", "cascade-lake", "x86-64-v3")
"""AVX-512 with AMX, AVX-512 without it, and AVX2."""

CPU_INFO = "flags : fma avx2 avx512f avx512vl avx512bw avx512dq\n"
IGNORED = shutil.ignore_patterns("__pycache__", "Output", "build", "*.egg-info", "demo-output")
LONG = "examples/passes/sharing.py"
"""Runs one pass on 3000 ops. All levels of that take longer than all other examples: it has only `own`."""

SHORT = "IR_LISTING_SHORT"
"""Tells the processes that compile of `--short`."""

Texts = list[str]


def prepare(work: Path) -> None:
    """Copies the examples, and installs the dialect of one; sets what processes that compile inherit."""
    shutil.copytree(ROOT / "examples", work / "examples", ignore=IGNORED)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--target"]
    shutil.copytree(ROOT / "examples" / "mixin_dialect", work / "mixin", ignore=IGNORED)
    subprocess.run([*pip, str(work / "site"), str(work / "mixin")], check=True)
    sys.path.append(str(work / "site"))
    (work / "tmp").mkdir()
    os.environ.update(TMPDIR=str(work / "tmp"), STEPWELL_CACHE_DIR=str(work / "cache"))
    os.environ.update(STEPWELL_TUNING_DB="", STEPWELL_THREADS="2")


class Recorder:
    """Keeps modules before and after pipelines. A pass context takes it for an `Instrument`."""

    def __init__(self) -> None:
        self.given: Texts = []
        self.made: Texts = []

    def before_pipeline(self, passes: Sequence[Any], module: Any) -> None:
        if (text := str(module)) not in self.given + self.made:
            self.given.append(text)

    def after_pipeline(self, module: Any) -> None:
        self.made.append(str(module))

    def should_run(self, pass_: Any, module: Any) -> bool:
        return True

    def __getattr__(self, name: str) -> Callable[..., None]:
        """The other hooks of an `Instrument`, which do nothing here."""
        return lambda *arguments: None


def recorded(run: Callable[[], Any]) -> Recorder:
    """What pipelines are given and make while `run` runs. They compile for AVX2, whatever the machine is."""
    import stepwell

    recorder = Recorder()
    context = stepwell.PassContext(3, config={"target": TARGETS[-1]}, instruments=[recorder])  # type: ignore
    with context, redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        run()
    return recorder


def texts_of_script(script: str, work: Path) -> Texts:
    """
    The programs that a script of the examples gives to pipelines, those of `stepwell.compile` included.

    What these make is written to a file. Scripts that only match patterns, or build a module and print it,
    run no pipeline and add nothing.
    """
    folder = work / "scripts" / script
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=IGNORED)
    path = folder / script
    os.chdir(path.parent)
    sys.argv, sys.path[:0] = [path.name], [str(path.parent)]
    if script == "examples/onnx/classify.py":
        runpy.run_path(str(path.with_name("digits.py")), run_name="__main__")
    recorder = recorded(lambda: runpy.run_path(str(path), run_name="__main__"))
    if recorder.made:
        (work / f"{script}.made").write_text("\n".join(recorder.made))
    return [] if script == LONG else recorder.given


def texts_of_model(name: str, work: Path) -> Texts:
    """A model of test/models; again with arrays for its inputs where values of inputs decide about shapes."""
    import stepwell
    from cases import CASES  # type: ignore

    (case,) = (each for each in CASES if f"models/{each.name}" == name)
    weights = work / "tmp" / f"{case.name}.safetensors"
    module = stepwell.from_onnx(case.path(), weights=weights, constants=case.constants, dims=case.dims)
    weights.unlink(missing_ok=True)
    if not case.constants:
        return [str(module)]
    executable = stepwell.compile_onnx(case.path(), cache=False)
    given = case.constants | case.inputs()[0]
    arrays = [given[each] for each, _ in executable.input_types]
    return [str(module), *recorded(lambda: executable.specialised(*arrays)).given]


def write_programs(source: str, work: Path) -> Texts:
    """Writes the programs of a script or model to files; their names."""
    texts = (texts_of_script if source.endswith(".py") else texts_of_model)(source, work)
    names = [f"{source}#{number}" if number > 1 else source for number in range(1, len(texts) + 1)]
    for name, text in zip(names, texts, strict=True):
        (work / name).parent.mkdir(exist_ok=True)
        (work / name).write_text(without_folders(text, work))
    return names


def write_cases(work: Path) -> Texts:
    """Writes the benchmark cases to files; their names."""
    from suite.programs import describe, load_cases  # type: ignore
    from suite.stepwell_engine import program_text  # type: ignore

    (work / "bench").mkdir()
    for case in load_cases():
        (work / "bench" / case["name"]).write_text(program_text(describe(case)))
    return [f"bench/{case['name']}" for case in load_cases()]


def without_folders(text: str, work: Path) -> str:
    """`text` with files named relative to the root, and temporary files without their folders."""
    return re.sub(rf'{re.escape(str(work))}/[^"\s]*/', "", text.replace(f"{ROOT}/", ""))


def start_compiling(work: Path) -> None:
    """Prepares a process. Code for AVX-512 is made only where Linux says that the machine has it."""
    os.chdir(work)
    read_text = Path.read_text

    def feigned(self: Path, encoding: str | None = None, errors: str | None = None) -> str:
        return CPU_INFO if str(self) == "/proc/cpuinfo" else read_text(self, encoding, errors)

    Path.read_text = feigned


def printed(*arguments: str) -> tuple[int, str, str]:
    """The exit code of `stepwell-opt`, what it prints, and its messages."""
    from stepwell.tools.opt import main

    out, messages = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(messages):
        code = main(arguments)
    return code, out.getvalue(), messages.getvalue()


def printed_twice(*arguments: str) -> tuple[str, str]:
    """What `stepwell-opt` prints as MLIR, and as LLVM's text, with its messages; the passes run once."""
    from xdsl.xdsl_opt_main import xDSLOptMain

    found: Texts = []
    text_of = xDSLOptMain.output_resulting_program

    def both(tool: xDSLOptMain, module: Any) -> str:
        wanted, tool.args.target = tool.args.target, "mlir"
        found.append(text_of(tool, module))
        tool.args.target = wanted
        return text_of(tool, module)

    with patch.object(xDSLOptMain, "output_resulting_program", both):
        code, out, messages = printed(*arguments, "-t", "llvm-ir")
    if code != 0:
        return found[0] if found else messages, messages
    (text,) = found
    return text + messages, out + messages


def lines_of(program: str, target: str, work: Path) -> Texts:
    """The lines of one program for one target. Levels of the same passes are compiled once."""
    chosen = [program, "--config", f"target={target}", "-p"]
    if SHORT in os.environ:
        pair = zip(("O3", "llvm-ir"), printed_twice(*chosen, "O3"), strict=True)
        return [line_of(text, program, level, target, work) for level, text in pair]
    texts = {level: "".join(printed(*chosen, level)[1:]) for level in ("O0", "O1")}
    texts["O3"], texts["llvm-ir"] = printed_twice(*chosen, "O3")
    differ = printed("--show-pipeline", "O2") != printed("--show-pipeline", "O3")
    texts["O2"] = "".join(printed(*chosen, "O2")[1:]) if differ else texts["O3"]
    return [line_of(text, program, level, target, work) for level, text in texts.items()]


def line_of(text: str, program: str, level: str, target: str, work: Path) -> str:
    """A line of the listing; with `--keep`, the text goes to a file."""
    text = without_folders(text, work)
    if (work / "texts").is_dir():
        (work / "texts" / f"{program} {level} {target}".replace("/", " ")).write_text(text)
    return f"{hashlib.sha256(text.encode()).hexdigest()[:16]}  {program}  {level}  {target}"


def in_processes(count: int, work: Callable[..., Texts], tasks: Sequence[Any], **options: Any) -> Texts:
    """What `work` returns for all tasks, in new processes. Progress goes to standard error."""
    results: Texts = []
    start = time.monotonic()
    with ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"), **options) as pool:
        found = pool.map(work, *zip(*tasks, strict=True))
        for number, (task, result) in enumerate(zip(tasks, found, strict=True), 1):
            results += result
            head = f"{time.monotonic() - start:5.0f} s  {number}/{len(tasks)}"
            print(head, *task[:-1], file=sys.stderr)
    return results


def listing(models: bool, wanted: str, count: int, work: Path) -> Texts:
    """All lines, in the order of programs. Those that take long are compiled first."""
    from cases import CASES  # type: ignore

    prepare(work)
    runs = [f"models/{case.name}" for case in CASES] if models else []
    runs += sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("examples/*/*.py"))
    runs = [each for each in runs if re.search(wanted, each)]
    names = in_processes(count, write_programs, [(each, work) for each in runs], max_tasks_per_child=1)
    files = sorted(work.glob("examples/**/*.mlir"))
    rest = write_cases(work) + [str(file.relative_to(work)) for file in files]
    names += [each for each in rest if re.search(wanted, each)]
    targets = TARGETS[:1] if SHORT in os.environ else TARGETS
    tasks = [(name, target, work) for name in names for target in targets]
    lines = in_processes(count, lines_of, tasks, initializer=start_compiling, initargs=(work,))
    for source in runs:
        if (made := work / f"{source}.made").exists():
            lines.append(line_of(made.read_text(), source, "own", TARGETS[-1], work))
    return sorted(lines, key=lambda line: line.split()[1:])


def compare(old: Texts, new: Texts, models: bool, wanted: str) -> int:
    """Prints the lines that only one listing has. Of the old one, those count that are asked for."""
    old = [line for line in old if re.search(wanted, line.split()[1].partition("#")[0])]
    old = [line for line in old if models or not line.split()[1].startswith("models/")]
    for line in (differing := sorted({*old} ^ {*new}, key=lambda line: line.split()[1:])):
        print("-" if line in old else "+", line)
    if not differing:
        print(f"{len(new)} lines agree")
    return 1 if differing else 0


def main() -> int:
    import stepwell

    if ROOT not in Path(str(stepwell.__file__)).resolve().parents:
        sys.exit(f"error: this Python has the package of {stepwell.__file__}, not that of {ROOT}")
    parser = argparse.ArgumentParser(description="Lists hashes of what the compiler prints.")
    parser.add_argument("--models", action="store_true", help="list the models of test/models too")
    parser.add_argument("--programs", metavar="REGEX", default="", help="only such files, cases and models")
    parser.add_argument("--short", action="store_true", help="only O3 and llvm-ir for the first target")
    parser.add_argument("-o", dest="output", metavar="FILE", type=Path, help="write the listing there")
    parser.add_argument("--compare", metavar="FILE", type=Path, help="print how a listing differs from this")
    parser.add_argument("--keep", metavar="FOLDER", type=Path, help="write the texts to a new folder")
    parser.add_argument("--workers", type=int, default=2, help="processes that compile at once (2)")
    options = parser.parse_args()
    if options.short:
        os.environ[SHORT] = "1"
    with tempfile.TemporaryDirectory(prefix="ir-listing-") as folder:
        if options.keep is not None:
            (options.keep / "texts").mkdir(parents=True)
        work = Path(options.keep or folder).resolve()
        lines = listing(options.models, options.programs, options.workers, work)
    if options.output is not None:
        options.output.write_text("".join(f"{line}\n" for line in lines))
    if options.compare is not None:
        return compare(options.compare.read_text().splitlines(), lines, options.models, options.programs)
    print("" if options.output else "\n".join(lines), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
