"""Attributes that stand for anything in a rule of two functions, and what they are called."""

from __future__ import annotations

from xdsl.dialects.builtin import DictionaryAttr, StringAttr
from xdsl.ir import Operation

from ...core.messages.diagnostics import OperationError
from ...core.roles import PATTERN_ATTRIBUTES


def named_attributes(op: Operation) -> dict[str, str]:
    """Returns the attributes of `op` that stand for anything, and what they are called."""
    given = op.attributes.get(PATTERN_ATTRIBUTES)
    if given is None:
        return {}
    named = dict(given.data) if isinstance(given, DictionaryAttr) else {}
    if not named or not all(isinstance(each, StringAttr) for each in named.values()):
        message = f'{PATTERN_ATTRIBUTES} is {given}, expected names by attribute, as in {{axis = "a"}}'
        raise OperationError(op, message)
    return {name: each.data for name, each in named.items() if isinstance(each, StringAttr)}
