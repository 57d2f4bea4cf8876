"""The hunt: programs of one seed after the other until the time is over, and each that fails made into a test."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from math import prod
from pathlib import Path
from typing import Final

from xdsl.context import Context
from xdsl.dialects.builtin import TensorType

from ...core.ir.walk import walk
from ...core.messages.files import write_file
from ...core.passes.pipeline_text import parse_pipeline
from ...lazy_dataclass import dataclass
from ..bisect import bisect
from ..check import CheckOptions
from ..evaluate import warm_up
from ..reduce.moves.all import moves_for
from ..reduce.regression import text_of_test
from ..reduce.session import reduce
from ..reduce.subject import Program
from ..reduce.workers import VALID, Answer, Trial, Workers
from .oracle import Right
from .sources import Source

PRODUCTS: Final = ("graph.matmul", "graph.conv2d")

BATCH: Final = 8
"""The number of seeds that are tried before the clock is looked at, for each process."""

EACH: Final = 6
"""One of so many programs is checked after each pass, which takes longer and sees more."""

MOST_STEPS: Final = 10_000
"""The largest program that is checked after each pass, in operations on elements. Larger ones would take the time of
ten that are checked at the end."""


@dataclass(frozen=True)
class Found:
    """A program that fails. `culprit` is the pass or the rule to blame, where that could be told."""

    seed: int
    source: str
    pipeline: str
    kind: str
    culprit: str = ""
    ops: int = 0
    small: int = 0
    file: str = ""
    again: bool = False
    """Set where a program before it has failed for the same reason."""


@dataclass
class Counts:
    """The number of programs that were tried, that led nowhere, and that failed only once."""

    programs: int = 0
    flaky: int = 0


class Hunters(Workers):
    """Takes every end of a trial but a quiet one as interesting: an answer, a signal, the time limit."""

    def _is_yes(self, answer: Answer) -> bool:
        return answer.ending != "no"


@dataclass
class Hunt:
    """Looks for programs that the compiler gets wrong."""

    context: Context
    sources: Sequence[Source]
    pipelines: Sequence[str]
    folder: Path
    workers: Workers = field(default_factory=lambda: Hunters(1, 60.0))
    counts: Counts = field(default_factory=Counts)
    seen: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    report: Callable[[int], None] = lambda _: None
    """Called with the next seed, again and again."""
    clock: Callable[[], float] = time.monotonic
    """The seconds that count: those of the clock, if nothing else is given."""
    next: int = 0
    """The seed that a later hunt goes on from."""

    def run(self, seed: int, seconds: float) -> Iterator[Found]:
        """Yields what fails, until the time is over."""
        warm_up()
        end = self.clock() + seconds
        self.next = seed
        while self.clock() < end:
            seeds = range(self.next, self.next + BATCH * self.workers.jobs)
            start = 0
            trials = [self._trial(each) for each in seeds]
            while start < len(trials):
                place = self.workers.first(trials, start)
                done = len(trials) if place is None else place + 1
                self.counts.programs += done - start
                start, self.next = done, seeds[0] + done
                if place is not None and (found := self._found(seeds[place], trials[place])) is not None:
                    yield found
                if self.clock() >= end:
                    return
            self.report(self.next)

    def choice(self, seed: int) -> tuple[Source, int, Right]:
        """Returns the source of the program of a seed, its seed there, and what is asked of it."""
        source, number = self.sources[seed % len(self.sources)], seed // len(self.sources)
        pipeline = self.pipelines[number % len(self.pipelines)]
        each = number % EACH == EACH - 1
        return source, number, Right(pipeline, self.context, CheckOptions(seed), each, 1 + number % 2)

    def question(self, seed: int, program: Program) -> Right:
        """Returns what is asked of the program of a seed. Large programs are compared at the end only."""
        right = self.choice(seed)[2]
        return replace(right, each=right.each and _steps(program) <= MOST_STEPS)

    def program(self, seed: int) -> Program | None:
        """Returns the program of a seed, or `None` where it leads nowhere."""
        source, number, _ = self.choice(seed)
        module = source.program(self.context, number)
        if module is None or "?x" in (text := str(module) + "\n"):
            return None
        return Program(self.context, text, f"{source.name}-{number}.mlir")

    def _trial(self, seed: int) -> Trial:
        def run(tell: Callable[[str], None]) -> bool:
            program = self.program(seed)
            if program is None or not program.is_valid:
                return False
            tell(VALID)
            kind = self.question(seed, program).kind(program)
            tell(kind or "")
            return kind is not None

        return run

    def _found(self, seed: int, trial: Trial) -> Found | None:
        """Returns what the program of a seed does, if it does so once more, and writes it as a small test."""
        source, _, _ = self.choice(seed)
        answer = self.workers.ask(trial)
        program = self.program(seed)
        if answer.ending == "no" or program is None:
            self.counts.flaky += 1
            return None
        right = self.question(seed, program)
        kind = answer.told or (f"signal {answer.signal}" if answer.signal else "too slow")
        found = Found(seed, source.name, right.pipeline, kind, ops=program.ops())
        if answer.ending != "late":
            limits = Workers(self.workers.jobs, self.workers.timeout)
            right = self._cheaper(program, replace(right, verify=not kind.startswith("wrong")))
            search = reduce(program, right, moves_for(program), workers=limits, report=lambda _: self.report(self.next))
            kind = search.wanted or kind
        found = replace(found, kind=kind, small=program.ops(), culprit=self._culprit(program, right))
        again = (found.kind, found.culprit) in self.seen and bool(found.culprit)
        self.seen.add((found.kind, found.culprit))
        if again:
            return replace(found, again=True)
        file = self.folder / f"fuzz-{seed}.mlir"
        head = f"/// Found by stepwell fuzz, seed {seed} of {source.name}: {found.kind}.\n"
        head += f"/// To blame: {found.culprit}\n" if found.culprit else ""
        write_file(file, text_of_test(right, head + program.text, found.kind))
        return replace(found, file=str(file))

    def _cheaper(self, program: Program, right: Right) -> Right:
        """Returns the question without a check after each pass, if the answer is the same: it takes a tenth of that."""
        quick = replace(right, each=False)

        def ask(tell: Callable[[str], None]) -> bool:
            tell(VALID)
            return quick.kind(program) is not None

        is_same = right.each and self.workers.ask(ask).ending == "yes"
        return quick if is_same else right

    def _culprit(self, program: Program, right: Right) -> str:
        """Returns the application of a rule, or the pass, that makes results wrong. Looks for it in another process."""

        def look(tell: Callable[[str], None]) -> bool:
            found = bisect(self.context, program.parsed(), parse_pipeline(right.pipeline), right.options)
            if found is not None:
                one, name = found.application, f"pass '{found.pass_.name}'"
                tell(name if one is None else f"{one.kind} '{one.name}' of {name}")
            return found is not None

        return Workers(1, self.workers.timeout).ask(look).told


def _steps(program: Program) -> int:
    """Returns about how many operations on elements a program has. A product has one for each element and term."""
    found = 0
    for op in walk(program.parsed()):
        sizes = [prod(each.type.get_shape()) for each in op.operands if isinstance(each.type, TensorType)]
        results = [prod(each.type.get_shape()) for each in op.results if isinstance(each.type, TensorType)]
        if op.name in PRODUCTS and len(sizes) > 1 and results[0]:
            shape = op.operands[1].type.get_shape()  # pyright: ignore
            found += results[0] * max(1, sizes[1] // max(1, shape[0] if op.name == "graph.conv2d" else shape[-1]))
        else:
            found += max([*sizes, *results], default=0)
    return found
