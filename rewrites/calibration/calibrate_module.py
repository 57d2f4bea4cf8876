"""The passes `calibrate-module` and `calibrate-map`: the data of partitioned functions as results of the program."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp
from xdsl.ir import SSAValue

from ...core.codegens import COMPILER
from ...core.messages.locations import copy_location
from ...core.passes.base import StepwellPass
from ...core.roles import CALIBRATION_MAP, DONATED, SIGNATURE
from ...lazy_dataclass import dataclass
from ...patterns.language.functions import functions_of
from .plan import CalibrationPlan, Slice, map_attribute


@dataclass(frozen=True)
class CalibrateModulePass(StepwellPass):
    """
    Makes an entry return the arguments and results of every call of a function with `graph.compiler`.

    The results of the entry become, call by call in program order, the arguments of the call and then its results. The
    entry's own results are gone. So is `graph.compiler` from all functions, which run like any other, whether or not
    there is a code generator for them. A call whose results nobody uses is recorded too. The pass `calibrate-map` says
    where the data of a function are. Run it first, since the map stays on the entry.

    Only the calls in the entry itself are recorded, and a warning names those in functions that it calls. `recursive`
    inlines these functions and records all calls. A second call of a function is an error unless `multi` is `"list"`.

    Before:
        func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
          %s = func.call @g0(%x) : (tensor<4xf32>) -> tensor<4xf32>
          %r = func.call @g1(%s, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          func.return %r : tensor<4xf32>
        }
        func.func private @g0(…) … attributes {graph.compiler = "npu"} { … }
        func.func private @g1(…) … attributes {graph.compiler = "npu"} { … }
    After:
        func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, …) {
          %s = func.call @g0(%x) : (tensor<4xf32>) -> tensor<4xf32>
          %r = func.call @g1(%s, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          func.return %x, %s, %s, %y, %r : tensor<4xf32>, …
        }
        func.func private @g0(…) … { … }
        func.func private @g1(…) … { … }

    Raises `PassFailedException` for control flow in the entry, a repeated call, an argument or result that is no
    tensor, and functions without a body or that call themselves.
    """

    name = "calibrate-module"

    entry: str = "main"
    recursive: bool = False
    multi: str = "error"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        plan = CalibrationPlan(op, self.entry, self.recursive, self.multi, self.name)
        calls = plan.collect()
        return_values(plan.function, [value for call in calls for value in call.recorded])
        self.count("recorded calls", len(calls))
        plan.release()
        for function in functions_of(op):
            function.attributes.pop(COMPILER, None)


def return_values(entry: func.FuncOp, values: list[SSAValue]) -> None:
    """
    Makes `entry`, a function of one block, return `values` and nothing else.

    No argument is donated then: what takes their places is not returned, and who gives data keeps it.
    """
    old = entry.body.block.last_op
    assert old is not None
    new = func.ReturnOp(*values)
    copy_location(old, new)
    entry.body.block.insert_op_before(new, old)
    old.detach()
    old.erase()
    results = [value.type for value in values]
    for place in (entry.properties, entry.attributes):
        for name in ("function_type", SIGNATURE):
            known = place.get(name)
            if isinstance(known, FunctionType):
                place[name] = FunctionType.from_lists(list(known.inputs.data), results)
    entry.properties.pop("res_attrs", None)
    if (known := entry.arg_attrs) is not None:
        kept = [{name: value for name, value in each.data.items() if name != DONATED} for each in known]
        entry.properties["arg_attrs"] = ArrayAttr(map(DictionaryAttr, kept))


@dataclass(frozen=True)
class CalibrateMapPass(StepwellPass):
    """
    Says on an entry where `calibrate-module` puts the data of each function: offset, inputs, outputs.

    The attribute `graph.calibration_map` of the entry has three numbers for every recorded function, in call order.
    They are the number of the first result that is its data, and how many arguments and results follow from there. With
    `multi="list"` a function has a list of these, one per call. `recursive` counts calls in functions that the entry
    calls, as `calibrate-module` does. Both passes take the same options. The entry is otherwise left as it is.

    Before:
        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %s = func.call @g0(%x) : (tensor<4xf32>) -> tensor<4xf32>
          %r = func.call @g1(%s, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          …
    After:
        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes
            {graph.calibration_map = {g0 = array<i64: 0, 1, 1>, g1 = array<i64: 2, 2, 1>}} {
          …

    Raises `PassFailedException` as `calibrate-module` does.
    """

    name = "calibrate-map"

    entry: str = "main"
    recursive: bool = False
    multi: str = "error"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        module = op.clone() if self.recursive else op  # recording through functions inlines them
        plan = CalibrationPlan(module, self.entry, self.recursive, self.multi, self.name, warn=False)
        slices: dict[str, list[Slice]] = {}
        for call in plan.collect():
            slices.setdefault(call.function, []).append(call.slice)
        plan.release()
        for function in functions_of(op):
            if function.sym_name.data == self.entry:
                function.attributes[CALIBRATION_MAP] = map_attribute(slices, self.multi)
