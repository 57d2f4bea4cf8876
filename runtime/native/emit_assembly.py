"""`-t asm`: machine code as text, for this machine or a named one."""

from __future__ import annotations

from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target as OutputTarget

from ...core.messages.diagnostics import Diagnostic, StepwellError
from ...lazy_dataclass import dataclass
from ...lowering.llvm_text.emit_llvm_text import emit_llvm_text
from ...lowering.llvm_text.pieces import emit_llvm_function
from ...machine.intrinsics import lacking_feature
from ...machine.named import chosen_machine


@dataclass(frozen=True)
class AssemblyTarget(OutputTarget):
    """
    `-t asm`: a module of the llvm dialect as assembly.

    `machine` is one of docs/targets.md, that of the pass context when left out. So `-t 'asm{machine="aarch64-neon"}'`
    makes code for another machine than ours. `kernel` is the function to print, with those that it calls. It is
    compiled by itself, as large kernels are. Raises StepwellError where the module has instructions that this machine
    has not, or no such function.
    """

    name = "asm"

    machine: str | None = None
    speed_level: int = 2
    kernel: str | None = None

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        # This import is here, since LLVM takes long to load and most runs of the tool need no assembly.
        from .jit import assembly
        from .targets import code_target

        machine = chosen_machine(self.machine)
        text = emit_llvm_text(module) if self.kernel is None else emit_llvm_function(module, self.kernel)
        target = code_target(machine.name)
        if lacking := lacking_feature(text, target):
            message = f"the module has instructions of {lacking}, which {machine.name} does not have"
            hint = f"run the passes for that machine: --config target={machine.name}"
            raise StepwellError(Diagnostic(message, hint=hint))
        output.write(assembly(text, target, self.speed_level))
