"""One application of one rule."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ...patterns.language.match import Match
from ...patterns.running.driver import Driver


class OneApplication(Driver):
    """Applies one rule once, at `root` (anywhere when there is none)."""

    root: Operation | None = None
    made: tuple[str, ...] = ()
    """Names of the ops that the last application made."""
    done = False

    def _accepts(self, match: Match) -> bool:
        return not self.done and (self.root is None or match.root is self.root)

    def _apply(self, match: Match, *rest: Any, **more: Any) -> None:
        self.done = True
        self.made = tuple(op.name for op in match.new_ops)
        super()._apply(match, *rest, **more)

    def once(self, module: ModuleOp, root: Operation | None) -> bool:
        """Applies the rule. Returns whether it did."""
        self.root, self.done, self.made = root, False, ()
        self.run(module)
        return self.done


__all__ = ["OneApplication"]
