"""Runs loop functions before and after each step of a schedule, to find the step that changes a result."""

from __future__ import annotations

from typing import Any

from xdsl.dialects import memref
from xdsl.dialects.builtin import BFloat16Type, Float16Type, IndexType, IntegerType, MemRefType, ModuleOp
from xdsl.ir import Attribute, SSAValue

from ...core.ir.walk import ops_of
from ...core.messages.diagnostics import Diagnostic, StepwellError, fail
from ...core.plugins import registry
from ...dialects.schedule import StepOp
from ...dialects.tensor_loop import BlockOp, FuncOp
from .replay import functions_of

MOST_RUNS = 1 << 26
"""Runs of blocks in one function up to which it is run. More would take minutes."""

TOLERANCE = {"f16": 2e-2, "bf16": 1e-1, "f32": 1e-4, "f64": 1e-10}
"""The relative tolerances. Sums that may be regrouped differ in their rounding."""


class Checker:
    """Runs every loop function of a module on random inputs, again after each step, and compares."""

    def __init__(self, module: ModuleOp, seed: int = 0):
        self._module = module
        self._runner = registry().extensions_of("loop-runner")["native"]()
        self._arrays = {function.sym_name.data: _arguments(function, seed) for function in functions_of(module)}
        self._texts = {function.sym_name.data: str(function) for function in functions_of(module)}
        self._expected = {name: self._run(name) for name in self._arrays}

    def _run(self, name: str) -> list[Any]:
        arrays = [array.copy() for array in self._arrays[name]]
        self._runner(self._module, name, arrays)
        return arrays

    def after(self, step: StepOp) -> None:
        """Compares the results of all functions that a step has changed. An error names the step."""
        for function in functions_of(self._module):
            name, text = function.sym_name.data, str(function)
            if self._texts[name] == text:
                continue
            self._texts[name] = text
            found = self._run(name)
            pairs = list(zip(self._expected[name], found, strict=True))
            for position, (before, after) in enumerate(pairs[len(function.inputs) :]):
                reason = difference(before, after, function.outputs[position].type)
                if reason is not None:
                    hint = function.outputs[position].name_hint
                    fail(step, f"this step changes %{hint or position} of @{name}: {reason}")


def difference(before: Any, after: Any, type_: Attribute) -> str | None:
    """Returns where two arrays differ by more than regrouped sums may, or `None` where they do not."""
    import numpy as np

    assert isinstance(type_, MemRefType)
    tolerance = TOLERANCE.get(str(type_.element_type), 0.0)
    left, right = (_widened(each, type_.element_type) for each in (before, after))
    same = np.isclose(left, right, rtol=tolerance, atol=tolerance, equal_nan=True)
    if same.all():
        return None
    first = tuple(int(n) for n in np.argwhere(~same)[0])
    return f"{int((~same).sum())} of {same.size} elements differ, at {list(first)} {left[first]} became {right[first]}"


def _widened(array: Any, element: Attribute) -> Any:
    import numpy as np

    if isinstance(element, BFloat16Type):
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array


def _arguments(function: FuncOp, seed: int) -> list[Any]:
    """Returns small whole numbers for the arguments. Where they choose elements, they lie inside the buffers."""
    import numpy as np

    runs = sum(_runs(op) for op in ops_of(function, BlockOp))
    if runs > MOST_RUNS:
        raise StepwellError(
            Diagnostic(f"@{function.sym_name.data} runs its blocks {runs} times, too many to check: use smaller shapes")
        )
    generator = np.random.default_rng(seed)
    arrays: list[Any] = []
    for argument in (*function.inputs, *function.outputs):
        type_ = argument.type
        if not isinstance(type_, MemRefType) or not type_.has_static_shape():
            raise StepwellError(
                Diagnostic(f"@{function.sym_name.data} takes {type_}: only buffers of known size can be checked")
            )
        numbers = generator.integers(-3, 4, type_.get_shape())
        if _chooses_elements(argument):
            numbers = generator.integers(0, _least_extent(function), type_.get_shape())
        arrays.append(_typed(numbers, type_.element_type))
    return arrays


def _chooses_elements(argument: SSAValue) -> bool:
    """
    Returns whether numbers loaded from `argument` become indices, as in a gather. These must lie inside the buffers.
    """
    pending = [use.operation for use in argument.uses]
    values = [op.res for op in pending if isinstance(op, memref.LoadOp) and op.memref is argument]
    seen = set[SSAValue](values)
    while values:
        value = values.pop()
        if isinstance(value.type, IndexType):
            return True
        if not isinstance(value.type, IntegerType):
            continue
        made = [result for use in value.uses for result in use.operation.results]
        values += [result for result in made if result not in seen]
        seen.update(made)
    return False


def _least_extent(function: FuncOp) -> int:
    """Returns the least extent of the buffers of `function`. Indices below it lie inside all of them."""
    types = [operand.type for op in ops_of(function, memref.LoadOp) for operand in op.operands[:1]]
    extents = [extent for type_ in types if isinstance(type_, MemRefType) for extent in type_.get_shape()]
    return max(1, min((extent for extent in extents if extent > 0), default=1))


def _runs(block: BlockOp) -> int:
    total = 1
    for extent in block.extents:
        total *= extent if isinstance(extent, int) else 1
    return total


def _typed(numbers: Any, element: Attribute) -> Any:
    import numpy as np

    if isinstance(element, IntegerType):
        width = max(8, element.width.data)
        return numbers.astype(f"i{width // 8}") if element.width.data > 1 else (numbers & 1).astype("i1")
    if isinstance(element, IndexType):
        return numbers.astype(np.int64)
    if isinstance(element, BFloat16Type):
        return (numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if isinstance(element, Float16Type):
        return numbers.astype(np.float16)
    return numbers.astype({"f32": np.float32, "f64": np.float64}[str(element)])
