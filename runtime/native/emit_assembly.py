"""`-t asm`: machine code as text, for this machine or a named one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target as OutputTarget

from ..core.diagnostics import Diagnostic, StepwellError
from ..lowering.emit_llvm_text import emit_llvm_text
from ..schedule.targets import chosen_target
from ..schedule.wide_registers import WIDE


@dataclass(frozen=True)
class AssemblyTarget(OutputTarget):
    """
    `-t asm`: a module of the llvm dialect as assembly. `machine` is one of docs/targets.md, that of the pass context when
    left out; `-t 'asm{machine="aarch64-neon"}'` makes code for another machine than ours. Raises where the module was lowered for AVX-512
    and that machine has none.
    """

    name = "asm"

    machine: str | None = None
    speed_level: int = 2

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        from .jit import AVX512, Target, assembly, host_target, load_all_machines

        machine = chosen_target(self.machine)
        text = emit_llvm_text(module)
        if AVX512 in text and machine.register_bytes < WIDE:
            message = f"the module has instructions of AVX-512, which {machine.name} does not have"
            hint = f"run the passes for that machine: --config target={machine.name}"
            raise StepwellError(Diagnostic(message, hint=hint))
        if machine.name == "host":
            found = host_target()
        else:
            load_all_machines()
            found = Target(machine.triple, machine.cpu, machine.llvm_features)
        output.write(assembly(text, found, self.speed_level))
