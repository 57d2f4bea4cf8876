"""Compiles the scf level with our own lowering and runs it through llvmlite; for tests only."""

from __future__ import annotations

import ctypes
from typing import Any

import llvmlite.binding as binding
import numpy as np
from stepwell.core.ir.verification import verify_module
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.lowering.llvm.lower_to_llvm_dialect import LowerToLLVMDialectPass
from stepwell.lowering.llvm_text.emit_llvm_text import emit_llvm_text
from xdsl.dialects.builtin import ModuleOp


def target_machine() -> binding.TargetMachine:
    """A new one each time: the execution engine owns and frees the one it is given."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    target = binding.Target.from_default_triple()
    return target.create_target_machine(
        cpu=binding.get_host_cpu_name(), features=binding.get_host_cpu_features().flatten(), opt=2, jit=True
    )


def lower(source: str) -> ModuleOp:
    """The llvm stair of a program, verified and equal to its own text parsed again."""
    context = make_context()
    module = parse_text(context, source, "test.mlir")
    LowerToLLVMDialectPass().apply(context, module)
    verify_module(module)
    text = str(module)
    again = parse_text(context, text)
    verify_module(again)
    assert str(again) == text
    return module


class Program:
    """Native code of a program; `call` takes arrays (by pointer) and ctypes values."""

    def __init__(self, source: str, opt: int = 2):
        self.module = lower(source)
        self.text = emit_llvm_text(self.module)
        machine = target_machine()
        parsed = binding.parse_assembly(self.text)
        parsed.verify()
        if opt:
            builder = binding.create_pass_builder(machine, binding.create_pipeline_tuning_options(speed_level=opt))
            builder.getModulePassManager().run(parsed, builder)
        self.engine = binding.create_mcjit_compiler(parsed, machine)
        self.engine.finalize_object()

    def call(self, name: str, *arguments: Any, result: Any = None) -> Any:
        address = self.engine.get_function_address(name)
        assert address, f"no symbol {name}"
        values = [a.ctypes.data_as(ctypes.c_void_p) if isinstance(a, np.ndarray) else a for a in arguments]
        function = ctypes.CFUNCTYPE(result, *(type(v) for v in values))(address)
        return function(*values)

    def entry(self, name: str, *arrays: np.ndarray) -> int:
        """Calls the entry wrapper of @name; the status it returns."""
        pointers = (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))
        pointer = ctypes.cast(pointers, ctypes.c_void_p)
        return self.call(f"_stepwell_entry_{name}", pointer, result=ctypes.c_int32)


def aligned(array: np.ndarray) -> np.ndarray:
    """A copy of `array` at an address that is a multiple of 64."""
    raw = np.empty(array.nbytes + 64, np.uint8)
    start = -raw.ctypes.data % 64
    result = raw[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    result[...] = array
    return result


def map_kernel(body: str, inputs: list[str], output: str, count: int) -> str:
    """`@f`: `body` (which defines %r from %x0, %x1, ...) on every element of `count`-element buffers."""
    arguments = ", ".join(f"%b{k}: memref<{count}x{t}>" for k, t in enumerate([*inputs, output]))
    loads = "\n".join(f"%x{k} = memref.load %b{k}[%i] : memref<{count}x{t}>" for k, t in enumerate(inputs))
    return f"""
    func.func @f({arguments}) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant {count} : index
      scf.for %i = %c0 to %n step %c1 {{
        {loads}
        {body}
        memref.store %r, %b{len(inputs)}[%i] : memref<{count}x{output}>
      }}
      func.return
    }}"""


def run_map(body: str, inputs: list[tuple[str, np.ndarray]], output: tuple[str, Any], opt: int = 2) -> np.ndarray:
    """Runs `map_kernel` and returns the output array."""
    count = len(inputs[0][1])
    program = Program(map_kernel(body, [t for t, _ in inputs], output[0], count), opt)
    result = np.zeros(count, output[1])
    program.call("f", *(array for _, array in inputs), result)
    return result
