"""
Runs exported programs under memcheck of valgrind, many per process.

A C driver gives each program inputs and outputs in blocks of the heap that are exactly as large as the arrays. It asks
memcheck whether the outputs are defined and compares the inputs with what they were. Python compares the outputs with
those of the same program in this process.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import stepwell
from memcheck_cases import TARGET, Allocations, Case, compiled_for_memcheck
from stepwell.runtime.errors import ExecutionError

Array = np.ndarray[Any, Any]

THREADS = (1, 2)
"""The numbers of threads that each program runs with."""

FLAGS = (
    "--tool=memcheck",
    "--partial-loads-ok=no",  # A vector that is read beyond the end of a block is an error.
    "--expensive-definedness-checks=yes",
    "--redzone-size=256",
    "--error-limit=no",
    "--fair-sched=yes",
    "--leak-check=no",
    "--num-callers=6",
)

MOST_LINES = 30
"""The lines of valgrind's log that a failure quotes."""


class Missing(Exception):
    """Raised where a tool that memcheck needs is not installed."""


@dataclass(frozen=True)
class Outcome:
    """What came of a program on some threads. The message is empty where nothing is wrong."""

    name: str
    threads: int
    message: str = ""

    def __str__(self) -> str:
        return f"failed: {self.name} on {self.threads} threads: {self.message}"


@dataclass
class Report:
    """What came of a group of programs."""

    title: str
    seconds: float = 0.0
    programs: int = 0
    parallel: int = 0
    """The programs with loops that several threads share."""
    with_weights: int = 0
    failing: int = 0
    """The programs that fail as they should, by an index out of range or the like."""
    temporaries: int = 0
    failures: list[Outcome] = field(default_factory=list[Outcome])

    def note(self, each: Prepared) -> None:
        """Counts a program."""
        self.programs += 1
        self.parallel += each.parallel
        self.with_weights += each.weights is not None
        self.failing += bool(each.error)
        self.temporaries += each.temporaries

    @property
    def summary(self) -> str:
        return (
            f"{self.title}: {self.programs} programs ({self.parallel} with parallel loops, {self.with_weights} with "
            f"weights, {self.failing} that fail as expected), {self.temporaries} temporaries, "
            f"{len(self.failures)} faults, {self.seconds:.0f} s"
        )

    def text(self) -> str:
        return "\n".join([f"## {self.summary}", *(str(each) for each in self.failures)])


@dataclass(frozen=True)
class Prepared:
    """A program that was exported, and what it is expected to do: give `outputs`, or fail with `error`."""

    case: Case
    prefix: str
    parallel: bool
    outputs: list[Array]
    error: str
    sizes: list[tuple[int, int]]
    """The bytes and the bytes of an element of each input and output."""
    weights: str | None
    temporaries: int = 0
    """The allocations of the program in the IR."""


def check_tools() -> None:
    """Raises `Missing` where there is no valgrind, no C compiler or no header of memcheck."""
    for tool, package in (("valgrind", "valgrind"), ("cc", "a C compiler such as gcc")):
        if shutil.which(tool) is None:
            raise Missing(f"memcheck needs '{tool}', which is not installed: install {package}")
    command = ["cc", "-fsyntax-only", "-x", "c", "-"]
    text = "#include <valgrind/memcheck.h>\n"
    if subprocess.run(command, input=text, capture_output=True, text=True, check=False).returncode != 0:
        raise Missing("memcheck needs the header <valgrind/memcheck.h>: install the development files of valgrind")


def memcheck(cases: Sequence[Case], folder: Path, report: Report | None = None) -> Iterator[Outcome]:
    """
    Yields what comes of each program with each number of threads, and counts the programs in `report`.

    Files go to the empty `folder`.
    """
    prepared: list[Prepared] = []
    for number, case in enumerate(cases):
        try:
            prepared.append(prepare(case, f"m{number}", folder))
        except Exception as error:  # The others of a long run are to be seen as well.
            yield Outcome(case.name, 0, f"cannot be compiled: {type(error).__name__}: {error}")
            continue
        if report is not None:
            report.note(prepared[-1])
    yield from run_all(prepared, folder, THREADS)


def run_all(prepared: Sequence[Prepared], folder: Path, counts: Sequence[int]) -> Iterator[Outcome]:
    """Builds the driver of programs whose objects, headers and inputs are in `folder`, and runs it on `counts`."""
    (folder / "main.c").write_text(driver_text(prepared))
    objects = [f"{each.prefix}.o" for each in prepared]
    command = ["cc", "-g", "-O1", "-o", "driver", "main.c", *objects, "-pthread", "-lm"]
    built = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if built.returncode != 0:
        raise RuntimeError(f"the driver cannot be built: {built.stderr[:2000]}")
    for threads in counts:
        yield from _run(prepared, folder, threads)


def prepare(case: Case, prefix: str, folder: Path) -> Prepared:
    """Compiles and exports a program, and runs it in this process."""
    counter = Allocations()
    with compiled_for_memcheck(case.shared, counter):
        program = stepwell.compile(
            case.module, target=TARGET, weights=case.weights or None, cache=False, threads=1, tuning=False
        )
        exported = program.export(folder / f"{prefix}.o")
    outputs: list[Array] = []
    error = ""
    try:
        outputs = [np.asarray(each) for each in program(*case.inputs)]
    except ExecutionError as failed:
        error = str(failed)
    inputs = [np.ascontiguousarray(each) for each in case.inputs]
    (folder / f"{prefix}.in").write_bytes(b"".join(each.tobytes() for each in inputs))
    types = [type_ for _, type_ in (*program.input_types, *program.output_types)]
    sizes = [(type_.nbytes, max(1, type_.nbytes // max(1, _elements(type_.sizes)))) for type_ in types]
    weights = None if exported.weights is None else exported.weights.name
    is_parallel = b"pthread_create" in exported.code.read_bytes()
    return Prepared(case, prefix, is_parallel, outputs, error, sizes, weights, counter.count)


def _elements(sizes: Sequence[int]) -> int:
    count = 1
    for size in sizes:
        count *= size
    return count


def _run(prepared: Sequence[Prepared], folder: Path, threads: int) -> Iterator[Outcome]:
    """
    Runs the driver on the processor, whose results count, and under memcheck.

    Valgrind 3.19 computes some comparisons of AVX wrongly where there are NaNs: EQ_UQ, NEQ_OQ and their signalling
    forms. So its results are not looked at.
    """
    log = folder / f"valgrind{threads}.log"
    for each in prepared:
        (folder / f"{each.prefix}.out").unlink(missing_ok=True)
    environment = {**os.environ, "STEPWELL_THREADS": str(threads)}
    subprocess.run(["./driver"], cwd=folder, env=environment, capture_output=True, check=False)
    differing = {each.prefix: _wrong_result(each, folder) for each in prepared}
    command = ["valgrind", *FLAGS, f"--log-file={log.name}", "./driver"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    found = dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)
    parts = log_parts(log.read_text(errors="replace"))
    for each in prepared:
        message = f"the driver ended with code {done.returncode} and says nothing of this program"
        if each.prefix in found:
            message = _verdict(each, found[each.prefix]) or differing[each.prefix]
        part = parts.get(each.prefix, "")
        yield Outcome(each.case.name, threads, f"{message}\n{part}".rstrip() if message else "")


def _verdict(each: Prepared, line: str) -> str:
    """Returns what is wrong with a program by the line of the driver: status, errors, changes, leaks, message."""
    status, errors, changed, leaked, *words = line.split(" ")
    error = " ".join(words)
    if errors != "0":
        return f"{errors} errors of memcheck"
    if changed != "0":
        return "the program changes its inputs"
    if leaked != "0":
        return f"{leaked} bytes are never freed"
    if (status != "0") != bool(each.error) or error != each.error:
        return f"status {status}, '{error}', expected '{each.error}'"
    return ""


def _wrong_result(each: Prepared, folder: Path) -> str:
    """Returns which result of the driver differs from that of the program in this process."""
    written = folder / f"{each.prefix}.out"
    data, begin = written.read_bytes() if written.exists() else b"", 0
    if each.error or len(data) != sum(wanted.nbytes for wanted in each.outputs):
        return ""  # Where it ended early, memcheck says why.
    for number, wanted in enumerate(each.outputs):
        found = data[begin : begin + wanted.nbytes]
        begin += wanted.nbytes
        if not same(np.frombuffer(found, wanted.dtype).reshape(wanted.shape), wanted):
            return f"result {number} of the exported program differs from that of the same program in this process"
    return ""


def same(found: Array, wanted: Array) -> bool:
    """Whether two arrays hold the same values, any NaN for any NaN."""
    if found.tobytes() == wanted.tobytes():
        return True
    if wanted.dtype.kind in "biu":
        return False
    wide = [each.astype(np.float64) for each in (found, wanted)]
    return bool(np.array_equal(wide[0], wide[1], equal_nan=True))


def log_parts(text: str) -> dict[str, str]:
    """Returns the first lines of valgrind's log after the name of each program."""
    plain = re.sub(r"^(==|\*\*)\d+(==|\*\*) ?", "", text, flags=re.MULTILINE)
    parts = re.split(r"^program (\w+)$", plain, flags=re.MULTILINE)
    pairs = zip(parts[1::2], parts[2::2], strict=True)
    return {name: "\n".join(part.strip().splitlines()[:MOST_LINES]) for name, part in pairs}


# The driver


def driver_text(prepared: Sequence[Prepared]) -> str:
    """Returns the C program that runs all of `prepared`."""
    headers = "".join(f'#include "{each.prefix}.h"\n' for each in prepared)
    calls = "".join(_call_text(each) for each in prepared)
    rows = "".join(
        f'  {{"{each.prefix}", {len(each.case.inputs)}, {len(each.sizes)}, {each.prefix}_arrays, {each.prefix}_call}},'
        "\n"
        for each in prepared
    )
    return f"{_HEAD}{headers}{_TYPES}{calls}static const program programs[] = {{\n{rows}}};\n{_MAIN}"


def _call_text(each: Prepared) -> str:
    name = each.prefix
    weights = "NULL" if each.weights is None else f'"{each.weights}"'
    arrays = ", ".join(f"{{{size}, {element}}}" for size, element in each.sizes) or "{0, 1}"
    return f"""
static const array {name}_arrays[] = {{{arrays}}};
static int {name}_call(const void *const *inputs, void *const *outputs, char *why, size_t most) {{
  {name}_context *context;
  int status = {name}_load({weights}, &context);
  if (status == 0) status = {name}_run(context, inputs, outputs);
  snprintf(why, most, "%s", {name}_error(context));
  {name}_free(context);
  return status;
}}
"""


_HEAD = """#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <valgrind/memcheck.h>
"""

_TYPES = """
typedef struct { size_t bytes, element; } array;
typedef int call(const void *const *inputs, void *const *outputs, char *why, size_t most);
typedef struct { const char *name; int inputs, count; const array *arrays; call *run; } program;
"""

_MAIN = """
/* A block that ends where the array ends. Every second one begins at an address that fits the element and no more. */
static char *block(const array *of, int index, char **whole) {
  size_t shift = index % 2 ? of->element : 0;
  *whole = malloc(of->bytes + shift);
  if (*whole == NULL) abort();
  return *whole + shift;
}

static int opened(const char *name, const char *suffix, int flags) {
  char path[64];
  snprintf(path, sizeof path, "%s%s", name, suffix);
  return open(path, flags, 0644);
}

static unsigned long lost(void) {
  unsigned long leaked = 0, dubious = 0, reachable = 0, suppressed = 0;
  VALGRIND_DO_QUICK_LEAK_CHECK;
  VALGRIND_COUNT_LEAKS(leaked, dubious, reachable, suppressed);
  return leaked;
}

static void run(const program *it) {
  char *whole[it->count + 1], *at[it->count + 1], *before[it->count + 1], why[4096];
  unsigned errors = VALGRIND_COUNT_ERRORS, changed = 0;
  int file = opened(it->name, ".in", O_RDONLY);
  unsigned long leaked = lost();
  VALGRIND_PRINTF("program %s\\n", it->name);
  for (int i = 0; i < it->count; i++) {
    at[i] = block(&it->arrays[i], i, &whole[i]);
    if (i >= it->inputs) continue;
    if (read(file, at[i], it->arrays[i].bytes) != (ssize_t)it->arrays[i].bytes) abort();
    before[i] = malloc(it->arrays[i].bytes);
    memcpy(before[i], at[i], it->arrays[i].bytes);
  }
  close(file);
  int status = it->run((const void *const *)at, (void *const *)(at + it->inputs), why, sizeof why);
  for (int i = 0; i < it->inputs; i++) {
    changed += memcmp(before[i], at[i], it->arrays[i].bytes) != 0;
    free(before[i]);
  }
  file = opened(it->name, ".out", O_WRONLY | O_CREAT | O_TRUNC);
  for (int i = it->inputs; i < it->count && status == 0; i++) {
    if (VALGRIND_CHECK_MEM_IS_DEFINED(at[i], it->arrays[i].bytes) != 0)
      VALGRIND_PRINTF("in output %d\\n", i - it->inputs);
    if (write(file, at[i], it->arrays[i].bytes) != (ssize_t)it->arrays[i].bytes) abort();
  }
  close(file);
  for (int i = 0; i < it->count; i++) free(whole[i]);
  printf("%s %d %u %u %lu %s\\n", it->name, status, VALGRIND_COUNT_ERRORS - errors, changed, lost() - leaked, why);
  fflush(stdout);
}

int main(void) {
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) run(&programs[i]);
  return 0;
}
"""
