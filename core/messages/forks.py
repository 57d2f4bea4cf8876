"""
Locks that a forked child finds free: the thread that held one in the parent does not live on there, and would never let
it go.
"""

from __future__ import annotations

import os
from itertools import count
from threading import Lock
from typing import Any
from weakref import ref

_owners: dict[int, tuple[ref[Any], str]] = {}
_numbers = count()


def free_in_children(owner: Any, name: str) -> None:
    """
    Has every child that is forked from now on begin with a new lock as attribute `name` of `owner`, an object or a
    module.

    For locks that guard a few assignments, any of which a child can do without.
    """
    number = next(_numbers)
    _owners[number] = ref(owner, lambda _: _owners.pop(number, None)), name


def _renew() -> None:
    for found, name in list(_owners.values()):
        if (owner := found()) is not None:
            setattr(owner, name, Lock())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
