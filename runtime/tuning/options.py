"""Checks the arguments of `tune`, so that wrong ones are found before anything is measured."""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import Any

from ...core.messages.diagnostics import Diagnostic, StepwellError
from ..cache import tuning_path
from ..stairs import NUMERICS

MOST_TIMEOUT = 1_000_000.0
"""The most seconds of a job. The clocks of the system that wait for a process take no more than some weeks."""


def check_numbers(trials: Any, seconds: Any, timeout: Any, jobs: Any, seed: Any) -> None:
    """Raises `StepwellError` for numbers that mean nothing."""
    for name, value in (("trials", trials), ("jobs", jobs)):
        if value is not None and (not _is_whole(value) or value <= 0):
            _refuse(name, value, "a positive number" if _is_whole(value) else "a positive whole number")
    for name, value in (("seconds", seconds), ("timeout", timeout)):
        if value is not None and (not isinstance(value, int | float) or isnan(value) or value <= 0):
            _refuse(name, value, "a positive number")
    if timeout is None or timeout > MOST_TIMEOUT:
        _refuse("timeout", timeout, f"at most {MOST_TIMEOUT:.0f} seconds")
    if not _is_whole(seed) or seed < 0:
        _refuse("seed", seed, "a whole number from 0 on")


def check_choices(numerics: Any, executor: Any, opt_level: Any, target: Any, database: Any) -> None:
    """Raises `StepwellError` for options of `compile` that there are not, and for objects of another kind."""
    if not _is_whole(opt_level) or opt_level not in range(4):
        _refuse("opt_level", repr(opt_level), "0, 1, 2 or 3")
    if not isinstance(target, str):
        _refuse("target", repr(target), "the name of a machine")
    if not isinstance(database, str | Path | None):
        _refuse("database", repr(database), "the name of a file")
    if numerics not in NUMERICS:
        _refuse("numerics", repr(numerics), f"one of {', '.join(NUMERICS)}")
    if executor is not None and not callable(getattr(executor, "submit", None)):
        _refuse("executor", repr(executor), "a concurrent.futures.Executor")


def check_candidates(candidates: Any) -> None:
    """Raises `StepwellError` for what is no function of a kernel."""
    if candidates is not None and not callable(candidates):
        expected = "a function that takes a kernel and returns texts of schedules, such as lambda kernel: [text]"
        _refuse("candidates", repr(candidates), expected)


def check_measure(measure: Any) -> None:
    """Raises `StepwellError` for what another process would not find."""
    expected = "a function at the top of a module: other processes look it up by its name"
    if not callable(measure):
        _refuse("measure", repr(measure), expected)
    module, name = getattr(measure, "__module__", "__main__"), getattr(measure, "__qualname__", "<lambda>")
    if module == "__main__" or not name.isidentifier():
        _refuse("measure", f"{module}.{name}", expected)


def chosen_database(database: str | Path | None, replay: bool) -> Path:
    """Returns the file of the database. Raises `StepwellError` where none is named, or a replay finds no file."""
    path = tuning_path() if database is None else Path(database)
    if path is None:
        hint = "name one, or set STEPWELL_TUNING_DB to a file"
        raise StepwellError(Diagnostic("there is no tuning database: STEPWELL_TUNING_DB is empty", hint=hint))
    if replay and not path.exists():
        hint = "a replay measures nothing: it takes the ratios of a database"
        raise StepwellError(Diagnostic(f"there is no tuning database '{path}'", hint=hint))
    return path


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _refuse(name: str, found: Any, expected: str) -> None:
    raise StepwellError(Diagnostic(f"{name} is {found}, expected {expected}"))
