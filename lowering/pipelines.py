"""Named pipelines: a name that `-p` accepts, and the passes or other names that it stands for."""

from __future__ import annotations

PIPELINES: dict[str, str] = {}
