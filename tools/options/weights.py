"""The flags of `stepwell-opt` about weights: where they are kept and how they are printed."""

from __future__ import annotations

import argparse
from contextlib import AbstractContextManager, nullcontext

from xdsl.passes import ModulePass

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
    from ...rewrites.constants.externalize_weights import ExternalizeWeightsPass, InlineWeightsPass, recorded_path

    if args.inline_weights:
        passes.append(InlineWeightsPass())
    if args.externalize_weights is not None:
        file = args.externalize_weights
        passes.append(ExternalizeWeightsPass(file=file, record_as=recorded_path(file, args.output_file)))
    return passes


def weight_printing(args: argparse.Namespace) -> AbstractContextManager[None]:
    """Makes modules print as the flags say, inside the block."""
    if args.elide_weights is None:
        return nullcontext()
    from ...dialects.graph.literals import eliding_constants

    return eliding_constants(args.elide_weights)
