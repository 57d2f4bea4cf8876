"""Findings about the shipped rules that are right as they are, with their reasons."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from pathlib import Path

from ...core.messages.diagnostics import Diagnostic, StepwellError
from ...lazy_dataclass import dataclass
from .findings import Finding
from .joining import AGREE


@dataclass(frozen=True)
class Known:
    """Pairs of rules, one of `rules` and one of `others`, whose findings of `kind` have a reason."""

    kind: str
    rules: tuple[str, ...]
    others: tuple[str, ...]
    reason: str

    def covers(self, finding: Finding) -> bool:
        """Returns whether the finding is one of these. A pair whose values differ never is."""
        if finding.kind != self.kind or len(finding.about) != 2 or not finding.message.endswith(AGREE):
            return False
        first, second = (each.name for each in finding.about)
        return any(
            one in self.rules and ("*" in self.others or other in self.others)
            for one, other in ((first, second), (second, first))
        )


def known_findings(path: Path | None = None) -> list[Known]:
    """Returns the entries of `known.toml`, or of another file. Raises `StepwellError` for one without a reason."""
    source = files(__name__.rpartition(".")[0]).joinpath("known.toml") if path is None else path
    found: list[Known] = []
    for entry in tomllib.loads(source.read_text(encoding="utf-8")).get("known", []):
        if not entry.get("reason", "").strip() or not all(entry.get(name) for name in ("kind", "rules", "with")):
            raise StepwellError(Diagnostic(f"{source}: an entry needs kind, rules, with and a reason, found {entry}"))
        found.append(Known(entry["kind"], tuple(entry["rules"]), tuple(entry["with"]), entry["reason"]))
    return found


__all__ = ["Known", "known_findings"]
