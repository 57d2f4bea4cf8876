"""Pipelines: text to passes, and running them with checks and instruments between."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final, NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec
from xdsl.utils.arg_spec import parse_pipeline as parse_specs
from xdsl.utils.exceptions import ArgSpecParseError, ShrinkException, VerifyException

from .collector import patient_collector
from .diagnostics import Diagnostic, StepwellError, did_you_mean, emit_remark
from .errors import diagnostic_of
from .plugins import registry
from .verification import verify_module

if TYPE_CHECKING:
    from .pass_context import PassContext

DEEPEST_PIPELINE: Final = 32
"""Most levels of named pipelines inside each other; deeper means that one contains itself."""


class Instrument:
    """
    Watches a run of a pipeline; the methods do nothing until overridden.

    Around each pass: `should_run`, `before_pass`, the pass, `after_pass`, `before_verify`, `after_verify`. The hooks of
    several instruments run in the order of their list, `exit_context` and `finish` in the reverse. An exception in a hook
    ends the run like one in a pass; `finish` and `exit_context` of all instruments run nevertheless.
    """

    def enter_context(self) -> None:
        """Called on entry of the `PassContext` that holds the instrument."""

    def exit_context(self) -> None:
        """Called on exit of that context, also after an exception."""

    def before_pipeline(self, passes: Sequence[ModulePass], module: ModuleOp) -> None:
        """`module` has been verified; `passes` are those to run, required ones included."""

    def should_run(self, pass_: ModulePass, module: ModuleOp) -> bool:
        """With `False` the pass is skipped; when another pass requires it, that is an error."""
        return True

    def skipped_pass(self, pass_: ModulePass, reason: str) -> None:
        """Called instead of `before_pass` when the context or an instrument rules the pass out."""

    def before_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        """`index` counts the passes of the run from 0."""

    def after_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        """Called before the result is verified."""

    def before_verify(self, pass_: ModulePass, module: ModuleOp) -> None: ...

    def after_verify(self, pass_: ModulePass | None, module: ModuleOp) -> None:
        """`pass_` is `None` after the check of the input."""

    def failed_pass(self, pass_: ModulePass, index: int, error: Exception) -> None:
        """The pass, the check of its result or a hook around it raised `error`."""

    def after_pipeline(self, module: ModuleOp) -> None: ...

    def finish(self) -> None:
        """Called when the run has ended, also when it failed: the place to give up what is held."""

    def report(self) -> str:
        """What to show once the run has ended, also when it failed; nothing by default."""
        return ""


class PassFailure(NamedTuple):
    """The pass a run ended in; kept on the exception as `failed_pass`."""

    pass_: ModulePass
    number: int
    """Its place in the pipeline, from 1."""
    stage: str = "pass"
    """What raised: `pass`, `verifier`, or a hook as `before_pass of Timing`."""

    def __str__(self) -> str:
        where = f"pass '{self.pass_}' (number {self.number} of the pipeline)"
        return f"in {where}" if self.stage == "pass" else f"in {self.stage}, at {where}"


class Step(NamedTuple):
    """A pass of a run; `skipped` says why it does not run, `required_by` names the pass it was added for."""

    pass_: ModulePass
    skipped: str | None = None
    required_by: str | None = None


_current: ContextVar[PassContext | None] = ContextVar("stepwell_pass_context", default=None)


def current_context() -> PassContext | None:
    """The innermost `PassContext` entered, `None` outside of all: then every pass that is asked for runs."""
    return _current.get()


def context_key() -> str:
    """What the current context changes about a pipeline, as text for the key of a cache; empty outside of contexts."""
    context = _current.get()
    return "" if context is None else context.key()


def expand_pipeline(text: str, pipelines: Mapping[str, str] | None = None) -> list[ArgSpec]:
    """
    The passes that a pipeline text names, named pipelines replaced by what they stand for.

    A name that is a pass and a pipeline means the pass. Raises `StepwellError` for malformed text, for options
    given to a named pipeline and for a pipeline that contains itself.
    """
    named = registry().pipelines if pipelines is None else pipelines
    return _expand(text, named, ())


def _expand(text: str, pipelines: Mapping[str, str], inside: tuple[str, ...]) -> list[ArgSpec]:
    passes = registry().passes
    expanded: list[ArgSpec] = []
    for spec in _specs(text):
        if spec.name in passes or spec.name not in pipelines:
            expanded.append(spec)
            continue
        if spec.name in inside or len(inside) >= DEEPEST_PIPELINE:
            chain = " -> ".join((*inside, spec.name))
            raise StepwellError(Diagnostic(f"pipeline '{spec.name}' contains itself: {chain}"))
        if spec.parameters:
            raise StepwellError(
                Diagnostic(
                    f"pipeline '{spec.name}' takes no options",
                    hint=f"--show-pipeline {spec.name} lists its passes; give the options to one of them",
                )
            )
        expanded += _expand(pipelines[spec.name], pipelines, (*inside, spec.name))
    return expanded


def _specs(text: str) -> list[ArgSpec]:
    # xDSL's grammar knows no white space around commas; a pipeline in a file or a script is easier read with it.
    compact = ",".join(part.strip() for part in _split_outside_quotes(text.strip()))
    try:
        return list(parse_specs(compact)) if compact else []
    except ArgSpecParseError as error:
        raise StepwellError(diagnostic_of(error)) from None
    except ValueError as error:
        raise StepwellError(Diagnostic(f"malformed pipeline: {error}")) from None


def _split_outside_quotes(text: str) -> list[str]:
    """The parts of `text` between commas that are neither in quotes nor in braces."""
    parts, depth, quoted, start = [], 0, False, 0
    for index, character in enumerate(text):
        if character == '"' and text[index - 1 : index] != "\\":
            quoted = not quoted
        elif not quoted and character in "{[":
            depth += 1
        elif not quoted and character in "}]":
            depth -= 1
        elif character == "," and not quoted and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]


def load_pass(name: str) -> type[ModulePass]:
    """The class of a pass; raises `StepwellError` with a suggestion when there is none of that name."""
    found = registry()
    factory = found.passes.get(name)
    if factory is None:
        known = [*found.passes, *found.pipelines]
        hint = did_you_mean(name, known) or "--list-passes lists the passes and the named pipelines"
        raise StepwellError(Diagnostic(f"unknown pass '{name}'", hint=hint))
    try:
        return factory()
    except (Exception, SystemExit) as error:
        raise StepwellError(Diagnostic(f"pass '{name}' cannot be loaded: {type(error).__name__}: {error}")) from error


def require_passes(names: Sequence[str]) -> None:
    """Raises `StepwellError` for a name that is no pass; for flags that name one."""
    passes = registry().passes
    for name in names:
        if name not in passes:
            raise StepwellError(Diagnostic(f"unknown pass '{name}'", hint=did_you_mean(name, passes)))


def parse_pipeline(text: str, pipelines: Mapping[str, str] | None = None) -> list[ModulePass]:
    """The passes of a pipeline text, with their options checked."""
    specs = expand_pipeline(text, pipelines)
    if not specs:
        return []
    from .passes import make_pass

    return [make_pass(load_pass(spec.name), spec) for spec in specs]


def run_pipeline(
    ctx: Context,
    module: ModuleOp,
    pipeline: str | Sequence[ModulePass],
    *,
    verify_each: bool = True,
    instruments: Sequence[Instrument] = (),
    sources: Mapping[str, str] | None = None,
    asked_for: bool = False,
) -> None:
    """
    Runs the passes on `module` in place, as the current `PassContext` wants it; all of them when `asked_for` one by one.

    With `verify_each` the input and the result of every pass are verified. An exception that ends the run carries
    the pass it comes from as `failed_pass`; `core.errors.diagnostic_of` says what to show for it.
    """
    passes = parse_pipeline(pipeline) if isinstance(pipeline, str) else list(pipeline)
    context = current_context()
    if context is not None:
        instruments = [*context.instruments, *instruments]
        verify_each = verify_each and context.config_value("verify-each")
    steps = planned(passes, asked_for)
    with patient_collector(), _finishing(instruments):
        if verify_each:
            verify_module(module, sources=sources)
            for instrument in instruments:
                instrument.after_verify(None, module)
        for instrument in instruments:
            instrument.before_pipeline([step.pass_ for step in steps if step.skipped is None], module)
        _Run(ctx, module, verify_each, instruments).execute(steps)
        for instrument in instruments:
            instrument.after_pipeline(module)


def planned(passes: Sequence[ModulePass], asked_for: bool = False) -> list[Step]:
    """The steps of a run under the current context: required passes added, sequences laid out."""
    plain = not any(getattr(each, "requires", ()) or hasattr(each, "parts") for each in passes)
    if plain and current_context() is None:
        return [Step(each) for each in passes]
    from .pass_plan import plan

    return plan(passes, current_context(), asked_for)


@contextmanager
def _finishing(instruments: Sequence[Instrument]) -> Iterator[None]:
    """Calls `finish` of all instruments at the end of the block, the last first, whatever happens."""
    with ExitStack() as stack:
        for instrument in instruments:
            stack.callback(instrument.finish)
        yield


class _Run:
    """The passes of one run, one after the other; `_stage` is what the run is at, for errors."""

    def __init__(self, ctx: Context, module: ModuleOp, verify_each: bool, instruments: Sequence[Instrument]):
        self._ctx, self._module, self._verify_each = ctx, module, verify_each
        self._instruments = instruments
        self._vetoed: dict[str, str] = {}
        """Names of passes that an instrument ruled out and that have not run, with the class of the instrument."""
        self._ran: set[str] = set()
        self._stage = "pass"

    def execute(self, steps: Sequence[Step]) -> None:
        index = 0
        for step in steps:
            if step.skipped is not None:
                self._skip(step.pass_, step.skipped)
                continue
            try:
                self._execute(step, index)
            except ShrinkException:
                raise
            except Exception as error:
                self._blame(error, step.pass_, index)
                raise
            index += 1

    def _execute(self, step: Step, index: int) -> None:
        pass_, module = step.pass_, self._module
        self._check_required(pass_)
        for instrument in self._at("should_run"):
            if not instrument.should_run(pass_, module):
                self._veto(step, type(instrument).__name__)
                return
        self._vetoed.pop(pass_.name, None)
        self._ran.add(pass_.name)
        for instrument in self._at("before_pass"):
            instrument.before_pass(pass_, index, module)
        self._stage = "pass"
        pass_.apply(self._ctx, module)
        for instrument in self._at("after_pass"):
            instrument.after_pass(pass_, index, module)
        if self._verify_each:
            for instrument in self._at("before_verify"):
                instrument.before_verify(pass_, module)
            self._verify()
            for instrument in self._at("after_verify"):
                instrument.after_verify(pass_, module)

    def _at(self, hook: str) -> Iterator[Instrument]:
        for instrument in self._instruments:
            self._stage = f"{hook} of {type(instrument).__name__}"
            yield instrument

    def _verify(self) -> None:
        self._stage = "verifier"
        try:
            verify_module(self._module)
        except VerifyException as error:
            raise BrokenByPassError(diagnostic_of(error)) from error

    def _check_required(self, pass_: ModulePass) -> None:
        self._stage = "pass"
        for name in getattr(pass_, "requires", ()):
            if name in self._vetoed:
                raise _refused(name, pass_.name, self._vetoed[name])

    def _veto(self, step: Step, instrument: str) -> None:
        if step.required_by is not None:
            raise _refused(step.pass_.name, step.required_by, instrument)
        if step.pass_.name not in self._ran:
            self._vetoed[step.pass_.name] = instrument
        self._skip(step.pass_, f"vetoed by instrument {instrument}")

    def _skip(self, pass_: ModulePass, reason: str) -> None:
        emit_remark(self._module, f"pass '{pass_}' skipped: {reason}")
        for instrument in self._instruments:
            instrument.skipped_pass(pass_, reason)

    def _blame(self, error: Exception, pass_: ModulePass, index: int) -> None:
        """Names pass and stage on the error; a hook that fails now does not hide it."""
        failure = PassFailure(pass_, index + 1, self._stage)
        if not isinstance(getattr(error, "failed_pass", None), PassFailure):
            error.failed_pass = failure  # pyright: ignore[reportAttributeAccessIssue]
        error.add_note(str(failure))
        for instrument in self._instruments:
            try:
                instrument.failed_pass(pass_, index, error)
            except Exception as second:
                error.add_note(f"failed_pass of {type(instrument).__name__} failed too: {second}")


def _refused(name: str, required_by: str, instrument: str) -> StepwellError:
    message = f"pass '{required_by}' requires pass '{name}', which instrument {instrument} vetoes"
    return StepwellError(Diagnostic(message))


class BrokenByPassError(VerifyException):
    """A pass has made invalid IR out of valid IR: a fault of the pass."""

    def __init__(self, diagnostic: Diagnostic):
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic
