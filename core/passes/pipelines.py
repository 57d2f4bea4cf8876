"""Running pipelines, with checks and instruments between the passes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import ShrinkException, VerifyException

from ..ir.cloning import clone_op
from ..ir.identities import Identities
from ..ir.verification import verify_module
from ..messages.collector import patient_collector
from ..messages.diagnostics import Diagnostic, Sendable, StepwellError, emit_remark
from ..plugins import maker_of
from ..text.errors import diagnostic_of
from ..text.parsing import make_context
from .applications import counted
from .context import current_context
from .function_counts import FunctionsBefore
from .instrument import Instrument
from .pipeline_text import parse_pipeline
from .plan import Step, planned


class PassFailure(NamedTuple):
    """The pass a run ended in. The exception keeps it as `failed_pass`."""

    pass_: ModulePass
    number: int
    """Its place in the pipeline, from 1."""
    stage: str = "pass"
    """What raised: `pass`, `verifier`, or a hook as `before_pass of Timing`."""

    def __str__(self) -> str:
        maker = maker_of(type(self.pass_).__module__)
        whose = "" if maker is None else f" of {maker}"
        where = f"pass '{self.pass_}'{whose} (number {self.number} of the pipeline)"
        return f"in {where}" if self.stage == "pass" else f"in {self.stage}, at {where}"


class BrokenByPassError(Sendable, VerifyException):
    """A pass has made invalid IR out of valid IR: a fault of the pass."""

    def __init__(self, diagnostic: Diagnostic):
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


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
    Runs the passes on `module` in place, as the current `PassContext` wants it. All of them run when `asked_for` one by
    one.

    With `verify_each` the input is verified, and the module after every pass that has changed it. An exception that
    ends the run carries the pass it comes from as `failed_pass`; `core.text.errors.diagnostic_of` says what to show for
    it.
    """
    passes = parse_pipeline(pipeline) if isinstance(pipeline, str) else list(pipeline)
    context = current_context()
    if context is not None:
        instruments = [*context.instruments, *instruments]
        verify_each = verify_each and context.config_value("verify-each")
    steps = planned(passes, asked_for)
    with patient_collector(), _finishing(instruments):
        verified = None
        if verify_each:
            verify_module(module, sources=sources)
            verified = Identities(module)
            for instrument in instruments:
                instrument.after_verify(None, module)
        for instrument in instruments:
            instrument.before_pipeline([step.pass_ for step in steps if step.skipped is None], module)
        _Run(ctx, module, verified, instruments).execute(steps)
        for instrument in instruments:
            instrument.after_pipeline(module)


@contextmanager
def _finishing(instruments: Sequence[Instrument]) -> Iterator[None]:
    """Calls `finish` of all instruments at the end of the block, the last first, whatever happens."""
    with ExitStack() as stack:
        for instrument in instruments:
            stack.callback(instrument.finish)
        yield


class _Run:
    """The passes of one run, one after the other; `_stage` is what the run is at, for errors."""

    def __init__(self, ctx: Context, module: ModuleOp, verified: Identities | None, instruments: Sequence[Instrument]):
        self._ctx, self._module = ctx, module
        self._instruments = instruments
        self._verified = verified
        """The module as the verifier has last seen it. There is none where passes are not verified."""
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
            if (count := counted()) is not None and count.stopped:
                left = f"the limit of applications leaves {count.stopped} as it is"
                message = f"the pipeline ends after pass '{step.pass_}': {left}"
                emit_remark(self._module, message)
                return

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
        count = counted()
        before = None if count is None or not count.by_function else FunctionsBefore(module, count)
        pass_.apply(self._ctx, module)
        if before is not None:
            before.settle(pass_.name)
        for instrument in self._at("after_pass"):
            instrument.after_pass(pass_, index, module)
        if self._verified is not None:
            for instrument in self._at("before_verify"):
                instrument.before_verify(pass_, module)
            self._verify(self._verified)
            for instrument in self._at("after_verify"):
                instrument.after_verify(pass_, module)

    def _at(self, hook: str) -> Iterator[Instrument]:
        for instrument in self._instruments:
            self._stage = f"{hook} of {type(instrument).__name__}"
            yield instrument

    def _verify(self, verified: Identities) -> None:
        self._stage = "verifier"
        if verified.hold():
            return
        try:
            verify_module(self._module)
        except VerifyException as error:
            raise BrokenByPassError(diagnostic_of(error)) from error
        self._verified = Identities(self._module)

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


def run_on_copy(pass_: ModulePass, module: ModuleOp, ctx: Context | None = None) -> ModuleOp:
    """
    The result of a pass on a copy of `module`.

    The pass itself is not subject to the level and the lists of the current context, the parts of a sequence are.
    """
    if not isinstance(module, ModuleOp):
        found: Any = getattr(module, "name", type(module).__name__)
        raise StepwellError(Diagnostic(f"pass '{pass_.name}' is called on {found}, expected builtin.module"))
    if ctx is None:
        ctx = make_context()
    result = clone_op(module)
    run_pipeline(ctx, result, [pass_], asked_for=True)
    return result
