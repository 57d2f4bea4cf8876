"""Tunes one kernel: generations of candidates, then the confirmation of the fastest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.utils.exceptions import DiagnosticException, ParseError

from ...core.text.parsing import make_context
from ...lazy_dataclass import dataclass
from ...schedule.tuned.apply_tuning import program_of
from ...schedule.tuned.kernels import Kernel
from ...schedule.tuned.records import BEST, CONFIRMATION, TRIAL, Record
from .database import Database
from .job import Job, Measure, Outcome
from .progress import Progress
from .report import KernelReport, Trial
from .search import Search
from .spaces.space import Space
from .workers import Workers

GENERATION = 12
"""
The number of candidates whose ratios have no say in each other's choice.

So it does not matter who measures them, and in which order.
"""

CONFIRMED = 1.02
"""A schedule takes the place of the default when the lower end of its interval is above that."""

CONFIRMATIONS = 3
"""The number of the fastest candidates that are measured again."""

CONFIRMATION_PROCESSES = 3
"""
The number of processes in each of which a schedule must be faster.

Arrays and code lie elsewhere in each, and where they lie decides which lines share sets of a cache (measured: one
schedule of a grouped convolution took 0.89 to 1.06 of the time of another one, by process, on 13 MB).
"""

ROUNDS, CONFIRMATION_ROUNDS = 9, 31

HOPELESS = 0.97
"""A candidate whose ratio is below that after the first rounds is given up."""


@dataclass(frozen=True)
class Settings:
    """The parameters of `tune` that are the same for all kernels of a run."""

    target: str
    trials: int
    seed: int
    threads: int
    timeout: float
    measure: Measure
    replay: bool


class KernelTuning:
    """The tuning of one kernel in a run. The schedules `first` are tried first."""

    def __init__(
        self,
        kernel: Kernel,
        names: tuple[str, ...],
        settings: Settings,
        database: Database,
        workers: Workers,
        progress: Progress,
        first: Iterable[str] = (),
    ):
        first = list(first)
        self.kernel = kernel
        self.names = names
        self.settings = settings
        self.database = database
        self.workers = workers
        self.progress = progress
        self.text = str(kernel.module)
        space = Space(kernel, settings.target, settings.threads)
        self._search = Search(space.knobs, space.program, settings.seed, first)
        self._trials: list[Trial] = []
        self._remark = "" if space.knobs or first else "nothing can be chosen"
        self._fastest = 1.0

    def advance(self) -> bool:
        """Measures the next generation. Returns whether there is another one."""
        programs = self._search.generation(min(GENERATION, self.settings.trials - len(self._trials)))
        for trial in self._measured(programs):
            self._trials.append(trial)
            self._search.tell(trial.program, trial.record.ratio if trial.record.status == "ok" else None)
        return bool(programs) and not self._remark and len(self._trials) < self.settings.trials

    def stop(self, why: str) -> None:
        """Ends the search before another generation, and keeps why."""
        self._remark = self._remark or why

    def finish(self) -> KernelReport:
        """Confirms the fastest and returns what has been found."""
        if not self.settings.replay:
            self._confirm()
        best = self.database.best(self.kernel.hash)
        return KernelReport(self.names, self.kernel.hash, tuple(self._trials), best, self._remark)

    def _measured(self, programs: Sequence[str]) -> list[Trial]:
        """Returns the trials in the order of `programs`. Those that the database knows are taken from there."""
        known = self.database.trials(self.kernel.hash, self.settings.threads)
        found: dict[str, Trial] = {p: Trial(p, known[p], True) for p in programs if p in known}
        for trial in found.values():
            self._show(trial.record)
        wanted = [program for program in programs if program not in found]
        if wanted and self.settings.replay:
            self._remark = "the next candidates are not in the database"
            programs = programs[: programs.index(wanted[0])]
            wanted = []
        jobs: dict[str, Job] = {}
        for program in wanted:
            job = self._job(program, ROUNDS)
            if isinstance(job, Outcome):
                found[program] = self._kept(program, job)
            else:
                jobs[program] = job
        order = list(jobs)
        for number, outcome in self.workers.run(list(jobs.values())):
            if outcome.fault_of_default:
                self._remark = outcome.detail
            else:
                found[order[number]] = self._kept(order[number], outcome)
        return [found[program] for program in programs if program in found]

    def _kept(self, program: str, outcome: Outcome) -> Trial:
        record = self._add(TRIAL, program, outcome)
        trial = Trial(program, record, False)
        self._show(record)
        return trial

    def _add(self, kind: str, program: str, outcome: Outcome) -> Record:
        seed, threads = self.settings.seed, self.settings.threads
        return self.database.add(kind, self.kernel.hash, self.names[0], program, outcome, seed, threads)

    def _show(self, record: Record) -> None:
        self._fastest = max(self._fastest, record.ratio or 0.0)
        self.progress.step(", ".join(self.names), self._fastest)

    def _job(self, program: str, rounds: int) -> Job | Outcome:
        """Returns the job that measures a program, or the outcome of one that cannot be parsed."""
        try:
            op = program_of(make_context(), program, "candidate")
        except (DiagnosticException, ParseError) as error:
            return Outcome("refused", detail=str(error))
        module = self.kernel.module.clone()
        op.detach()
        module.body.block.add_op(op)
        return Job(
            default=self.text,
            candidate=str(module),
            target=self.settings.target,
            rounds=rounds,
            threads=self.settings.threads,
            seed=self.settings.seed,
            stop_below=HOPELESS if rounds == ROUNDS else None,
        )

    def _confirm(self) -> None:
        """Measures the fastest schedules again, in new processes. The best of those that are confirmed is kept."""
        confirmed: list[tuple[float, str, Outcome]] = []
        for program in self._to_confirm():
            job = self._job(program, CONFIRMATION_ROUNDS)
            outcome = None if isinstance(job, Outcome) else self._worst(job)
            if outcome is not None:
                self._add(CONFIRMATION, program, outcome)
                confirmed.append((_lower_end(outcome), program, outcome))
        best = self.database.best(self.kernel.hash)
        least = CONFIRMED if best is None or best.interval is None else max(CONFIRMED, best.interval[0])
        low, program, outcome = max(confirmed, key=lambda each: each[0], default=(0.0, "", None))
        if outcome is not None and low > least:
            self._add(BEST, program, outcome)

    def _worst(self, job: Job) -> Outcome | None:
        """
        Returns the outcome of the process in which the candidate does worst, `None` where the run was stopped. Once one
        does not confirm it, there are no further ones.
        """
        worst: Outcome | None = None
        for _ in range(CONFIRMATION_PROCESSES):
            for _, outcome in self.workers.run([job], together=False):
                worst = outcome if worst is None else min(worst, outcome, key=_lower_end)
            if worst is None or _lower_end(worst) <= CONFIRMED:
                break
        return worst

    def _to_confirm(self) -> list[str]:
        """Returns the fastest candidates, without those that were measured twice before."""
        known = self.database.confirmations(self.kernel.hash, self.settings.threads)
        fast = [t for t in self._trials if t.record.status == "ok" and (t.record.ratio or 0.0) > CONFIRMED]
        fast.sort(key=lambda trial: -(trial.record.ratio or 0.0))
        return [trial.program for trial in fast[:CONFIRMATIONS] if trial.program not in known]


def _lower_end(outcome: Outcome) -> float:
    """Returns the lower end of the interval of the ratio, 0 where there is none."""
    return outcome.interval[0] if outcome.status == "ok" and outcome.interval is not None else 0.0
