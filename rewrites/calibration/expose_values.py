"""The pass `expose-values`: an entry that returns what it computes on the way."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import IndexType, ModuleOp, TensorType
from xdsl.ir import Operation, SSAValue

from ...core.messages.diagnostics import fail
from ...core.passes.base import StepwellPass
from ...lazy_dataclass import dataclass
from ...patterns.language.functions import functions_of
from .calibrate_module import return_values


@dataclass(frozen=True)
class ExposeValuesPass(StepwellPass):
    """
    Makes an entry return every tensor that it computes from its arguments, after its own results, in program order.

    Before:

        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
          %1 = graph.negative %0 : (tensor<4xf32>) -> tensor<4xf32>
          func.return %1 : tensor<4xf32>
        }

    After:

        func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
          %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
          %1 = graph.negative %0 : (tensor<4xf32>) -> tensor<4xf32>
          func.return %1, %0 : tensor<4xf32>, tensor<4xf32>
        }

    Each value is returned once. Values inside regions or other functions are left out, and so are those that depend on
    weights and constants only. After fusion, values inside a group stay inside.
    """

    name = "expose-values"

    entry: str = "main"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        entry = next((each for each in functions_of(op) if each.sym_name.data == self.entry), None)
        if entry is None or len(entry.body.blocks) != 1:
            fail(op, f"there is no func.func @{self.entry} of one block, whose values could be returned")
        returned = list(exposed_values(entry))
        self.count("values exposed", len(returned) - len(entry.function_type.outputs))
        return_values(entry, returned)


def exposed_values(entry: func.FuncOp) -> list[SSAValue]:
    """Returns the values that `entry` is to return: its results, then other tensors that depend on its arguments."""
    block = entry.body.block
    last = block.last_op
    assert last is not None
    values = list(last.operands)
    seen, dependent = set(values), set[SSAValue](block.args)
    for op in block.ops:
        if op is last or not _depends(op, dependent):
            continue
        dependent.update(op.results)
        for result in op.results:
            type_ = result.type
            tensor = isinstance(type_, TensorType) and not isinstance(type_.element_type, IndexType)
            if tensor and result not in seen:
                seen.add(result)
                values.append(result)
    return values


def _depends(op: Operation, dependent: set[SSAValue]) -> bool:
    """Returns whether `op`, or what it holds, uses one of the values."""
    return any(operand in dependent for inner in op.walk() for operand in inner.operands)
