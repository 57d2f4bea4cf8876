"""The scope that decides which passes run, with what configuration, and who watches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Any, Final
from uuid import uuid4

from xdsl.passes import ModulePass

from ..messages.diagnostics import Diagnostic, StepwellError, did_you_mean
from ..plugins import registry
from .config import checked_config, default_of
from .info import level_of
from .instrument import Instrument

SEQUENCE_NAMES: Final[set[str]] = set()
"""The names of all sequences made: a `PassContext` may disable or require these too."""


class PassContext:
    """
    The scope in which pipelines, sequences and called passes run, entered by `with PassContext(…)`.

    Of the passes in a list, one in `disabled` is skipped; else one in `required` runs; else one runs when its level is
    at most `opt_level`. A pass that another one requires runs on any level, and is an error when disabled. A nested
    context replaces the outer one as a whole; leaving it, also by an exception, brings the outer one back. Per thread
    or task. With `check_semantics` the program is run before and after each pass (docs/debugging.md); no compilation is
    then taken from a cache.

    Raises `StepwellError` for names and configuration keys that do not exist, and values of a wrong type.
    """

    def __init__(
        self,
        opt_level: int = 2,
        disabled: Iterable[str] = (),
        required: Iterable[str] = (),
        config: Mapping[str, object] | None = None,
        instruments: Sequence[Instrument] = (),
        check_semantics: bool = False,
    ):
        if type(opt_level) is not int or opt_level < 0:
            raise StepwellError(Diagnostic(f"opt level is {opt_level!r}, expected 0, 1, 2 or 3"))
        self.opt_level = opt_level
        self.disabled = _pass_names("disabled", disabled)
        self.required = _pass_names("required", required)
        self.config: dict[str, Any] = checked_config(config or {})
        self.check_semantics = check_semantics
        self.instruments = (*instruments, *([_checking()] if check_semantics else []))
        self._entered: list[tuple[Token[PassContext | None], ExitStack]] = []

    def __repr__(self) -> str:
        shown = {"disabled": sorted(self.disabled), "required": sorted(self.required), "config": self.config}
        parts = [f"opt_level={self.opt_level}", *(f"{name}={value!r}" for name, value in shown.items() if value)]
        return f"PassContext({', '.join(parts)})"

    @staticmethod
    def current() -> PassContext:
        """Returns the innermost context, or one with the defaults outside of all."""
        context = _current.get()
        return PassContext() if context is None else context

    def config_value(self, name: str) -> Any:
        """The value of a registered configuration key, its default when not set."""
        return self.config[name] if name in self.config else default_of(name)

    def reason_to_skip(self, pass_: ModulePass) -> str | None:
        """Why a pass of a list does not run here, `None` when it does."""
        if pass_.name in self.disabled:
            return "disabled"
        if pass_.name in self.required:
            return None
        level = level_of(pass_)
        return None if level <= self.opt_level else f"level {level} is above opt level {self.opt_level}"

    def enabled(self, pass_: ModulePass) -> bool:
        """Returns whether a pass of a list runs here."""
        return self.reason_to_skip(pass_) is None

    def key(self) -> str:
        """
        Returns what the context changes about a pipeline, as text for the key of a cache. With a veto in it, no two
        texts are the same.
        """
        config = sorted((name, repr(value)) for name, value in self.config.items())
        text = repr((self.opt_level, sorted(self.disabled), sorted(self.required), config))
        if self.check_semantics or any(type(each).should_run is not Instrument.should_run for each in self.instruments):
            text += f" veto {uuid4()}"
        return text

    def __enter__(self) -> PassContext:
        with ExitStack() as entering:
            for instrument in self.instruments:
                instrument.enter_context()
                entering.callback(instrument.exit_context)
            leaving = entering.pop_all()
        self._entered.append((_current.set(self), leaving))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        token, leaving = self._entered.pop()
        try:
            leaving.__exit__(kind, error, traceback)
        finally:
            _current.reset(token)


def _checking() -> Instrument:
    return registry().extensions_of("instrument")["check-semantics"]()()


_current: ContextVar[PassContext | None] = ContextVar("stepwell_pass_context", default=None)


def current_context() -> PassContext | None:
    """The innermost `PassContext` entered, `None` outside of all: then every pass that is asked for runs."""
    return _current.get()


def context_key() -> str:
    """
    Returns what the current context changes about a pipeline, as text for the key of a cache. It is empty outside of
    contexts.
    """
    context = _current.get()
    return "" if context is None else context.key()


def set_config(config: Mapping[str, object]) -> None:
    """
    Adds configuration keys to the pass context, for the rest of the `contextvars.Context` that this is called in.

    Instruments that watch already go on, and are not entered again. Outside of contexts all passes run, and go on to.
    Raises the errors of `PassContext`.
    """
    now = _current.get() or PassContext(opt_level=3)
    found = PassContext(now.opt_level, now.disabled, now.required, {**now.config, **config}, now.instruments)
    found.check_semantics = now.check_semantics
    _current.set(found)


def config_value(name: str) -> Any:
    """The value of a registered key in the current context, its default outside of contexts."""
    context = current_context()
    return default_of(name) if context is None else context.config_value(name)


def _pass_names(what: str, names: Iterable[str]) -> frozenset[str]:
    if isinstance(names, str):
        raise StepwellError(Diagnostic(f"{what} is the string '{names}', expected a list of names of passes"))
    names = frozenset(names)
    for name in sorted(names):
        if name not in registry().passes and name not in SEQUENCE_NAMES and name not in _defined_names():
            hint = did_you_mean(name, registry().passes) or "--list-passes lists the passes"
            raise StepwellError(Diagnostic(f"unknown pass '{name}' in {what}", hint=hint))
    return names


def _defined_names() -> set[str]:
    """The names of all pass classes of this process, also of those that are in no registry."""
    found: set[str] = set()
    classes: list[type[ModulePass]] = [ModulePass]
    while classes:
        each = classes.pop()
        classes += each.__subclasses__()
        name = each.__dict__.get("name")
        if isinstance(name, str):
            found.add(name)
    return found
