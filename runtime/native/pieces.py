"""Compiles the pieces of a program at the same time, and keeps the machine code of each in the compile cache."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

from ...machine.code_target import CodeTarget
from ..cache import PIECES
from .jit import compile_object, kept_object
from .objects import archive
from .threads import usable_cpus


def compile_pieces(texts: Iterable[str], target: CodeTarget, use_cache: bool = True) -> bytes:
    """
    Returns the machine code of a program whose LLVM text is in pieces, the last of which has the entries.

    A piece is compiled while the next ones are still made, on all CPUs. What a program becomes does not depend on their
    number. Raises the errors of `compile_object`.
    """
    pieces = iter(texts)
    first, second = next(pieces), next(pieces, None)
    if second is None:
        return compile_object(first, target)
    with ThreadPoolExecutor(usable_cpus()) as pool:
        try:
            waiting = [pool.submit(_piece, text, target, use_cache) for text in chain((first, second), pieces)]
            return archive([each.result() for each in waiting])
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _piece(text: str, target: CodeTarget, use_cache: bool) -> bytes:
    return kept_object(text, use_cache, PIECES, target=target)
