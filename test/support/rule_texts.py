"""Texts of small rules in the normal form."""

from __future__ import annotations

from stepwell.core.text.parsing import make_context

CTX = make_context()
RELU = '%root = pattern.op "graph.relu"(%x)'
KEEP = "pattern.replace %root with %x"
NORM = '%n = pattern.op "graph.batch_norm"(%x, %x, %x, %x, %x)'


def text_of(*lines: str) -> str:
    """One rule about %x; its first line after `pattern.any` is line 3 of the file."""
    return "\n".join(('pattern.rule "r" {', "%x = pattern.any", *lines, "}"))


def making(*lines: str) -> tuple[str, ...]:
    return (RELU, "pattern.rewrite %root {", *lines, "}")


def made(line: str) -> tuple[str, ...]:
    return making(line, "pattern.yield %v")
