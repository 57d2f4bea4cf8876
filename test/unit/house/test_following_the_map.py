"""Whoever follows docs/architecture.md gets a rule, a pass, a primitive, a target and an op that work."""

from __future__ import annotations

from pathlib import Path

import pytest
from code_size import ROOT
from followed_page import blocks
from following import Change, copy_tree, run_in


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree, in which all changes are made."""
    return copy_tree(tmp_path_factory.mktemp("site"))


def test_a_change_elsewhere_than_its_row_says_is_refused() -> None:
    change = Change(ROOT, "a target (registers, caches, features)")
    with pytest.raises(AssertionError, match="schedule/kernels/tilings.py is not where the row of 'a target"):
        change.touch("schedule/kernels/tilings.py")
    change.touch("docs/targets.md")
    assert change.unused == ["machine/"]
    change.touch("machine/x86_64.py")
    assert change.unused == []


# A rewrite rule

BLOCKS = {block.file: block.text for block in blocks((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))}
"""The first change of CONTRIBUTING.md: a rule and its case."""

RULE_CHECK = """
import sys

from lit.main import main as lit

CASE = TREE / "test" / "filecheck" / "rewrites" / "simplify_expr" / "squares.mlir"
RULES = TREE / "rewrites" / "simplify" / "simplify.mlir"
program = CASE.read_text()
after = opt(program, "-p", "simplify-expr", "--statistics")
assert after.count("graph.negative") == 1 and "square-of-negative" in after
told = opt(program, "--explain-match=square-of-negative@%y")
assert "'square-of-negative' at %y = 'graph.square': matches" in told, told
Path("one.mlir").write_text(RULES.read_text()[RULES.read_text().index('pattern.rule "square-of-negative"'):])
proved = opt("", "--test-rules=one.mlir", "--cases", "5")
assert "ok    square-of-negative (exact): equal bit for bit; applied 5 of" in proved, proved
sys.argv = ["lit", "-q", "-j1", str(CASE)]
lit()
"""


@pytest.fixture(scope="module")
def rule(tree: Path) -> Change:
    """A rule of `simplify-expr`."""
    change = Change(tree, "a rewrite rule")
    change.insert("rewrites/simplify/simplify.mlir", BLOCKS["rule.mlir"])
    change.insert("test/filecheck/rewrites/simplify_expr/squares.mlir", BLOCKS["squares.mlir"])
    row = "| `square-of-negative` | exact | (-x) * (-x) = x * x |\n"
    change.insert("docs/rules.md", row, before="\n### `simplify-expr`: `simplify_arithmetic.mlir`")
    return change


def test_a_rule_is_text_and_a_case(rule: Change) -> None:
    rule.run(RULE_CHECK)
    assert rule.unused == []


# A pass

PASS = '''"""The pass `drop-name-hints`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...core.passes.base import StepwellPass


@dataclass(frozen=True)
class DropNameHintsPass(StepwellPass):
    """
    Takes their names off the results of ops, which are printed as numbers.

    Before: `%sum = graph.add %x, %y : …`
    After: `%0 = graph.add %x, %y : …`
    """

    name = "drop-name-hints"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for result in [result for inner in op.walk() for result in inner.results if result.name_hint]:
            result.name_hint = None
            self.count("names dropped")
'''

PASS_CHECK = """
from stepwell.rewrites import DropNameHintsPass
from stepwell.tools.pages.passes import page

program = '''func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %sum = graph.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = graph.exp %sum : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}'''
after = opt(program, "-p", "drop-name-hints")
assert after.strip() == str(DropNameHintsPass()(stepwell.parse(program)))
assert "%0 = graph.add %x, %x" in after and "%1 = graph.exp %0" in after, after
listed = opt("", "--list-passes")
assert "drop-name-hints                  level 1  Takes their names off the results of ops" in listed
for level in (1, 2, 3):
    assert "\\ndrop-name-hints,\\n" in opt("", "--show-pipeline", f"O{level}")
assert "names dropped" in opt(program, "-p", "O3", "--statistics")
x = np.arange(4, dtype="f")
np.testing.assert_allclose(stepwell.compile(program, cache=False)(x)[0], np.exp(2 * x), rtol=1e-6)
assert "## drop-name-hints" in page() and "`eliminate-dead-code`, `drop-name-hints`, `fuse-ewise-fma`" in page()
"""


@pytest.fixture(scope="module")
def pass_(tree: Path) -> Change:
    """A pass of the graph level that the pipelines of all levels from 1 run."""
    change = Change(tree, "a pass")
    change.insert("rewrites/simplify/drop_name_hints.py", PASS)
    stub = "from .simplify.drop_name_hints import DropNameHintsPass as DropNameHintsPass\n"
    change.insert("rewrites/__init__.pyi", stub)
    line = '    "drop-name-hints": "rewrites.simplify.drop_name_hints:DropNameHintsPass",\n'
    change.insert("universe.py", line, before='    "fold-constant":')
    stage = '    "drop-name-hints",  # Generated IR does not depend on names.\n'
    change.insert("lowering/pipelines.py", stage, before=')\n"""Rewrites on the graph level."""')
    return change


@pytest.mark.ci_cases(0)
def test_a_pass_is_a_file_and_three_lines(pass_: Change) -> None:
    pass_.run(PASS_CHECK)
    assert pass_.unused == ["schedule/"], "another room where it might stand"


# A schedule primitive

STEP = '''@irdl_op_definition
class SerialOp(InProgram):
    """`schedule.serial %i`."""

    name = "schedule.serial"
    TAKES: ClassVar = ("loop",)


'''

PRIMITIVE = '''

@step(SerialOp)
def serial(loop: ForOp) -> None:
    """
    Takes the mark off a loop, whose iterations then run one after the other.

    Args:
        loop: A loop that is unrolled, vectorized or parallel.

    Legal for a loop that has such a mark.

    Before and after `serial(%i)`:

        for %i in 4 unrolled { B }
        for %i in 4 { B }
    """
    if loop.kind_name == "serial":
        refuse(f"{loop_name(loop)} is serial already", loop)
    loop.kind = None
'''

PRIMITIVE_CHECK = """
import os
import pydoc

import pytest
from stepwell.core import OperationError
from stepwell.schedule import Schedule

function = '''tensor_loop.func @f(%x: memref<8xf32>) outs(%y: memref<8xf32>) {
  tensor_loop.for %i in 8 {
    tensor_loop.block "square" spatial(%vi in 8 = %i) {
      %a = memref.load %x[%vi] : memref<8xf32>
      %b = arith.mulf %a, %a : f32
      memref.store %b, %y[%vi] : memref<8xf32>
    }
  }
}'''
steps = '''
  %b = schedule.get_block "square" in @f
  %i = schedule.get_loops %b : 1
  schedule.unroll %i
  schedule.serial %i
'''
marked = function + "schedule.program {" + steps.replace("schedule.serial %i", "") + "}"
plain = function + "schedule.program {" + steps + "}"
assert "unrolled" in opt(marked, "-p", "apply-schedule")
assert "unrolled" not in opt(plain, "-p", "apply-schedule", "--check-schedule")

module = stepwell.parse(function)
schedule = Schedule(module, check=True)
(i,) = schedule.get_loops(schedule.get_block("square", "f"))
schedule.unroll(i)
schedule.serial(i)
assert "unrolled" not in str(module) and "schedule.serial %i" in str(schedule.program())
try:
    schedule.serial(i)
    raise AssertionError("serial twice")
except OperationError as error:
    assert str(error) == "%i is serial already", error

told = pydoc.render_doc(Schedule.serial, renderer=pydoc.plaintext)
for part in ("serial(self, loop: 'LoopHandle') -> 'None'", "Args:", "Legal for a loop that has", "Before and after"):
    assert part in told, told

os.environ["STEPWELL_UPDATE_DOCS"] = "1"
page = TREE / "test" / "unit" / "schedule" / "test_primitives_page.py"
assert pytest.main(["-q", str(page), "-k", "stub or table_of_primitives"]) == 0
assert "    def serial(self, loop: LoopHandle) -> None: ...\\n" in (TREE / "schedule/program/methods.pyi").read_text()
assert "| `serial` | Takes the mark off a loop" in (TREE / "docs/schedules.md").read_text()
"""


@pytest.fixture(scope="module")
def primitive(tree: Path) -> Change:
    """A primitive that undoes what others mark."""
    change = Change(tree, "a schedule primitive")
    change.insert("dialects/schedule/ops.py", STEP, before="@irdl_op_definition\nclass AnnotateOp")
    change.insert("dialects/schedule/ops.py", "    SerialOp,\n", before="    AnnotateOp,\n")
    change.insert("schedule/primitives/marks.py", "SerialOp, ", after="ParallelOp, ")
    change.insert("schedule/primitives/marks.py", PRIMITIVE)
    return change


@pytest.mark.ci_cases(0)
def test_a_primitive_is_an_op_and_a_function(primitive: Change) -> None:
    primitive.run(PRIMITIVE_CHECK)
    primitive.touch("schedule/program/methods.pyi")
    assert primitive.unused == []


# A target

FAMILY = '''"""Machines of 64-bit RISC-V."""

from __future__ import annotations

from .machine import Family, Machine, Pause

RISCV64_V = Machine("riscv64-v", "riscv64-unknown-linux-gnu", "sifive-p670", 16, 32, fma=True)


def of_flags(flags: frozenset[str] | None) -> Machine:
    """Returns the machine with the registers that flags of Linux show."""
    return RISCV64_V


RISCV64 = Family(("riscv64",), (RISCV64_V,), of_flags, Pause("fence seq_cst"))
'''

TARGET_CHECK = """
from stepwell.core import PassContext
from stepwell.tools.pages.targets import page

program = '''func.func @main(%x: tensor<30x70xf32>, %w: tensor<70x90xf32>) -> tensor<30x90xf32> {
  %y = graph.matmul %x, %w : (tensor<30x70xf32>, tensor<70x90xf32>) -> tensor<30x90xf32>
  func.return %y : tensor<30x90xf32>
}'''
text = opt(program, "-p", "O3", "--config", "target=riscv64-v", "-t", 'asm{machine="riscv64-v"}')
assert "vfmacc" in text, text
passes = ("plan-schedules", "prepack-weights", "apply-schedule-plan")
with PassContext(config={f"{name}.target": "riscv64-v" for name in passes}):
    scheduled = stepwell.compile(program, cache=False)
x, w = np.random.default_rng(0).standard_normal((2, 90, 90)).astype("f")
x, w = x[:30, :70], w[:70]
np.testing.assert_allclose(scheduled(x, w)[0], x @ w, rtol=1e-4, atol=1e-4)
code = stepwell.compile(program, cache=False, target="riscv64-v").export("product.o").code.read_bytes()
assert code[18] == 243, "e_machine of ELF: RISC-V"
assert "| `riscv64-v` | 16 bytes | 32 | yes |" in page()
"""


@pytest.fixture(scope="module")
def target(tree: Path) -> Change:
    """A machine of a family that is new."""
    change = Change(tree, "a target (registers, caches, features)")
    change.insert("machine/riscv64.py", FAMILY)
    change.insert("machine/families.py", "from .riscv64 import RISCV64\n", before="from .x86_64 import")
    change.insert("machine/families.py", ", RISCV64", after="(X86, AARCH64")
    return change


@pytest.mark.ci_cases(0)
def test_a_target_is_a_file_of_machine(target: Change) -> None:
    target.run(TARGET_CHECK)
    assert target.unused == []


# A unary op with its ONNX converter

OP = '''

@irdl_op_definition
class GaussianOp(UnaryOp):
    """
    `y = e^(-x^2)`.

    Numerics: gaussian(±inf) = 0; computed in f32 for f16 and bf16.

    ```mlir
    %y = graph.gaussian %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.gaussian"

    operand = tensor_operand("F")
'''

FORMULA = '''

def gaussian(x: Tensor) -> Tensor:
    """`e ** -(x * x)`."""
    return composite("gaussian", x, lambda value: ops.exp(-(value * value)))
'''

CONVERTER = '''

@converter("Gaussian", domain="com.acme")
@rounded_once
def gaussian(b: GraphBuilder, x: Value, *, scale: float = 1.0) -> Value:
    """`scale * e^(-x^2)`."""
    return b.multiply(b.gaussian(x), scale)
'''

OP_CHECK = """
import os

import pytest
from onnx import TensorProto, helper
from stepwell import reference, te
from stepwell.dialects import graph
from stepwell.dialects.graph.documentation import reference_page

x = np.array([0.0, -0.0, 0.5, -1.0, 3.0, 20.0, np.inf, -np.inf, np.nan], "f")
expected = np.exp(-np.square(x, dtype="d")).astype("f")
info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [9]) for name in "xy"]
node = helper.make_node("Gaussian", ["x"], ["y"], domain="com.acme", scale=2.0)
model = helper.make_model(
    helper.make_graph([node], "g", info[:1], info[1:]),
    opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.acme", 1)],
)
module = stepwell.from_onnx(model)
assert [type(op) for op in module.walk() if "gaussian" in op.name] == [graph.GaussianOp]
np.testing.assert_allclose(stepwell.compile(module, cache=False)(x)[0], 2 * expected, rtol=1e-6)
np.testing.assert_allclose(reference.run(module, "main", x)[0], 2 * expected, rtol=1e-6)
np.testing.assert_allclose(reference.evaluate("graph.gaussian", {}, x)[0], expected, rtol=1e-6)
assert te.library.gaussian(te.placeholder((9,), "f32")).shape == (9,)
assert "`y = e^(-x^2)`." in opt("", "--explain-op", "graph.gaussian")
assert "### graph.gaussian" in reference_page()
os.environ["STEPWELL_UPDATE_DOCS"] = "1"
page = TREE / "test" / "unit" / "dialects" / "test_builder_methods.py"
assert pytest.main(["-q", str(page), "-k", "stub"]) == 0
assert "    def gaussian(self, operand: Operand" in (TREE / "dialects/graph/methods.pyi").read_text()
builder = stepwell.GraphBuilder()
with builder.function("main", x="tensor<9xf32>") as (value,):
    builder.emit_func_output(builder.gaussian(value))
assert "graph.gaussian %x" in str(builder.get())
"""


@pytest.fixture(scope="module")
def op(tree: Path) -> Change:
    """An activation that no operator of ONNX is."""
    change = Change(tree, "a unary op with its ONNX converter")
    change.insert("dialects/graph/functions.py", OP)
    change.insert("dialects/graph/__init__.py", "    GaussianOp,\n", before="    GeluOp,\n    LeakyReluOp,")
    change.insert("dialects/graph/__init__.py", '    "GaussianOp",\n', before='    "GeluOp",\n')
    change.insert("te/library/elementwise.py", FORMULA)
    change.insert("te/library/__init__.pyi", "from .elementwise import gaussian as gaussian\n")
    change.insert(
        "reference/elementwise.py", '    "gaussian": lambda x: np.exp(-(x * x)),\n', before='    "silu": silu_of'
    )
    change.insert(
        "testing/programs/op_generators.py", '    "gaussian": FLOATS,\n', before='    "logical_not": ("i1",),\n'
    )
    change.insert("docs/semantics.md", "| `gaussian` | F | `e^(-x^2)` |\n", before="| `gelu` | F |")
    change.insert("frontends/onnx/operators/activations.py", CONVERTER)
    return change


@pytest.mark.ci_cases(0)
def test_an_op_is_its_meaning_and_its_converter(op: Change) -> None:
    op.run(OP_CHECK)
    op.touch("dialects/graph/methods.pyi")
    assert op.unused == []


# What holds for the tree

COMPLETE = (
    "house/test_map.py",
    "house/test_layering.py::test_a_room_imports_downwards_only",
    "house/test_packaging.py::test_data_files_in_packages_are_shipped",
    "house/test_api.py::test_every_pass_is_public",
    "dialects/test_graph_documentation.py::test_every_row_of_the_semantics_is_an_op",
    "dialects/test_graph_documentation.py::test_op_is_documented",
    "dialects/test_graph_ops.py::test_every_op_with_operands_has_a_generator",
    "patterns/test_docs.py",
    "reference/test_elementwise.py::test_every_op_of_the_semantics_table_has_a_reference",
)
"""Tests that find out what a change of the package has left out."""


@pytest.mark.ci_cases(0)
def test_the_five_rows_leave_nothing_out(
    tree: Path, rule: Change, pass_: Change, primitive: Change, target: Change, op: Change
) -> None:
    assert all(change.touched for change in (rule, pass_, primitive, target, op))
    run_in(tree, "-m", "pytest", "-q", *(f"stepwell/test/unit/{test}" for test in COMPLETE))
