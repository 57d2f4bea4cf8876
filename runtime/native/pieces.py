"""Compiles the pieces of a program at the same time, and keeps the machine code of each in the compile cache."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from itertools import chain

from ...core.roles import RUN_PARALLEL
from ...machine.code_target import CodeTarget
from ..cache import PIECES
from .jit import compile_object, host_code_target, kept_object, make_ahead
from .objects import archive
from .taking_turns import short_turns
from .threads import texts_of_runner, usable_cpus


class PieceCompiler:
    """
    Compiles pieces of a program on all CPUs, inside `with`. What they become does not depend on the number of CPUs.

    Pieces that are not done at the end of the block are given up. One CPU is left to the thread that lowers the
    program. It compiles too once it is done.
    """

    def __init__(self, target: CodeTarget, use_cache: bool = True):
        self._target, self._use_cache = target, use_cache
        self._pool = ThreadPoolExecutor(max(1, usable_cpus() - 1))
        self._scope = ExitStack()
        self._started: dict[str, Future[bytes]] = {}

    def make_ahead(self, *texts: str) -> None:
        """Begins to compile what calls the program, which is wanted once the program is there."""
        for text in texts:
            make_ahead(text, self._use_cache, self._pool)

    def _look_at(self, text: str) -> None:
        """Begins to compile the pool of threads where a piece has parallel loops, for this machine."""
        if RUN_PARALLEL in text and self._target == host_code_target():
            self.make_ahead(*texts_of_runner())

    def start(self, text: str) -> Future[bytes]:
        """Begins to compile a piece, if nobody has."""
        if text not in self._started:
            self._look_at(text)
            self._started[text] = self._pool.submit(self._piece, text)
        return self._started[text]

    def code(self, texts: Iterable[str]) -> bytes:
        """
        Returns the machine code of a program whose LLVM text is in pieces, the last of which has the entries.

        A piece is compiled while the next ones are still made. Raises the errors of `compile_object`.
        """
        pieces = iter(texts)
        first, second = next(pieces), next(pieces, None)
        if second is None:
            self._look_at(first)
            return compile_object(first, self._target)
        waiting = [(text, self.start(text)) for text in chain((first, second), pieces)]
        own = {text: self._piece(text) for text, piece in reversed(waiting) if piece.cancel()}
        return archive([own[text] if text in own else piece.result() for text, piece in waiting])

    def _piece(self, text: str) -> bytes:
        return kept_object(text, self._use_cache, PIECES, target=self._target)

    def __enter__(self) -> PieceCompiler:
        self._scope.enter_context(short_turns())
        return self

    def __exit__(self, *_: object) -> None:
        self._scope.close()
        self._pool.shutdown(cancel_futures=True)
