"""
The one count of all that passes apply: a rule, a constant, a merge, a decision about a schedule, a buffer, a lowering.

Whoever applies something asks `allowed` first. Nobody counts by default, and then all is allowed at the cost of a look
at a variable. With a limit, the first N are allowed, so a search can find the one that breaks a program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from typing import TYPE_CHECKING

from ...lazy_dataclass import dataclass
from ..messages.locations import location_string

if TYPE_CHECKING:
    from xdsl.ir import Operation

Bindings = Callable[[], Mapping[str, str]]
"""Returns what a rule has bound, as text. It is asked of the last application only."""

Watcher = Callable[[str, str, "Operation"], None]
"""Is told the kind, the name and the op of each application before it happens."""


LOWERING = "lowering"
FUNCTION = "function"
"""The kinds of what a later pass needs. The pipeline ends after the pass that is refused one."""

NEEDED = (LOWERING, FUNCTION)


@dataclass(frozen=True)
class Application:
    """
    One thing applied: its kind, its name, its class, and where.

    The kinds are `rule`, `fold`, `fusion`, `loops`, `schedule`, `buffer`, `math`, `lowering` and `function`.
    """

    kind: str
    name: str
    place: str
    numerics: str
    bindings: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return f"{self.kind} '{self.name}' at {self.place}"


Heard = Callable[[int, Application | None], None]
"""Is told of each application: how many there have been, and what it was where it reached the limit."""


@dataclass
class Applications:
    """The count of a run. `last` is the one that reached the limit, `classes` those of all of them."""

    limit: int | None = None
    by_function: bool = True
    """True where the functions that a pass changes count, if it asks about nothing itself."""
    goes_on: bool = False
    """True where what later passes need is always allowed, and does not count. Then no pipeline ends early."""
    count: int = 0
    asked: int = 0
    """The number of questions, whatever the answers were."""
    apart: bool = True
    """False where the limit is among functions that cannot be told apart, so that all of them were left out."""
    last: Application | None = None
    heard: Heard | None = None
    classes: set[str] = field(default_factory=set)
    stopped: str = ""
    """The op whose lowering was refused. What is left is on two levels, so no pass may follow."""
    watch: Watcher | None = None

    def admit(self, kind: str, name: str, op: Operation, numerics: str, bindings: Bindings | None) -> bool:
        """Counts one application. Returns false where the limit has been reached."""
        self.asked += 1
        if self.goes_on and kind in NEEDED:
            return True
        if self.limit is not None and self.count >= self.limit:
            if kind in NEEDED and not self.stopped:
                self.stopped = _place(op)
            return False
        self.count += 1
        self.classes.add(numerics)
        if self.watch is not None:
            self.watch(kind, name, op)
        if self.count == self.limit:
            self.last = _described(kind, name, op, numerics, {} if bindings is None else bindings())
        if self.heard is not None:
            self.heard(self.count, self.last if self.count == self.limit else None)
        return True


def _described(kind: str, name: str, op: Operation, numerics: str, bindings: Mapping[str, str]) -> Application:
    return Application(kind, name, _place(op), numerics, tuple(bindings.items()))


def _place(op: Operation) -> str:
    return f"{location_string(op)} ('{op.name}')"


_current: ContextVar[Applications | None] = ContextVar("stepwell_applications", default=None)


def allowed(kind: str, name: str, op: Operation, numerics: str = "exact", bindings: Bindings | None = None) -> bool:
    """Returns whether something may be applied at `op` now, and counts it."""
    current = _current.get()
    return current is None or current.admit(kind, name, op, numerics, bindings)


def counted() -> Applications | None:
    """Returns the count that goes on here, `None` where nobody counts."""
    return _current.get()


@contextmanager
def counting(
    limit: int | None = None, *, by_function: bool = True, goes_on: bool = False, watch: Watcher | None = None
) -> Iterator[Applications]:
    """
    Counts what is applied inside the block, and tells `watch`. Only the first `limit` are allowed.

    Without `by_function` only those count that passes ask about. With `goes_on` what later passes need does not count.
    """
    own = Applications(limit, by_function and not goes_on, goes_on, watch=watch)
    token = _current.set(own)
    try:
        yield own
    finally:
        _current.reset(token)
