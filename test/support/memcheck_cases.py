"""Programs for memcheck: random ones, single nodes of the ONNX suite, and one per class of kernel."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import numpy as np
import stepwell
from kernel_classes import KERNELS
from stepwell.core.ir.walk import walk
from stepwell.core.passes.instrument import Instrument
from stepwell.frontends.onnx.errors import OnnxError
from stepwell.schedule.default import decide_loops, parallelize
from stepwell.testing.programs.ir_generators import RandomChooser, batch_text
from stepwell.testing.programs.movement_generators import random_case
from stepwell.testing.programs.program_generators import random_program
from xdsl.dialects import memref
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

Array = np.ndarray[Any, Any]

TARGET = "x86-64-v3"
"""The machine with the widest registers that valgrind knows."""

STRUCTURED = ("contraction", "convolution", "pooling", "normalization", "reduction", "indexing", "sampling", "movement")
"""The families of ops whose kernels are more than one loop over elements."""

SHARING: dict[str, Any] = {"WORTH_SHARING": 0, "ENOUGH": 2, "VECTORS": 4, "grain_of": lambda *_: 1}
"""What the pass that marks parallel loops is told in programs whose loops are shared however small they are."""


@dataclass(frozen=True)
class Case:
    """A program with its inputs and weights. Loops of a `shared` one go to several threads however small they are."""

    name: str
    module: Any
    inputs: Sequence[Array]
    weights: dict[str, Array] = field(default_factory=dict[str, Array])
    shared: bool = False


class Allocations(Instrument):
    """Counts the blocks of the heap in the IR that `bufferize` gave last."""

    count = 0

    def after_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        if pass_.name == "bufferize":
            self.count = sum(isinstance(op, memref.AllocOp) for op in walk(module))


@contextmanager
def compiled_for_memcheck(shared: bool, watch: Instrument) -> Iterator[None]:
    """Inside, temporaries get blocks of the heap of their own, and small loops are shared if `shared`."""
    with ExitStack() as stack:
        for each in _settings(shared, watch):
            stack.enter_context(each)
        yield


def _settings(shared: bool, watch: Instrument) -> list[AbstractContextManager[object]]:
    config: dict[str, object] = {"bufferize.separate": True}
    if not shared:
        return [stepwell.PassContext(3, config=config, instruments=[watch])]
    config["outline-parallel-loops.grain"] = 1
    all_worth = patch.object(decide_loops, "WORTH_SHARING", 1)  # 0 would say that one thread does it.
    return [
        stepwell.PassContext(3, config=config, instruments=[watch]),
        patch.multiple(parallelize, **SHARING),
        all_worth,
    ]


def random_cases(seed: int, count: int) -> Iterator[Case]:
    """
    Programs by seed. Half are chains of ops, half are a few structured ops side by side. Every second one has weights
    in place of its last arguments, and two of three are shared.
    """
    for number in range(count):
        own = seed * 100_003 + number
        if number % 2 == 0:
            program = random_program(own, smooth=number % 4 == 0)
            text, inputs = program.text, program.inputs
        else:
            choose = RandomChooser(own)
            cases = [random_case(choose, choose.element(STRUCTURED)) for _ in range(3)]
            text = batch_text(cases)
            inputs = [array for place, each in enumerate(cases) for array in each.arrays(own + place)]
        if number // 2 % 2:
            text, inputs, weights = with_weights(text, inputs)
        else:
            weights = {}
        yield Case(f"random_{own}", text, inputs, weights, number % 3 != 0)


def with_weights(text: str, inputs: Sequence[Array]) -> tuple[str, list[Array], dict[str, Array]]:
    """Returns a program and its arrays with all arguments but the first as weights."""
    head, _, rest = text.partition(") -> (")
    name, _, arguments = head.partition("(")
    found = re.findall(r"(%\w+): (tensor<[^>]*>)", arguments)
    kept = ", ".join(f"{value}: {type_}" for value, type_ in found[:1])
    results, _, body = rest.partition("{\n")
    lines = [f'  {value} = graph.weight "{value[1:]}" : {type_}\n' for value, type_ in found[1:]]
    weights = {value[1:]: array for (value, _), array in zip(found[1:], inputs[1:], strict=True)}
    return f"{name}({kept}) -> ({results}{{\n{''.join(lines)}{body}", list(inputs[:1]), weights


def node_cases(seed: int, count: int) -> Iterator[Case]:
    """`count` cases of the ONNX node suite that are not refused, in an order by seed."""
    from onnx_node_suite import array_of, case_named, counted_cases, shape_operands

    names = [case.name for case in counted_cases()]
    random.Random(seed).shuffle(names)
    for name in names:
        case = case_named(name)
        given = {
            info.name: array_of(value) for info, value in zip(case.model.graph.input, case.data[0][0], strict=False)
        }
        bound = {key: given[key] for key in shape_operands(case)}
        try:
            module = stepwell.from_onnx(case.model, constants=bound)
        except OnnxError:
            continue
        inputs = [array for key, array in given.items() if key not in bound]
        yield Case(name, module, inputs, shared=count % 2 == 0)
        count -= 1
        if count <= 0:
            return


def kernel_cases() -> Iterator[Case]:
    """One program per class of kernel, shared and with drawn arrays."""
    generator = np.random.default_rng(3)
    for name, text in KERNELS.items():
        arrays: list[Array] = []
        for shape, dtype in re.findall(r"%\w+: tensor<([0-9x]*)x(\w+)>", text[: text.index("->")]):
            arrays.append(_drawn(generator, shape, dtype))
        weights = {
            key: _drawn(generator, shape, dtype)
            for key, shape, dtype in re.findall(r'graph.weight "(\w+)" : tensor<([0-9x]*)x(\w+)>', text)
        }
        yield Case(f"kernel_{name}", text, arrays, weights, shared=True)


def _drawn(generator: np.random.Generator, shape: str, dtype: str) -> Array:
    sizes = [int(size) for size in shape.split("x")]
    if dtype == "i8":
        return generator.integers(-128, 128, sizes).astype(np.int8)
    return generator.standard_normal(sizes).astype(np.float32)
