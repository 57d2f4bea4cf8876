"""Pipelines as text: the passes that they name, and the classes of these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec, PipelineLexer, SpecTokenKind
from xdsl.utils.arg_spec import parse_pipeline as parse_specs
from xdsl.utils.exceptions import ArgSpecParseError

from ..messages.diagnostics import Diagnostic, StepwellError, did_you_mean
from ..plugins import registry
from ..text.errors import diagnostic_of, malformed_pipeline
from .options import make_pass

DEEPEST_PIPELINE: Final = 32
"""The most levels of named pipelines inside each other. A deeper one contains itself."""


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
    for spec in specs_of(text):
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


def specs_of(text: str) -> list[ArgSpec]:
    """Returns the passes and named pipelines that a pipeline text names itself. Raises `StepwellError`."""
    # xDSL's grammar knows no white space around commas; a pipeline in a file or a script is easier read with it.
    compact = ",".join(part.strip() for part in _split_outside_quotes(text.strip()))
    try:
        specs = list(parse_specs(compact)) if compact else []
        _reject_repeated(compact)
        return specs
    except ArgSpecParseError as error:
        raise StepwellError(diagnostic_of(error)) from None
    except ValueError as error:
        raise StepwellError(malformed_pipeline(str(error))) from None


def _reject_repeated(text: str) -> None:
    """Raises `StepwellError` for an option that one pass is given twice: xDSL keeps the last value."""
    if "{" not in text:
        return
    lexer, before, pass_ = PipelineLexer(text), SpecTokenKind.COMMA, ""
    given: dict[str, str] | None = None
    while (token := lexer.lex()).kind is not SpecTokenKind.EOF:
        if token.kind is SpecTokenKind.L_BRACE:
            given = {}
        elif token.kind is SpecTokenKind.R_BRACE:
            given = None
        elif given is None:
            pass_ = token.span.text if token.kind is SpecTokenKind.IDENT else pass_
        elif token.kind is SpecTokenKind.IDENT and before in (SpecTokenKind.L_BRACE, SpecTokenKind.SPACE):
            name = token.span.text.replace("_", "-")
            if name in given:
                spelt = "" if given[name] == token.span.text else f", as '{given[name]}' and as '{token.span.text}'"
                message = f"option '{name}' of pass '{pass_}' is given twice{spelt}"
                raise StepwellError(Diagnostic(message, hint="leave one of them out"))
            given[name] = token.span.text
        before = token.kind


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
    """Returns the class of a pass. Raises `StepwellError` with a suggestion when there is none of that name."""
    found = registry()
    factory = found.passes.get(name)
    if factory is None:
        known = [*found.passes, *found.pipelines]
        hint = did_you_mean(name, known) or "stepwell opt --list-passes lists the passes and the named pipelines"
        raise StepwellError(Diagnostic(f"unknown pass '{name}'", hint=hint))
    try:
        return factory()
    except (Exception, SystemExit) as error:
        raise StepwellError(Diagnostic(f"pass '{name}' cannot be loaded: {type(error).__name__}: {error}")) from error


def require_passes(names: Sequence[str]) -> None:
    """Raises `StepwellError` for a name that is no pass. Flags that name passes use it."""
    passes, pipelines = registry().passes, registry().pipelines
    for name in names:
        if name not in passes and name in pipelines:
            hint = f"name one of its passes: --show-pipeline {name} lists them"
            raise StepwellError(Diagnostic(f"'{name}' is a named pipeline, expected a pass", hint=hint))
        if name not in passes:
            raise StepwellError(Diagnostic(f"unknown pass '{name}'", hint=did_you_mean(name, passes)))


def parse_pipeline(text: str, pipelines: Mapping[str, str] | None = None) -> list[ModulePass]:
    """The passes of a pipeline text, with their options checked."""
    return [make_pass(load_pass(spec.name), spec) for spec in expand_pipeline(text, pipelines)]
