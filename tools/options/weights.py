"""The flags of `stepwell-opt` about weights: where they are kept and how they are printed."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute
from xdsl.passes import ModulePass

from ...core.messages.locations import source_directory
from ...core.roles import WEIGHTS
from .outputs import NO_FILES

# Imports inside functions keep the start of the command fast: passes and dialects are loaded only when needed.


def add_weight_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the flags. What they do happens after the pipeline of `-p`."""
    group = parser.add_argument_group("weights")
    group.add_argument(
        "--externalize-weights", metavar="FILE", help="move large constants to a safetensors file after the passes"
    )
    group.add_argument("--verify-weights", action="store_true", help="check the weights file and its hash first")
    group.add_argument("--inline-weights", action="store_true", help="print the weights of the side-car as constants")
    group.add_argument(
        "--elide-weights",
        metavar="N",
        nargs="?",
        type=int,
        const=16,
        help="print constants of more than N elements (16) as dense<__elided__>, which cannot be read back",
    )


def weights_of(module: ModuleOp) -> str | None:
    """Returns the path of the weights file that a program names, or `None`."""
    if not isinstance(module.attributes.get(WEIGHTS), StringAttr):
        return None
    from ...rewrites.constants.externalize_weights import side_car

    path = side_car(module)
    return None if path is None else str(path)


def passes_before(args: argparse.Namespace) -> list[ModulePass]:
    """The passes that the flags add in front of the pipeline."""
    if not args.verify_weights:
        return []
    from ...rewrites.constants.externalize_weights import VerifyWeightsPass

    return [VerifyWeightsPass()]


def passes_after(args: argparse.Namespace) -> list[ModulePass]:
    """The passes that the flags add behind the pipeline."""
    passes: list[ModulePass] = []
    if args.externalize_weights is None and not args.inline_weights:
        return passes
    from ...rewrites.constants.externalize_weights import ExternalizeWeightsPass, InlineWeightsPass

    if args.inline_weights:
        passes.append(InlineWeightsPass())
    if args.externalize_weights is not None:
        passes.append(ExternalizeWeightsPass(file=args.externalize_weights))
    return passes


@contextmanager
def named_for(output: str | None, module: ModuleOp, as_read: Attribute | None, moved_to: str | None) -> Iterator[None]:
    """
    Makes the program name its weights file as seen from `output`, inside the block.

    A program names that file relative to the folder that it was read from. Standard output has no folder: a name that
    is `as_read` stays, and that of a file which a pass has written is the one given to the pass. An absolute name
    stays, unless it is what `--externalize-weights` says (`moved_to`) and lies in the folder of the output.
    """
    before = module.attributes.get(WEIGHTS)
    is_printed = output in NO_FILES
    if not isinstance(before, StringAttr) or (is_printed and before == as_read):
        yield
        return
    module.attributes[WEIGHTS] = StringAttr(_named_for(None if is_printed else output, module, before.data, moved_to))
    try:
        yield
    finally:
        module.attributes[WEIGHTS] = before


def _named_for(output: str | None, module: ModuleOp, name: str, moved_to: str | None) -> str:
    from ...rewrites.constants.externalize_weights import recorded_path

    if Path(name).is_absolute():
        return recorded_path(name, output) if name == moved_to else name
    read_from = (source_directory(module) or Path()).resolve()
    goes_to = Path.cwd() if output is None else Path(output).resolve().parent
    return name if read_from == goes_to else os.path.relpath(read_from / name, goes_to)


def weight_printing(args: argparse.Namespace) -> AbstractContextManager[None]:
    """Makes modules print as the flags say, inside the block."""
    if args.elide_weights is None:
        return nullcontext()
    from ...dialects.graph.literals import eliding_constants

    return eliding_constants(args.elide_weights)
