"""Checks of single ops of xDSL that their own verifiers leave out, and without which printing or passes would break."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from xdsl.ir import Operation

from .branches import branch_mismatch
from .cast_checks import CAST_CHECKS
from .region_checks import REGION_CHECKS
from .sizes import wrong_dims
from .symbols import lookup_symbol
from .view_checks import VIEW_CHECKS


def missed_by_verifier(op: Operation) -> str | None:
    """What is wrong with `op` although `op.verify_()` was content, `None` when nothing is."""
    check = _CHECKS.get(op.name)
    if check is not None:
        return check(op)
    return branch_mismatch(op) if op.successors else None


def _predicate_below(limit: int) -> Callable[[Any], str | None]:
    def check(op: Any) -> str | None:
        found = op.predicate.value.data
        return None if 0 <= found < limit else f"predicate is {found}, expected 0 to {limit - 1}"

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
    **CAST_CHECKS,
    "memref.get_global": _global_mismatch,
    **REGION_CHECKS,
    "func.func": wrong_dims,
    "tensor_loop.func": wrong_dims,
    **VIEW_CHECKS,
}
