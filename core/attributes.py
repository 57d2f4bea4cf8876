"""Attributes made faster than by their constructors, and shared ones."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeVar

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute

AnyAttribute = TypeVar("AnyAttribute", bound=Attribute)


def unchecked(kind: type[AnyAttribute], **fields: Any) -> AnyAttribute:
    """
    Returns an attribute of fields that are right by construction. The constructor verifies each of them, which takes
    ten times as long.
    """
    attribute = kind.__new__(kind)
    vars(attribute).update(fields)
    return attribute


@lru_cache(maxsize=1024)
def shared_string(text: str) -> StringAttr:
    """Returns `text` as an attribute, shared."""
    return StringAttr(text)
