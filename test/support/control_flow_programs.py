"""
Random programs with branches, loops, calls and ops that may fail, whose every result is used: for differential tests.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

SHAPES = {"f32": "2x3xf32", "i32": "2x3xi32", "i1": "2x3xi1"}
TENSOR = {dtype: f"tensor<{shape}>" for dtype, shape in SHAPES.items()}

CONSTANTS = {"f32": ("0.0", "-0.0", "1.0", "-1.0"), "i32": ("0", "1", "-1", "3"), "i1": ("true", "false")}
UNARY = {
    "f32": ("negative", "abs", "relu", "floor"),
    "i32": ("negative", "abs", "sign", "bitwise_not"),
    "i1": ("logical_not",),
}
BINARY = {
    "f32": ("add", "subtract", "multiply", "maximum"),
    "i32": ("add", "multiply", "bitwise_xor", "minimum"),
    "i1": ("logical_and", "logical_or", "logical_xor"),
}
MAY_FAIL = ("divide", "floor_divide", "mod")
COMPARISONS = ("equal", "less", "not_equal")

Value = tuple[str, str]
"""Name and element type."""


@dataclass
class ControlFlowProgram:
    """A module made from a seed; `text` is complete after `build`."""

    seed: int
    failing: bool = False
    count: int = 0
    functions: list[tuple[str, list[str], list[str], str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def build(self) -> str:
        """The module: `main` on one tensor of each element type, which returns every value at its top level."""
        values: list[Value] = [("%f", "f32"), ("%i", "i32"), ("%b", "i1")]
        body = self.steps(values, 12, depth=0)
        arguments = ", ".join(f"{name}: {TENSOR[dtype]}" for name, dtype in values[:3])
        main = _function("main", "", arguments, body, values[3:])
        return "\n".join([main, *(text for *_, text in self.functions)])

    def steps(self, values: list[Value], count: int, depth: int) -> list[str]:
        """`count` steps as lines; what they define is appended to `values`."""
        lines: list[str] = []
        for _ in range(count):
            makers = [self.full, self.elementwise, self.elementwise, self.elementwise]
            if depth < 2:
                makers += [self.branch, self.loop, self.call]
            lines += self.random.choice(makers)(values, depth)
        return lines

    def pick(self, values: list[Value], dtype: str) -> str:
        return self.random.choice([name for name, found in values if found == dtype][-6:])

    def full(self, values: list[Value], depth: int) -> list[str]:
        dtype, name = self.random.choice(list(SHAPES)), self.name()
        values.append((name, dtype))
        return [f"{name} = graph.full {self.random.choice(CONSTANTS[dtype])} : {TENSOR[dtype]}"]

    def elementwise(self, values: list[Value], depth: int) -> list[str]:
        dtype, name = self.random.choice(list(SHAPES)), self.name()
        result, operands = dtype, 2
        kind = self.random.choice(["unary", "binary", "binary", "compare", "where", "fail"])
        if kind == "fail" and self.failing:
            op, dtype, result = self.random.choice(MAY_FAIL), "i32", "i32"
        elif kind == "unary":
            op, operands = self.random.choice(UNARY[dtype]), 1
        elif kind == "compare":
            op, result = self.random.choice(COMPARISONS), "i1"
        else:
            op = "where" if kind == "where" else self.random.choice(BINARY[dtype])
        used = [(self.pick(values, dtype), dtype) for _ in range(operands)]
        if op == "where":
            used.insert(0, (self.pick(values, "i1"), "i1"))
        values.append((name, result))
        types = ", ".join(TENSOR[each] for _, each in used)
        return [f"{name} = graph.{op} {_names(used)} : ({types}) -> {TENSOR[result]}"]

    def branch(self, values: list[Value], depth: int) -> list[str]:
        """An `scf.if` on an element of a tensor; each side yields all that it defines, in the order of its types."""
        index, condition = self.name(), self.name()
        head = [
            f"{index} = arith.constant 1 : index",
            f"{condition} = tensor.extract {self.pick(values, 'i1')}[{index}, {index}] : {TENSOR['i1']}",
        ]
        sides: list[tuple[list[str], list[Value]]] = []
        for _ in range(2):
            inner = list(values)
            sides.append((self.steps(inner, 3, depth + 1), inner[len(values) :]))
        dtypes = [dtype for _, own in sides for _, dtype in own]
        blocks: list[list[str]] = []
        for number, (lines, own) in enumerate(sides):
            others = [(self.pick(values, dtype), dtype) for _, dtype in sides[1 - number][1]]
            blocks.append([*lines, _yield(own + others if number == 0 else others + own)])
        results = self.results(values, dtypes)
        return [
            *head,
            f"{results} = scf.if {condition} -> ({_types(dtypes)}) {{",
            *blocks[0],
            "} else {",
            *blocks[1],
            "}",
        ]

    def loop(self, values: list[Value], depth: int) -> list[str]:
        """An `scf.for` that carries as many values as its body defines."""
        low, high, step, counter = (self.name() for _ in range(4))
        times = self.random.choice([0, 1, 3])
        bounds = ((low, 0), (high, times), (step, 1))
        head = [f"{name} = arith.constant {number} : index" for name, number in bounds]
        dtypes = [self.random.choice(list(SHAPES)) for _ in range(2)]
        carried: list[Value] = [(self.name(), dtype) for dtype in dtypes]
        inner = [*values, *carried]
        lines = self.steps(inner, 3, depth + 1)
        own = inner[len(values) + len(carried) :]
        extra: list[Value] = [(self.name(), dtype) for _, dtype in own]
        turned = [(self.pick(carried + own, dtype), dtype) for dtype in dtypes]
        starts = [f"{name} = {self.pick(values, dtype)}" for name, dtype in [*carried, *extra]]
        dtypes += [dtype for _, dtype in own]
        results = self.results(values, dtypes)
        bound = f"{counter} = {low} to {high} step {step} iter_args({', '.join(starts)})"
        return [
            *head,
            f"{results} = scf.for {bound} -> ({_types(dtypes)}) {{",
            *lines,
            _yield(turned + own),
            "}",
        ]

    def call(self, values: list[Value], depth: int) -> list[str]:
        """A call of a new private function, or of one called before."""
        if not self.functions or self.random.random() < 0.6:
            parameters: list[Value] = [("%p0", "f32"), ("%p1", "i32"), ("%p2", "i1")]
            inner = list(parameters)
            body = self.steps(inner, 4, depth=2)
            name = f"f{self.count}"
            arguments = ", ".join(f"{each}: {TENSOR[dtype]}" for each, dtype in parameters)
            text = _function(name, "private ", arguments, body, inner[3:])
            self.functions.append((name, list(SHAPES), [dtype for _, dtype in inner[3:]], text))
        name, inputs, outputs, _ = self.random.choice(self.functions)
        used = ", ".join(self.pick(values, dtype) for dtype in inputs)
        results = self.results(values, outputs)
        return [f"{results} = func.call @{name}({used}) : ({_types(inputs)}) -> ({_types(outputs)})"]

    def results(self, values: list[Value], dtypes: list[str]) -> str:
        """Names for the results of one op: `%v7:3`, used as `%v7#0` …"""
        name = self.name()
        values += [(f"{name}#{number}", dtype) for number, dtype in enumerate(dtypes)]
        return f"{name}:{len(dtypes)}"


def _names(values: list[Value]) -> str:
    return ", ".join(name for name, _ in values)


def _types(dtypes: list[str]) -> str:
    return ", ".join(TENSOR[dtype] for dtype in dtypes)


def _yield(values: list[Value]) -> str:
    return f"scf.yield {_names(values)} : {_types([dtype for _, dtype in values])}"


def _function(name: str, visibility: str, arguments: str, body: list[str], returned: list[Value]) -> str:
    types = _types([dtype for _, dtype in returned])
    head = f"func.func {visibility}@{name}({arguments}) -> ({types}) {{"
    return "\n".join([head, *body, f"func.return {_names(returned)} : {types}", "}"])
