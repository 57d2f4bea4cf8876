"""Shapes of arguments on the command line."""

from __future__ import annotations

from ...core.messages.diagnostics import Diagnostic, StepwellError


def shapes_of(text: str | None) -> tuple[tuple[int, ...], ...] | None:
    """Returns shapes written as `4x784,10`. An empty part is rank 0."""
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    try:
        return tuple(tuple(int(size) for size in part.split("x")) if part else () for part in parts)
    except ValueError:
        raise StepwellError(Diagnostic(f"shapes '{text}' are malformed, expected for instance 4x784,10")) from None
