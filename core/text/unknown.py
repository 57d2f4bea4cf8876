"""What is said of ops that no dialect defines."""

from __future__ import annotations

from typing import Final

from xdsl.context import Context

from ..messages.diagnostics import closest, did_you_mean
from .aliases import hint_for, names_to_misspell

NO_DIALECT: Final = "--list-dialects lists the dialects, --load-plugin FILE.py adds those of a file"


def unknown_op(ctx: Context, name: str) -> tuple[str, str | None]:
    """The message and the hint for an op name that no dialect of `ctx` defines."""
    dialect_name = name.partition(".")[0]
    dialect_names = set(ctx.registered_dialect_names)
    alias = hint_for(name) if "graph" in dialect_names else None
    if "." in name and dialect_name not in dialect_names:
        message = f"op '{name}' is unknown: there is no dialect '{dialect_name}'"
        return message, alias or did_you_mean(dialect_name, dialect_names) or NO_DIALECT
    dialect = ctx.get_optional_dialect(dialect_name) if "." in name else None
    known = [op.name for op in (ctx.loaded_ops if dialect is None else dialect.operations)]
    if alias is None and dialect_name == "graph":
        near = closest(name, [*known, *(f"graph.{other}" for other in names_to_misspell())])
        alias = hint_for(near) if near is not None and near not in known else None
    return f"op '{name}' is unknown", alias or did_you_mean(name, known)


__all__ = ["NO_DIALECT", "unknown_op"]
