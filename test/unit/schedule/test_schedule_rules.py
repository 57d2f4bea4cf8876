"""The rules of `schedules.mlir`: they decide where the kernel can, and nothing else in the compiler does."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import stepwell
from counts import FULL
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.dialects.schedule import OrderAttr, TransposeAttr
from stepwell.dialects.tensor_loop import BlockOp, GridOp
from stepwell.machine.host import host_machine
from stepwell.patterns.language.rules import Rule
from stepwell.patterns.text.loading import rules_of_text
from stepwell.schedule.default.schedule_rules import SHIPPED_FILE, ScheduleRules, schedule_rules, shipped_schedule_rules
from stepwell.schedule.products.transpose import Transpose, transpose_of
from stepwell.testing.programs.loop_generators import random_copy
from xdsl.ir import Attribute

FILE = Path(stepwell.__file__).parent / "schedule" / "default" / SHIPPED_FILE
TEXT = FILE.read_text(encoding="utf-8")
COUNT = 3000 if FULL else 150
CTX = make_context()


def test_the_rules_are_valid() -> None:
    """They are not verified when they are loaded."""
    assert rules_of_text(TEXT, SHIPPED_FILE, CTX) == shipped_schedule_rules()
    assert all(rule.doc and rule.decisions for rule in shipped_schedule_rules())


def decided(text: str, rules: list[Rule]) -> tuple[Attribute | None, GridOp]:
    """What rules decide about the only block of a program, and its grid."""
    module = parse_text(CTX, text, "p.mlir")
    (block,) = [op for op in module.walk() if isinstance(op, BlockOp)]
    made = ScheduleRules(CTX, rules, module, ()).decide(block)
    grid = block.parent_op()
    assert isinstance(grid, GridOp)
    return made[0].value if made else None, grid


def expected_side(t: Transpose) -> int:
    """
    Of 4, 2 and 1 tiles side by side the most that divide those of a row, and whose lines in the result L1 holds. All do
    where it does not even hold those of one tile.
    """
    element, stride = t.out.type.element_type, t.out.stride_along(t.column)
    assert stride is not None
    apart = stride * element.size  # pyright: ignore[reportAttributeAccessIssue]

    def held(steps: int) -> bool:
        sets = Counter(number * apart % machine.l1_way_bytes // 64 for number in range(steps))
        return max(sets.values()) <= machine.l1_bytes // machine.l1_way_bytes

    machine = host_machine()
    tiles = t.extents[t.column] // 16
    return next(side for side in (4, 2, 1) if tiles % side == 0 and (side == 1 or held(16 * side) or not held(16)))


def test_they_decide_where_the_kernel_can() -> None:
    """No more, as that would be an error of the program, and no less."""
    found = {None: 0, 1: 0, 2: 0, 4: 0}
    for seed in range(COUNT):
        text = random_copy(seed)
        value, grid = decided(text, list(shipped_schedule_rules()))
        wanted = transpose_of(grid)
        assert (value is not None) is (wanted is not None), text
        side = value.side.data if isinstance(value, TransposeAttr) else None
        if wanted is not None:
            assert side == expected_side(wanted), text
        found[side] += 1
    assert all(number > COUNT // 50 for number in found.values()), found


ONCE = """
func.func private @prepare() -> tensor<64x{0}xf32> attributes {{stepwell.prepare}} {{
  %w = graph.weight "w" : tensor<{0}x64xf32>
  %0 = graph.call_kernel @turn(%w) : (tensor<{0}x64xf32>) -> tensor<64x{0}xf32>
  func.return %0 : tensor<64x{0}xf32>
}}
tensor_loop.func private @turn(%x: memref<{0}x64xf32>) outs(%o: memref<64x{0}xf32>) {{
  tensor_loop.grid (%i, %j) in (64, {0}) {{
    tensor_loop.block "turn" spatial(%a in 64 = %i, %b in {0} = %j) {{
      %v = memref.load %x[%b, %a] : memref<{0}x64xf32>
      memref.store %v, %o[%a, %b] : memref<64x{0}xf32> }} }} }}
"""


@pytest.mark.parametrize(("rows", "kind"), [(64, OrderAttr), (32768, OrderAttr), (32784, TransposeAttr)])
def test_a_copy_that_runs_once(rows: int, kind: type[Attribute]) -> None:
    module = parse_text(CTX, ONCE.format(rows), "p.mlir")
    run_pipeline(CTX, module, "plan-schedules")
    (block,) = [op for op in module.walk() if isinstance(op, BlockOp)]
    assert isinstance(block.attributes["stepwell.tiling"], kind)


TURNED = """
func.func @main(%x: tensor<48x128xf32>) -> tensor<128x48xf32> {
  %0 = graph.permute_dims %x : (tensor<48x128xf32>) -> tensor<128x48xf32>
  func.return %0 : tensor<128x48xf32>
}
"""


@pytest.mark.parametrize("name", [rule.name for rule in shipped_schedule_rules()])
def test_without_a_rule_others_decide(name: str, tmp_path: Path) -> None:
    """No Python decides what the file does: without a rule the block gets something else, and the same numbers."""
    start = TEXT.index(f'pattern.rule "{name}"')
    end = TEXT.find("\npattern.rule", start + 1)
    mine = tmp_path / "mine.mlir"
    mine.write_text(TEXT[:start] + (TEXT[end:] if end > 0 else ""))
    width, side = {"turn-four-tiles": (128, 4), "turn-two-tiles": (160, 2), "turn-tiles": (80, 1)}[name]
    text = TURNED.replace("128", str(width))
    found: dict[str, str] = {}
    for option in ("", f'{{file="{mine}"}}'):
        module = parse_text(CTX, text, "p.mlir")
        run_pipeline(CTX, module, f"lower-graph-to-loops,plan-schedules{option}")
        (block,) = [op for op in module.walk() if isinstance(op, BlockOp)]
        found[option] = str(block.attributes["stepwell.tiling"])
        x = np.arange(48 * width, dtype=np.float32).reshape(48, width)
        (made,) = stepwell.compile(str(module), pipeline="apply-schedule-plan", cache=False)(x)
        np.testing.assert_array_equal(made, x.T)
    assert found.pop("") == f"#schedule.transpose<side = {side}>"
    (other,) = found.values()
    assert other == (f"#schedule.transpose<side = {side // 2}>" if side > 1 else "#schedule.order<[0, 1]>")


def test_rules_by_name() -> None:
    assert [rule.name for rule in schedule_rules("", ("turn-tiles",), CTX, "p")] == ["turn-tiles"]
    with pytest.raises(Exception, match="'no-such'"):
        schedule_rules("", ("no-such",), CTX, "plan-schedules")
