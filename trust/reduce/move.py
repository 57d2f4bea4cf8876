"""What a move is: one way to shrink a program."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any


class Move(ABC):
    """
    A way to shrink a program, as a list of small edits.

    Edits are made in a copy of the process first and then again in the process itself, so they depend on nothing but
    the program.
    """

    name: str
    one_by_one: bool = False
    """Set where the edits are alternatives, so that it does not help to try many together."""

    grows: bool = False
    """Set where the program may have more ops after an edit."""

    @abstractmethod
    def edits(self, subject: Any) -> list[Any]:
        """Returns the edits that may be made, each alone or together with others."""

    @abstractmethod
    def apply(self, subject: Any, edits: Sequence[Any]) -> None:
        """Makes the edits. Those that earlier ones have made pointless are left out. May raise."""
