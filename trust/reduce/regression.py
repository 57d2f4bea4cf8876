"""A reduced program as a test: the text of a file for lit that fails as long as the fault is there."""

from __future__ import annotations

import re

from .predicates import Command, Crash, Message, Predicate, Wrong


def text_of_test(predicate: Predicate, text: str, wanted: str) -> str:
    """
    Returns a test for FileCheck around a reduced program.

    A test of a wrong result or of a crash passes once the fault is gone. A test of a message passes while it is there.
    """
    return "\n".join([*_lines(predicate, text, wanted), text])


def _lines(predicate: Predicate, text: str, wanted: str) -> list[str]:
    names = re.findall(r"^ *(?:\w+\.)?func(?:\.func)? (?:private |internal )?@([\w$.-]+)", text, re.MULTILINE)
    there = [f"// CHECK: @{names[0]}"] if names else []
    match predicate:
        case Wrong(pipeline=pipeline) if wanted.startswith("wrong"):
            return [
                f"// RUN: stepwell-opt %s -p '{pipeline}' --check-semantics | filecheck %s",
                "",
                "/// The results are those that the reference interpreter gives.",
                *there,
            ]
        case Crash(pipeline=pipeline) | Wrong(pipeline=pipeline):
            return [f"// RUN: stepwell-opt %s -p '{pipeline}' | filecheck %s", "", f"/// It was: {wanted}.", *there]
        case Message(pipeline=pipeline, text=message):
            quoted = message.replace("{{", "{{\\{\\{}}").splitlines()
            run = f"// RUN: not stepwell-opt %s -p '{pipeline}' 2>&1 | filecheck %s"
            return [run, "", *(f"// CHECK: {line}" for line in quoted)]
        case Command(text=command):
            line = command.replace("{}", "%s") if "{}" in command else f"{command} %s"
            return [f"// RUN: not sh -c {_single(line)}", "", "/// The command succeeds while the fault is there."]
        case _:
            return [f"/// {predicate}"]


def _single(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
