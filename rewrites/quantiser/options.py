"""What options of the quantiser may be."""

from __future__ import annotations

from typing import Final

from ...core.messages.diagnostics import Diagnostic, StepwellError, did_you_mean
from .fit import Fit

WEIGHTS: Final = ("int8", "int4", "f16", "bf16")
ACTIVATIONS: Final = ("asymmetric", "symmetric")
OBSERVERS: Final = ("min-max", "moving-average", "percentile", "entropy", "mse")


def check_options(options: Fit) -> None:
    """Raises StepwellError for an option whose value is not one of those it may have."""
    check_choice("activations", options.activations, ACTIVATIONS)
    check_choice("observer", options.observer, OBSERVERS)
    if not 50 < options.percentile <= 100:
        message = f"quantize: percentile is {options.percentile}, expected a number above 50, and at most 100"
        raise StepwellError(Diagnostic(message))


def check_choice(option: str, found: str, known: tuple[str, ...]) -> None:
    """Raises StepwellError unless `found` is one of `known`."""
    if found not in known:
        message = f"quantize: {option} is '{found}', expected one of {', '.join(known)}"
        raise StepwellError(Diagnostic(message, hint=did_you_mean(found, known)))
