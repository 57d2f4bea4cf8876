"""
Checks that the verifiers of ops leave out.

Some are about ops of xDSL, without which printing or passes would break. Others need an analysis that stands above the
dialect of the op. They are extensions of kind `"op-check"` named after the op, which `universe.py` and plug-ins list.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final

from xdsl.ir import Operation

from ...lazy_dataclass import dataclass
from ..plugins import registry
from .branches import branch_mismatch, wrong_cases
from .region_checks import REGION_CHECKS
from .role_checks import wrong_arguments
from .symbols import lookup_symbol
from .type_checks import TYPE_CHECKS, wrong_comparison
from .view_checks import VIEW_CHECKS

OP_CHECK: Final = "op-check"
"""The kind of extensions whose loaders return an `OpCheck`. The name of the extension is that of the op."""


@dataclass(frozen=True)
class Finding:
    """What is wrong, with the op to blame: the one that was checked, or one inside it."""

    op: Operation
    message: str
    hint: str | None = None
    notes: tuple[tuple[Operation, str], ...] = ()
    """Other places, and what is to be said about each."""


OpCheck = Callable[[Any], Finding | None]
"""Looks at an op that is valid by itself, as are the ops inside it."""


def missed_by_verifier(op: Operation) -> Finding | None:
    """What is wrong with `op` although `op.verify_()` was content, `None` when nothing is."""
    check = _CHECKS.get(op.name)
    if check is not None:
        message = check(op)
    else:
        message = branch_mismatch(op) if op.successors else None
    if message is not None:
        return Finding(op, message)
    extension = _extensions().get(op.name)
    return None if extension is None else extension()(op)


@cache
def _extensions() -> dict[str, Callable[[], OpCheck]]:
    return {name: cache(load) for name, load in registry().extensions_of(OP_CHECK).items()}


def _predicate_below(limit: int) -> Callable[[Any], str | None]:
    def check(op: Any) -> str | None:
        found = op.predicate.value.data
        if not 0 <= found < limit:
            return f"predicate is {found}, expected 0 to {limit - 1}"
        return wrong_comparison(op)

    return check


def _global_mismatch(op: Any) -> str | None:
    name = op.name_.string_value()
    found = lookup_symbol(op, name)
    if found is None or found.name != "memref.global":
        return f"there is no memref.global @{name}"
    held, result = found.properties.get("type"), op.memref.type
    return None if held == result else f"the result has type {result}, but @{name} holds {held}"


_CHECKS: Final[dict[str, Callable[[Any], str | None]]] = {
    "arith.cmpi": _predicate_below(10),
    "arith.cmpf": _predicate_below(16),
    "llvm.icmp": _predicate_below(10),
    "llvm.fcmp": _predicate_below(16),
    **TYPE_CHECKS,
    "cf.switch": wrong_cases,
    "memref.get_global": _global_mismatch,
    **REGION_CHECKS,
    "func.func": wrong_arguments,
    "tensor_loop.func": wrong_arguments,
    **VIEW_CHECKS,
}
