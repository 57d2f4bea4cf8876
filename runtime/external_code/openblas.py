"""
The code generator `openblas`: matrix products by `cblas_sgemm` and `cblas_dgemm` of the wheel scipy-openblas32.

It takes private functions whose ops are `graph.matmul` of f32 or f64, with a matrix on the right, and `graph.add` of an
addend that does not stretch a product. Composite functions of such ops count as these. It makes LLVM text that calls
the library, so no Python runs when the program does. The library runs on one thread, or on `STEPWELL_THREADS`.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from importlib.util import find_spec
from math import prod
from pathlib import Path

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation, SSAValue

from ...core.codegens import Codegen, CodegenContext, NativeCode
from ...lazy_dataclass import dataclass
from ...lowering.shared.te_types import dtype_of
from ...rewrites.fusion.inline_primitive import inline_call
from .openblas_text import GemmText

PACKAGE = "scipy_openblas32"
PREFIX = "scipy_"
"""The prefix of every symbol of the library of the wheel."""

ROUTINES = {"f32": "cblas_sgemm", "f64": "cblas_dgemm"}
LARGEST = 2**31 - 1
"""The largest size, since sizes are of type `int` in this build of the library."""


@dataclass(frozen=True)
class Product:
    """A product `result = lhs @ rhs + addend`. `lhs` may be a stack of matrices."""

    lhs: SSAValue
    rhs: SSAValue
    addend: SSAValue | None
    result: SSAValue


@dataclass(frozen=True)
class Plan:
    """What a function does: the values it takes and gives, and the products in order."""

    inputs: tuple[SSAValue, ...]
    outputs: tuple[SSAValue, ...]
    products: tuple[Product, ...]


def unavailable() -> str | None:
    """Returns why the library cannot be used, or `None` when it can."""
    if library_file() is None:
        return "package scipy-openblas32 is not installed: pip install scipy-openblas32"
    return None


def library_file() -> Path | None:
    """Returns the shared library of the wheel, or `None` when it is not installed."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    for folder in spec.submodule_search_locations:
        for file in sorted(Path(folder, "lib").glob("libscipy_openblas*")):
            if file.suffix in (".so", ".dylib", ".dll"):
                return file
    return None


@cache
def _library(file: Path) -> ctypes.CDLL:
    library = ctypes.CDLL(str(file))
    threads = os.environ.get("STEPWELL_THREADS", "1")
    # The threads of the library wait by spinning. On a busy machine two of them can take a hundred times as long as
    # one.
    getattr(library, f"{PREFIX}openblas_set_num_threads")(int(threads) if threads.isdecimal() else 1)
    return library


def address(routine: str) -> tuple[int, ctypes.CDLL]:
    """Returns the address of a routine of the library, and the library, to be kept."""
    file = library_file()
    if file is None:
        raise RuntimeError(unavailable())
    library = _library(file)
    found = ctypes.cast(getattr(library, f"{PREFIX}{routine}"), ctypes.c_void_p).value
    assert found is not None
    return found, library


def supports(function: func.FuncOp) -> bool | str:
    """Returns `True` for a function of products and their addends, and why not for another one."""
    plan = plan_of(function)
    return plan if isinstance(plan, str) else True


def plan_of(function: func.FuncOp) -> Plan | str:
    """Returns the products that a function computes, or why it is not one of products alone."""
    block = _flat(function).body.block
    ops, absorbed, known = list(block.ops), set[Operation](), set[SSAValue](block.args)
    products: list[Product] = []
    for op in ops:
        if op in absorbed or isinstance(op, func.ReturnOp):
            continue
        if op.name != "graph.matmul":
            return f"'{op.name}' is not a product, nor the addend of one"
        reason = _unsuited(op)
        if reason is not None:
            return reason
        addition = _addition_of(op, known)
        if addition is None:
            products.append(Product(op.operands[0], op.operands[1], None, op.results[0]))
        else:
            sum_, addend = addition
            absorbed.add(sum_)
            products.append(Product(op.operands[0], op.operands[1], addend, sum_.results[0]))
        known.add(products[-1].result)
    outputs = tuple(ops[-1].operands)
    if not products or len(set(outputs)) < len(outputs):
        return "it returns a value twice or computes nothing"
    if any(value in block.args for value in outputs):
        return "it returns an argument"
    return Plan(tuple(block.args), outputs, tuple(products))


def _flat(function: func.FuncOp) -> func.FuncOp:
    """Returns a copy of the function with the bodies of what it calls in it."""
    module = function.parent_op()
    named: dict[str, func.FuncOp] = {}
    if isinstance(module, ModuleOp):
        named = {op.sym_name.data: op for op in module.body.ops if isinstance(op, func.FuncOp)}
    copy = function.clone()
    calls = [op for op in copy.walk() if isinstance(op, func.CallOp)]
    while calls:
        call = calls.pop()
        callee = named.get(call.callee.string_value())
        if callee is not None and len(callee.body.blocks) == 1 and callee is not function:
            calls += [op for op in inline_call(call, callee) if isinstance(op, func.CallOp)]
    return copy


def _shape(value: SSAValue) -> tuple[int, ...]:
    assert isinstance(value.type, TensorType)
    return value.type.get_shape()


def _dtype(value: SSAValue) -> str:
    assert isinstance(value.type, TensorType)
    return dtype_of(value.type.get_element_type())


def _unsuited(op: Operation) -> str | None:
    """Returns why a `graph.matmul` is not one call of the library, or `None` when it is."""
    lhs, rhs, result = *op.operands, op.results[0]
    if len({_dtype(lhs), _dtype(rhs), _dtype(result)}) > 1 or _dtype(result) not in ROUTINES:
        return f"'{op.name}' is of {_dtype(lhs)} and gives {_dtype(result)}, expected f32 or f64 throughout"
    if len(_shape(rhs)) != 2 or len(_shape(lhs)) < 2:
        return f"'{op.name}' is of {lhs.type} and {rhs.type}, expected a matrix on the right"
    if min(*_shape(lhs), *_shape(rhs)) < 0:
        return f"'{op.name}' has sizes that are not known"
    if max(prod(_shape(lhs)[:-1]), *_shape(lhs), *_shape(rhs)) > LARGEST:
        return f"'{op.name}' has a size above {LARGEST}"
    return None


def _addition_of(op: Operation, known: set[SSAValue]) -> tuple[Operation, SSAValue] | None:
    """Returns the op that adds something `known` to a product, as its only user, and what it adds."""
    product = op.results[0]
    uses = list(product.uses)
    if len(uses) != 1 or uses[0].operation.name != "graph.add":
        return None
    addition = uses[0].operation
    if addition.results[0].type != product.type:
        return None
    addend = addition.operands[1 - uses[0].index]
    return (addition, addend) if addend in known else None


def generate(function: func.FuncOp, context: CodegenContext) -> NativeCode:
    """Returns LLVM text that computes one product after the other. Those used only inside have their own memory."""
    plan = plan_of(function)
    if isinstance(plan, str):
        raise ValueError(plan)
    text = GemmText(context.symbol, len(plan.inputs), len(plan.outputs))
    names = {value: f"%in{index}" for index, value in enumerate(plan.inputs)}
    names |= {value: f"%out{index}" for index, value in enumerate(plan.outputs)}
    addresses: dict[str, int] = {}
    library: object = None
    for product in plan.products:
        dtype, shape = _dtype(product.result), _shape(product.result)
        if product.result not in names:
            names[product.result] = text.temporary(prod(shape), dtype)
        target = names[product.result]
        if product.addend is not None:
            text.fill(target, shape, names[product.addend], _shape(product.addend), dtype)
        symbol = PREFIX + ROUTINES[dtype]
        addresses[symbol], library = address(ROUTINES[dtype])
        sizes = prod(shape[:-1]), shape[-1], _shape(product.lhs)[-1]
        pointers = names[product.lhs], names[product.rhs], target
        text.gemm(symbol, sizes, pointers, dtype, accumulate=product.addend is not None)
    return NativeCode(text.finish(), addresses, library)


OPENBLAS = Codegen("openblas", generate, available=unavailable, supports=supports)
