"""Makes machine code of a module of the llvm dialect. A program from the compile cache does not load this file."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager, nullcontext

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp, StringAttr

from ..core.messages.diagnostics import fail
from ..core.roles import LINK_NAME, RUN_PARALLEL
from ..lowering.llvm.listening import listening
from ..lowering.llvm_text.pieces import EarlyPieces, emit_llvm_pieces
from ..machine.code_target import CodeTarget, uses_tile_registers
from .native.jit import is_in_process
from .native.pieces import PieceCompiler
from .native.targets import check_runs_here
from .program.fastcall import CALLING_TEXT


class MachineCode:
    """
    Makes the machine code of one program, for the machine called `target`, inside `with`.

    While the program is lowered inside of `watching`, its kernels are compiled as soon as they are converted. With
    `drops` they are stubs after that, so nobody else may look at the program.
    """

    def __init__(self, target: str, code_target: CodeTarget, use_cache: bool, *, drops: bool = False):
        self._target = target
        self._compiler = PieceCompiler(code_target, use_cache)
        self._early = EarlyPieces(self._compiler.start, drops=drops)
        self.names: dict[str, str] = {}
        """What the program calls the functions of its pieces, by symbol, once `of` has made them."""

    def watching(self) -> AbstractContextManager[None]:
        """Returns the scope to lower the program in."""
        return listening(self._early) if self._target == "host" else nullcontext()

    def of(self, module: ModuleOp, externals: Collection[str]) -> bytes:
        """
        Returns the machine code of a module of the llvm dialect that calls `externals`.

        Raises ProcessorError where this process cannot run it, `OperationError` where it calls what is defined nowhere.
        """
        check_that_calls_are_defined(module, externals)
        pieces = emit_llvm_pieces(module, self._early, self.names)
        if self._target != "host":
            pieces = list(pieces)
            check_runs_here(self._target, any(map(uses_tile_registers, pieces)))
        return self._compiler.code(pieces)

    def __enter__(self) -> MachineCode:
        self._compiler.__enter__()
        if self._target == "host":
            self._compiler.make_ahead(CALLING_TEXT)
        return self

    def __exit__(self, *error: object) -> None:
        self._compiler.__exit__(*error)


def check_that_calls_are_defined(module: ModuleOp, externals: Collection[str]) -> None:
    """Raises `OperationError` at a declaration of a function that is not ours, not outside code, not of the process."""
    ours = {RUN_PARALLEL, *externals}
    for op in module.body.ops:
        if isinstance(op, llvm.FuncOp) and not op.body.blocks:
            linked = op.attributes.get(LINK_NAME)
            name = linked.data if isinstance(linked, StringAttr) else op.sym_name.data
            if not (name.startswith("llvm.") or name in ours or is_in_process(name)):
                message = f"function @{name} has no body and is not a function of this process"
                fail(op, message, hint="give it a body, or compile it by a code generator (docs/external.md)")
