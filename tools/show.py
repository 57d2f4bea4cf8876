"""
`stepwell-show`: a picture of a program on the graph level.

Runs as a console script, as `python tools/show.py`, and in-process through `main`.
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and not __package__:
    from bootstrap import make_package  # pyright: ignore[reportMissingImports, reportImplicitRelativeImport]

    make_package()
    from stepwell.tools.show import main as _main  # pyright: ignore[reportMissingImports]

    sys.exit(_main())

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..analysis.drawing.boxes import Box, Boxes
from ..core.messages.diagnostics import Diagnostic, StepwellError
from ..core.messages.files import reason_of, write_file
from .options.command import ArgumentParser, Sources, program_name, read_module, run_tool
from .options.outputs import refuse_overwriting

# Imports inside functions keep the start of the command fast: drawing and passes are loaded only when needed.

READABLE = 60
"""The most boxes of a picture. In larger programs, chains of ops become one box each."""


EXAMPLES = """
stepwell show m.mlir -o m.svg
stepwell run m.mlir --random 0 --profile-output t.json
stepwell show m.mlir --profile t.json -o m.html
"""


def argument_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = ArgumentParser(
        prog="stepwell-show",
        description="Draws a program on the graph level.",
        examples=EXAMPLES,
    )
    parser.add_shared("file")
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help="write to this .svg or .html file")
    parser.add_argument("--entry", default="main", help="the function to draw (default: main)")
    parser.add_argument(
        "-p",
        "--passes",
        metavar="PIPELINE",
        help="passes to run first (default: none, or graph-optimize with --profile, to show groups as compiled)",
    )
    parser.add_argument("--profile", metavar="FILE.json", help="colour by the times of stepwell-run --profile-output")
    parser.add_argument(
        "--chains",
        choices=("auto", "yes", "no"),
        default="auto",
        help=f"draw chains of ops as one box (default: where there are more than {READABLE} boxes)",
    )
    parser.add_shared("--load-plugin", "--debug")
    return parser


def run(options: argparse.Namespace, sources: Sources) -> int:
    """Does what the command line says, and returns the exit code. Puts the text of the program into `sources`."""
    from ..analysis.drawing.boxes import boxes_of, with_chains
    from ..analysis.drawing.drawing import page, svg
    from ..core.ir.verification import verify_module
    from ..core.passes.pipelines import run_pipeline
    from ..core.passes.progress import PassProgress
    from ..core.text.parsing import make_context

    suffix = Path(options.output).suffix
    if suffix not in (".svg", ".html"):
        raise StepwellError(Diagnostic(f"cannot draw '{options.output}', expected a name that ends in .svg or .html"))
    refuse_overwriting(
        {"the program": options.file, "the file of --profile": options.profile}, {"the output": options.output}
    )
    context = make_context()
    module = read_module(options.file, sources, context)
    verify_module(module, sources=sources)
    profile = None if options.profile is None else read_profile(options.profile)
    passes = options.passes if options.passes is not None else "graph-optimize" if profile is not None else ""
    if passes:
        with PassProgress("passes") as progress:
            run_pipeline(context, module, passes, instruments=[progress])
    boxes = boxes_of(module, options.entry)
    if profile is not None:
        boxes = timed(boxes, profile)
    if options.chains == "yes" or (options.chains == "auto" and len(boxes.boxes) > READABLE):
        boxes = with_chains(boxes)
    title = f"{program_name(options.file)} @{options.entry}"
    write_file(options.output, svg(boxes, title) if suffix == ".svg" else page(boxes, title))
    return 0


def read_profile(path: str) -> Mapping[str, Any]:
    """The profile in a file. Raises StepwellError where there is none."""
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
        for call in found["calls"]:
            if not isinstance(call["kernel"], str) or not isinstance(call["place"], str):
                raise TypeError
            call["microseconds"] = float(call["microseconds"])
        found["microseconds"] = float(found["microseconds"])
    except OSError as error:
        raise StepwellError(Diagnostic(f"cannot read profile '{path}': {reason_of(error)}")) from error
    except (ValueError, KeyError, TypeError) as error:
        raise StepwellError(
            Diagnostic(f"'{path}' is no profile", hint="stepwell-run --profile-output makes one")
        ) from error
    return found


def timed(boxes: Boxes, profile: Mapping[str, Any]) -> Boxes:
    """
    `boxes` with the times of their kernels. A kernel belongs to the boxes that stand at its place in the text; of
    several, to one whose name it has, else to the first that has none yet.
    """
    at: dict[str, list[int]] = {}
    for number, box in enumerate(boxes.boxes):
        if box.place:
            at.setdefault(_place(box.place), []).append(number)
    times: dict[int, float] = {}
    for call in profile["calls"]:
        candidates = at.get(_place(call["place"]), [])
        named = [each for each in candidates if call["kernel"].startswith(boxes.boxes[each].kernels)]
        free = [each for each in named or candidates if each not in times]
        chosen = next(iter(free or named or candidates), None)
        if chosen is not None:
            times[chosen] = times.get(chosen, 0.0) + float(call["microseconds"])
    whole = float(profile["microseconds"])
    return Boxes([_timed(box, times.get(number), whole) for number, box in enumerate(boxes.boxes)], boxes.arrows)


def _timed(box: Box, took: float | None, whole: float) -> Box:
    if took is None:
        return box
    return replace(box, microseconds=took, share=took / whole if whole > 0 else 0.0)


def _place(text: str) -> str:
    """`model.mlir:3:5`, whatever folder the path names."""
    return text.replace("\\", "/").rpartition("/")[2]


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the tool on `argv` (default: the command line); returns the exit code."""
    return run_tool("stepwell-show", argv, lambda words, sources: run(argument_parser().parse_args(words), sources))


if __name__ == "__main__":  # python -m stepwell.tools.…
    sys.exit(main())
