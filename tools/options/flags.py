"""The flags that `stepwell-opt` has beyond those of `xdsl-opt`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable


def add_flags(parser: argparse.ArgumentParser, targets: Iterable[str]) -> None:
    """Adds our flags and shortens what xDSL's say."""
    _shorten_help(parser, targets)
    _add_listings(parser)
    _add_choice_of_passes(parser)
    _add_printing(parser)
    group = parser.add_argument_group("checking and reporting")
    group.add_argument(
        "--verify-each",
        nargs="?",
        const=True,
        default=True,
        type=truth,
        metavar="true|false",
        help="verify after every pass (the default); false verifies only the input and the result",
    )
    add_check_bounds(group)
    group.add_argument(
        "--check-schedule",
        action="store_true",
        help=(
            "run each loop function before and after every step of a schedule; "
            "the step that changes a result is an error"
        ),
    )
    add_check_semantics(group)
    group.add_argument(
        "--blame",
        metavar="WHAT",
        help="say from what a line, @function or %%value of the result, or what came of a node, was made",
    )
    group.add_argument(
        "--became",
        metavar="WHAT",
        help="say what became of a line of the program, a @function, a %%value or a node of a model",
    )
    group.add_argument("--kernel", metavar="NAME", help="with -t asm: print the code of this function only")
    group.add_argument("--remarks", action="store_true", help="show what passes did or did not do, and why")
    group.add_argument("--statistics", action="store_true", help="show what each pass counted, on standard error")
    group.add_argument("--debug", action="store_true", help="show the Python traceback of an error")


def add_check_semantics(group: argparse._ActionsContainer) -> None:  # pyright: ignore[reportPrivateUsage]
    """Adds `--check-semantics` and what its programs run on (docs/debugging.md)."""
    group.add_argument(
        "--check-semantics",
        action="store_true",
        help="run the program before and after each pass; the pass that changes a result is an error",
    )
    group.add_argument("--inputs", metavar="IN.npz", help="run it on these arrays, by name, or as arr_0, arr_1 …")
    group.add_argument("--shapes", metavar="4x784,10", help="the shapes of all arguments, where some have sizes ?")
    group.add_argument(
        "--bisect",
        action="store_true",
        help="find the pass, and the first rewrite in it, that make a pass fail or crash or change a result",
    )
    group.add_argument(
        "--bisect-command",
        metavar="COMMAND",
        help="the same for a command that fails, such as 'sh check.sh {}': {} is a file with the program",
    )
    group.add_argument(
        "--rewrite-limit", type=int, metavar="N", help="apply only the first N transformations, in all passes"
    )
    group.add_argument("--save-inputs", metavar="OUT.npz", help="write the inputs of a check that fails to this file")


def add_check_bounds(group: argparse._ActionsContainer) -> None:  # pyright: ignore[reportPrivateUsage]
    """Adds `--check-bounds`, the configuration key `check-bounds` (docs/safety.md)."""
    group.add_argument(
        "--check-bounds",
        type=truth,
        metavar="on|off",
        help="off leaves functions written on memrefs without checks of their accesses (default: on)",
    )


def _shorten_help(parser: argparse.ArgumentParser, targets: Iterable[str]) -> None:
    """xDSL lists a hundred passes in the help of `-p`; `--list-passes` does that better."""
    texts = {
        "input_file": "IR to read; - or nothing is standard input",
        "passes": "pipeline: passes and named pipelines, e.g. 'canonicalize,cse' (--list-passes)",
        "target": f"output format: {', '.join(sorted(targets))}",
        "output_file": "file to write, whole and only on success; - is standard output",
        "verify_diagnostics": "match errors with expected-… comments; without any, print errors and exit with 0",
        "time_passes": "show the time of each pass and of its verification, on standard error",
    }
    for action in parser._actions:
        action.help = texts.get(action.dest, action.help)


def _add_listings(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("listings")
    group.add_argument("--list-passes", action="store_true", help="list passes with their options, and named pipelines")
    group.add_argument("--list-dialects", action="store_true", help="list dialects by package")
    group.add_argument("--list-plugins", action="store_true", help="list installed packages that add to this tool")
    group.add_argument("--explain-op", metavar="NAME", help="show what an op means and takes, e.g. arith.addi")
    group.add_argument("--show-pipeline", metavar="NAME", help="show the passes that a pipeline stands for")


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def _add_choice_of_passes(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("which passes of the pipeline run, and how")
    group.add_argument("--opt-level", metavar="N", type=int, help="leave out passes of a level above N (--list-passes)")
    for flag, effect in (("disable", "leave this pass out"), ("require", "run this pass on any level")):
        group.add_argument(
            f"--{flag}-pass",
            metavar="PASS",
            action="extend",
            type=_names,
            default=[],
            help=f"{effect}; may be given several times",
        )
    group.add_argument(
        "--config",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="set a configuration key, such as PASS.OPTION; may be given several times",
    )
    group.add_argument(
        "--save-pipeline", metavar="FILE", help="record the passes with time, op counts and hashes as JSON"
    )
    group.add_argument("--replay", metavar="FILE", help="run the passes of a record; a hash that differs is an error")
    group.add_argument("--dump-dir", metavar="DIR", help="write the IR before and after every pass to files")
    group.add_argument("--dump-failure", metavar="FILE", help="when a pass fails, write what it was given to a file")


def _add_printing(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("printing between passes, on standard error")
    for when in ("before", "after"):
        group.add_argument(
            f"--print-ir-{when}",
            metavar="PASS",
            action="extend",
            type=_names,
            default=[],
            help=f"print the IR {when} this pass; may be given several times",
        )
        group.add_argument(f"--print-ir-{when}-all", action="store_true", help=f"print the IR {when} every pass")
    group.add_argument("--print-ir-after-change", action="store_true", help="print the IR after passes that changed it")


def truth(text: str) -> bool:
    """`true` or `false`, also as 1, 0, on, off."""
    if text.lower() in ("true", "1", "on"):
        return True
    if text.lower() in ("false", "0", "off"):
        return False
    raise argparse.ArgumentTypeError(f"expected true or false, found '{text}'")
