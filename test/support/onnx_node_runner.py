"""
Runs cases of the ONNX node suite in processes of their own: a case that takes its process down, or never ends, is a
failure of that case and of no other.

As a program it is such a process: it reads names of cases, one a line, and answers each with a line of JSON.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__)

PASSES, REFUSED, FAILS, DIFFERS, CRASHES, HANGS = "passes", "refused", "fails", "differs", "crashes", "hangs"
"""
What comes of a case: the expected result; an error at import; an error later; another result; the end of the process;
no end in `SECONDS`. The first two are sound.
"""

SECONDS = 240
"""Longest time for a case; the slowest takes a few seconds on an idle machine."""


@dataclass(frozen=True)
class Outcome:
    """What came of a case, and the message with it."""

    name: str
    state: str
    message: str = ""


class Worker:
    """A process that runs cases one after another."""

    def __init__(self) -> None:
        self._name = ""
        self._process = subprocess.Popen(
            [sys.executable, str(HERE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "STEPWELL_TUNING_DB": ""},
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._to, self.answers = self._process.stdin, self._process.stdout

    def ask(self, name: str) -> None:
        """Hands over a case."""
        self._name = name
        self._to.write(name + "\n")
        self._to.flush()

    def outcome(self) -> tuple[Outcome, bool]:
        """What came of the case, once `answers` has something to read, and whether the process lives on."""
        line = self.answers.readline()
        if line.endswith("\n"):
            return Outcome(*json.loads(line)), True
        code = self._process.wait()
        return Outcome(self._name, CRASHES, f"the process ended with code {code}"), False

    def hangs(self) -> Outcome:
        """Ends the process of a case that does not end."""
        self._process.kill()
        self._process.wait()
        return Outcome(self._name, HANGS, f"no result in {SECONDS} s")

    def close(self) -> None:
        """Lets the process end."""
        self._to.close()
        self._process.wait()
        self.answers.close()


def outcomes(names: Sequence[str], workers: int = 1) -> Iterator[Outcome]:
    """What comes of every case, in the order in which they end."""
    waiting = list(reversed(names))
    with selectors.DefaultSelector() as selector:

        def start(worker: Worker) -> None:
            worker.ask(waiting.pop())
            selector.register(worker.answers, selectors.EVENT_READ, worker)

        for _ in range(min(workers, len(names))):
            start(Worker())
        while running := list(selector.get_map().values()):
            ready = selector.select(SECONDS)
            for key in [key for key, _ in ready] or running:
                worker: Worker = key.data
                selector.unregister(worker.answers)
                outcome, lives = worker.outcome() if ready else (worker.hangs(), False)
                yield outcome
                if waiting:
                    start(worker if lives else Worker())
                elif lives:
                    worker.close()


def outcome_of(name: str) -> Outcome:
    """Runs a case here."""
    from onnx_node_suite import all_cases, case_named, run_case
    from stepwell.frontends import OnnxError

    assert name in all_cases(), name
    try:
        run_case(case_named(name))
    except OnnxError as error:
        return Outcome(name, REFUSED, str(error))
    except AssertionError as error:
        return Outcome(name, DIFFERS, str(error)[:500])
    except BaseException as error:
        return Outcome(name, FAILS, f"{type(error).__name__}: {error}"[:500])
    return Outcome(name, PASSES)


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # nothing else gets in between
    for line in sys.stdin:
        outcome = outcome_of(line.strip())
        answers.write(json.dumps([outcome.name, outcome.state, outcome.message]) + "\n")
        answers.flush()


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))
    main()
