"""What options of the quantiser may be."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from ...core.messages.diagnostics import Diagnostic, StepwellError, did_you_mean
from .fit import Fit
from .half_weights import HALVES

WEIGHTS: Final = ("int8", "int4", "f16", "bf16")
ACTIVATIONS: Final = ("asymmetric", "symmetric")
OBSERVERS: Final = ("min-max", "moving-average", "percentile", "entropy", "mse")


def check_options(options: Fit) -> None:
    """Raises StepwellError for an option whose value is not one of those it may have."""
    check_choice("activations", options.activations, ACTIVATIONS)
    check_choice("observer", options.observer, OBSERVERS)
    percentile: object = options.percentile
    if isinstance(percentile, bool) or not isinstance(percentile, int | float) or not 50 < percentile <= 100:
        message = f"quantize: percentile is {percentile!r}, expected a number above 50, and at most 100"
        raise StepwellError(Diagnostic(message))


ALONE: Final = {"block": 32, "zero_points": False, "compensate": True}
"""Options of weights alone, and what they are when nobody says so."""

OF_BYTES: Final = {
    "observer": "min-max",
    "percentile": 99.99,
    "activations": "asymmetric",
    "equalise": True,
    "bias_correction": True,
}
"""Options of products of bytes, which have ranges of data, with the same."""

DEFAULTS: Final = {**ALONE, **OF_BYTES}


def check_together(weights: str | None, given: Collection[str], observer: str) -> None:
    """Raises StepwellError for an option among `given` that would not do anything."""
    if weights in HALVES:
        check_halves(weights, given)
    for option in DEFAULTS:
        if option not in given:
            continue
        if weights is None and option in ALONE:
            hint = "say what these become: weights='int4'. The weights of products of bytes are symmetric"
            raise StepwellError(Diagnostic(f"quantize: {option} is for weights alone", hint=hint))
        if weights is not None and option in OF_BYTES:
            message = f"quantize: {option} is for products of bytes, and weights are {weights!r}"
            raise StepwellError(Diagnostic(message, hint="activations stay in floats then: leave one of them out"))
        if option == "percentile" and observer != "percentile":
            message = f"quantize: percentile is for the observer 'percentile', and observer is {observer!r}"
            raise StepwellError(Diagnostic(message))


def check_halves(weights: str, given: Collection[str]) -> None:
    """Raises StepwellError for an option among `given` that half floats have no use for."""
    for option in ALONE:
        if option in given:
            message = f"quantize: {option} is for integers, and weights are {weights!r}"
            raise StepwellError(Diagnostic(message, hint="half floats have no scales, and each is the nearest one"))


def check_choice(option: str, found: object, known: tuple[str, ...]) -> None:
    """Raises StepwellError unless `found` is one of `known`."""
    if found not in known:
        message = f"quantize: {option} is {found!r}, expected one of {', '.join(known)}"
        raise StepwellError(Diagnostic(message, hint=did_you_mean(found, known) if isinstance(found, str) else None))
