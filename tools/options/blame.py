"""The flags `--blame` and `--became` of `stepwell-opt`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping

from xdsl.dialects.builtin import ModuleOp

from ...trust.blame.history import History
from ...trust.blame.naming import Names
from ...trust.blame.report import became, blame


def report_of_blame(
    args: argparse.Namespace,
    module: ModuleOp,
    sources: Mapping[str, str],
    run: Callable[[ModuleOp, History], None],
    show: Callable[[ModuleOp], str],
) -> str:
    """Returns what the flags ask of `module`, whose passes are run by `run`. `show` prints it in the format of `-t`."""
    history = History()
    source = None if args.became is None else Names(module, history.lineages, "the program", sources).find(args.became)
    run(module, history)
    parts: list[str] = []
    if source is not None:
        is_code = args.target.partition("{")[0] == "asm"
        parts.append(became(history, module, source, show(module) if is_code else ""))
    if args.blame is not None:
        result = Names(module, history.lineages, "the program after the passes").find(args.blame)
        parts.append(blame(history, result))
    return "\n\n".join(parts)
