"""The rule files that Stepwell ships, by name."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import Final

from ..patterns.language.rules import Rule
from ..patterns.matching.compiled_rule import keep_compiled
from ..patterns.text.loading import rules_of_valid_text

SHIPPED: Final[dict[str, str]] = {
    "cse": "simplify",
    "simplify": "simplify",
    "simplify_arithmetic": "simplify",
    "logic": "simplify",
    "comparisons": "simplify",
    "choices": "simplify",
    "cancelling": "simplify",
    "signs": "simplify",
    "composites": "simplify",
    "functions": "simplify",
    "ewise_fma": "fusion",
    "matmul_add": "fusion",
    "simplify_inference": "inference",
    "canonicalize_ops": "simplify",
    "fold_scale_axis": "inference",
}
"""The name of each rule file, without `.mlir`, and the theme whose folder holds it."""


@lru_cache(maxsize=32)
def shipped_rules(name: str) -> tuple[Rule, ...]:
    """
    Returns the rules of a shipped file, which the tests verify.

    Raises `KeyError` for a name that is not in `SHIPPED`.
    """
    folder = files("stepwell.rewrites").joinpath(SHIPPED[name])
    text = folder.joinpath(f"{name}.mlir").read_text(encoding="utf-8")
    rules = rules_of_valid_text(text, f"{name}.mlir")
    keep_compiled(rules)
    return rules
