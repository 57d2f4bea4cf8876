"""Weights alone as integers of few bits: what flows between the layers stays in floats."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp

from ...core.messages.diagnostics import fail


def quantize_weights(
    module: ModuleOp, *, entry: str, weights: str, block: int, keep: Sequence[str], keep_kinds: Sequence[str]
) -> int:
    """
    Quantises the weights of the layers of `@entry` to `weights`, "int8" or "int4", in blocks of `block` elements.

    `keep` and `keep_kinds` name layers that stay as they are. Returns the number of layers changed.
    """
    fail(module, f"weights alone cannot be quantised to {weights} yet")
