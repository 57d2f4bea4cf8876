"""Pipelines: text to passes, and running them with checks and instruments between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec
from xdsl.utils.arg_spec import parse_pipeline as parse_specs
from xdsl.utils.exceptions import ArgSpecParseError, ShrinkException, VerifyException

from .diagnostics import Diagnostic, StepwellError, did_you_mean
from .errors import diagnostic_of
from .plugins import registry
from .verification import verify_module

DEEPEST_PIPELINE: Final = 32
"""Most levels of named pipelines inside each other; deeper means that one contains itself."""


class Instrument:
    """Watches a run of a pipeline; the methods do nothing until overridden."""

    def before_pipeline(self, passes: Sequence[ModulePass], module: ModuleOp) -> None:
        """`module` has been verified."""

    def before_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        """`index` counts the passes of the run from 0."""

    def after_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        """Called before the result is verified."""

    def after_verify(self, pass_: ModulePass | None, module: ModuleOp) -> None:
        """`pass_` is `None` after the check of the input."""

    def after_pipeline(self, module: ModuleOp) -> None: ...

    def report(self) -> str:
        """What to show once the run has ended, also when it failed; nothing by default."""
        return ""


class PassFailure(NamedTuple):
    """The pass a run ended in; kept on the exception as `failed_pass`."""

    pass_: ModulePass
    number: int
    """Its place in the pipeline, from 1."""


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
        raise StepwellError(
            Diagnostic(f"pass '{name}' cannot be loaded: {type(error).__name__}: {error}")
        ) from error


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
) -> None:
    """
    Runs the passes on `module` in place.

    With `verify_each` the input and the result of every pass are verified. An exception that ends the run carries
    the pass it comes from as `failed_pass`; `core.errors.diagnostic_of` says what to show for it.
    """
    passes = parse_pipeline(pipeline) if isinstance(pipeline, str) else list(pipeline)
    if verify_each:
        verify_module(module, sources=sources)
        for instrument in instruments:
            instrument.after_verify(None, module)
    for instrument in instruments:
        instrument.before_pipeline(passes, module)
    for index, pass_ in enumerate(passes):
        try:
            _run_pass(ctx, module, pass_, index, instruments)
            if verify_each:
                _verify_result(module, pass_, instruments)
        except ShrinkException:
            raise
        except Exception as error:
            error.failed_pass = PassFailure(pass_, index + 1)  # pyright: ignore[reportAttributeAccessIssue]
            raise
    for instrument in instruments:
        instrument.after_pipeline(module)


def _run_pass(
    ctx: Context, module: ModuleOp, pass_: ModulePass, index: int, instruments: Sequence[Instrument]
) -> None:
    for instrument in instruments:
        instrument.before_pass(pass_, index, module)
    pass_.apply(ctx, module)
    for instrument in instruments:
        instrument.after_pass(pass_, index, module)


class BrokenByPassError(VerifyException):
    """A pass has made invalid IR out of valid IR: a fault of the pass."""

    def __init__(self, diagnostic: Diagnostic):
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def _verify_result(module: ModuleOp, pass_: ModulePass, instruments: Sequence[Instrument]) -> None:
    try:
        verify_module(module)
    except VerifyException as error:
        raise BrokenByPassError(diagnostic_of(error)) from error
    for instrument in instruments:
        instrument.after_verify(pass_, module)
