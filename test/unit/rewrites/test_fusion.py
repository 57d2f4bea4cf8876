"""Group rules and their loading, groups and kinds, post-dominators, plans by hand, and size."""

from __future__ import annotations

import random
import re
from pathlib import Path

import numpy as np
import pytest
import stepwell
from hypothesis import given
from hypothesis import strategies as st
from stepwell.analysis.kinds import OpKind
from stepwell.analysis.post_dominators import PostDominators
from stepwell.core.ir.verification import VerificationError
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.passes.base import collecting_statistics
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.roles import GROUP, GROUP_REASON
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.dialects.pattern.groups import GROUP_KINDS
from stepwell.patterns.language.functions import PRIMITIVE
from stepwell.rewrites.fusion import rules as fusion_rules
from stepwell.rewrites.fusion.apply_fusion_plan import ApplyFusionPlanPass
from stepwell.rewrites.fusion.groups import merged_kind
from stepwell.rewrites.fusion.plan_fusion import PlanFusionPass
from stepwell.rewrites.fusion.rules import CONDITIONS, group_rules_of_text, shipped_group_rules
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "fusion.md").read_text(encoding="utf-8")
RULES = (ROOT / "rewrites" / "fusion" / "fusion.mlir").read_text(encoding="utf-8")


M = "tensor<4x4xf32>"
NUMBERS = st.floats(-2, 2, width=32)


def ran(text: str, pipeline: str) -> ModuleOp:
    context = make_context()
    module = parse_text(context, text, "p.mlir")
    run_pipeline(context, module, parse_pipeline(pipeline), verify_each=True)
    return module


def groups_of(module: ModuleOp) -> list[int | None]:
    """The group of every graph op."""
    found = [op for op in module.walk() if op.name.startswith("graph.")]
    return [getattr(getattr(op.attributes.get(GROUP), "value", None), "data", None) for op in found]


def function(body: str, arguments: str = "%x: tensor<4x4xf32>", result: str = "tensor<4x4xf32>") -> str:
    """A function of lines such as `%r = relu %x` on 4x4 matrices, the last of which is the result."""
    lines, last = [], ""
    for line in body.strip().splitlines():
        last, _, rest = (part.strip() for part in line.partition("="))
        name, _, operands = rest.partition(" ")
        types = ", ".join(["tensor<4x4xf32>"] * operands.count("%"))
        lines.append(f"{last} = graph.{name} {operands} : ({types}) -> tensor<4x4xf32>")
    inner = "\n".join(lines)
    return f"func.func @main({arguments}) -> {result} {{\n{inner}\nfunc.return {last} : {result}\n}}"


class TestRuleFile:
    def test_page_lists_the_rules(self) -> None:
        listed = re.findall(r"^\| `(fuse-[a-z-]+)` \| (.*) \|$", PAGE, re.M)
        assert listed == [(rule.name, rule.doc) for rule in shipped_group_rules()]

    def test_page_lists_the_conditions(self) -> None:
        listed = re.findall(r"^\| `([a-z-]+)` \| ([A-Z].*\.) \|$", PAGE, re.M)
        own = {name: test for name, test in CONDITIONS.items() if test.__module__ == fusion_rules.__name__}
        assert listed == [(name, " ".join((test.__doc__ or "").split())) for name, test in own.items()]

    def test_page_lists_the_kinds(self) -> None:
        assert tuple(re.findall(r"^\| `([a-z-]+)` \| [a-z].* \| `", PAGE, re.M)) == GROUP_KINDS

    def test_examples_of_the_page(self) -> None:
        (example,) = re.findall(r"```mlir\n(// example: rules.*?)```", PAGE, re.S)
        assert [rule.name for rule in group_rules_of_text(example)] == ["fuse-elementwise-into-elementwise"]
        for name in ("plan", "several-results"):
            (example,) = re.findall(rf"```mlir\n(// example: {name}\n.*?)```", PAGE, re.S)
            bare = re.sub(r" \{graph\.group[^}]*\}", "", example)
            assert bare != example and str(ran(bare, "plan-fusion")) == str(stepwell.parse(example))

    def test_every_rule_has_its_filecheck_functions(self) -> None:
        text = (ROOT / "test/filecheck/rewrites/plan_fusion/rules.mlir").read_text(encoding="utf-8")
        for rule in shipped_group_rules():
            assert f"@{rule.name.replace('-', '_')}(" in text
        assert len(re.findall(r"^func\.func @no_", text, re.M)) >= len(shipped_group_rules())

    def test_it_reads_back_as_it_is_printed(self) -> None:
        printed = str(stepwell.parse(RULES))
        assert group_rules_of_text(printed) == shipped_group_rules()

    @pytest.mark.ci_cases(2)
    @pytest.mark.parametrize("name", [rule.name for rule in shipped_group_rules()])
    def test_deleting_a_rule_changes_what_is_fused(self, name: str, tmp_path: Path) -> None:
        """No rule is idle: the functions of the FileCheck test have another plan without it."""
        text = (ROOT / "test/filecheck/rewrites/plan_fusion/rules.mlir").read_text(encoding="utf-8")
        kept = re.sub(rf'pattern\.group_rule "{name}".*?\n(?! )', "", RULES, flags=re.S)
        assert kept != RULES
        mine = tmp_path / "mine.mlir"
        mine.write_text(kept)
        before, after = ran(text, "plan-fusion"), ran(text, f'plan-fusion{{file="{mine}"}}')
        assert groups_of(before) != groups_of(after)
        assert f'"{name}"' in str(before) and f'"{name}"' not in str(after)

    def test_a_file_without_rules_leaves_every_op_alone(self, tmp_path: Path) -> None:
        empty = tmp_path / "empty.mlir"
        empty.write_text("builtin.module {}\n")
        module = ran(function("%0 = relu %x\n%1 = exp %0"), f'plan-fusion{{file="{empty}"}}')
        assert groups_of(module) == [0, 1]

    def test_a_program_called_like_the_rule_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Only `file` reads from the working directory."""
        (tmp_path / "fusion.mlir").write_text(function("%0 = relu %x\n%1 = exp %0"))
        monkeypatch.chdir(tmp_path)
        assert groups_of(ran(function("%0 = relu %x\n%1 = exp %0"), "plan-fusion")) == [0, 0]
        with pytest.raises(StepwellError, match="holds no 'pattern.group_rule'"):
            ran(function("%0 = relu %x"), 'plan-fusion{file="fusion.mlir"}')

    def test_a_condition_of_a_plug_in(self) -> None:
        @fusion_rules.group_condition("test-is-relu")
        def is_relu(candidate: fusion_rules.Candidate, producer: list[fusion_rules.Group]) -> bool:
            """Only relu."""
            return producer[0].root.name == "graph.relu"

        rule = (
            'pattern.group_rule "r" { %p = pattern.group "elementwise" %c = pattern.group "elementwise" '
            'pattern.require_groups "test-is-relu"(%p) pattern.require_groups "single-use"(%p) '
            "pattern.merge_groups %p into %c }"
        )
        try:
            (rules,) = [group_rules_of_text(rule)]
            module = stepwell.parse(function("%0 = relu %x\n%1 = exp %0\n%2 = tanh %1"))
            from stepwell.rewrites.fusion.plan_fusion import plan_function

            plan_function(next(iter(module.ops)), rules, 9)  # pyright: ignore[reportArgumentType]
            assert groups_of(module) == [0, 0, 1]
        finally:
            del CONDITIONS["test-is-relu"]
        with pytest.raises(ValueError, match="two group conditions called 'in-place'"):
            fusion_rules.group_condition("in-place")(is_relu)


GROUP_LINES = '%p = pattern.group "elementwise" %c = pattern.group "elementwise"'
LEAD = 'pattern.require_groups "single-use"(%p)'
MERGE = "pattern.merge_groups %p into %c"
WRONG_RULES = {
    "two of one name": (
        f'pattern.group_rule "r" {{ {GROUP_LINES} {LEAD} {MERGE} }}\n' * 2,
        "two group rules called 'r'",
    ),
    "no end": (
        f'pattern.group_rule "r" {{ {GROUP_LINES} {LEAD} }}',
        "does not end in its one 'pattern.merge_groups'",
    ),
    "no lead": (f'pattern.group_rule "r" {{ {GROUP_LINES} {MERGE} }}', "does not say that all users"),
    "kind": (
        'pattern.group_rule "r" { %p = pattern.group "opaque" }',
        "kind is 'opaque', expected one of elementwise",
    ),
    "itself": (
        f'pattern.group_rule "r" {{ {GROUP_LINES} {LEAD} pattern.merge_groups %p into %p }}',
        "the producer is the consumer",
    ),
    "a fourth group": (
        (
            f'pattern.group_rule "r" {{ {GROUP_LINES} %a = pattern.group "injective" %b = pattern.group "injective" '
            f"{LEAD} {MERGE} }}"
        ),
        "expected one group besides",
    ),
    "between that nobody asks for": (
        f'pattern.group_rule "r" {{ {GROUP_LINES} %a = pattern.group "injective" {LEAD} {MERGE} }}',
        "no 'post-dominated' takes the group that is between",
    ),
    "arity": (
        f'pattern.group_rule "r" {{ {GROUP_LINES} {LEAD} pattern.require_groups "in-place"(%p) {MERGE} }}',
        "'in-place' takes 2 values (producer, consumer), found 1",
    ),
    "wrong way round": (
        f'pattern.group_rule "r" {{ {GROUP_LINES} pattern.require_groups "post-dominated"(%c, %p) {MERGE} }}',
        "'post-dominated' is about consumer, producer, expected producer, consumer",
    ),
    "another op": (
        'pattern.group_rule "r" { %a = "pattern.and"() : () -> !pattern.value }',
        "pattern.and",
    ),
    "rules of ops": (
        'pattern.rule "r" { %x = pattern.any %y = pattern.op "graph.relu"(%x) pattern.replace %y with %x }',
        "holds no 'pattern.group_rule'",
    ),
}


@pytest.mark.parametrize("name", WRONG_RULES)
def test_wrong_rules_are_refused(name: str) -> None:
    text, message = WRONG_RULES[name]
    with pytest.raises((StepwellError, VerificationError)) as error:
        group_rules_of_text(text, "wrong.mlir")
    assert message in str(error.value)
    assert "wrong.mlir" in str(error.value)


def test_merged_kinds() -> None:
    elementwise, injective, reduction = OpKind.ELEMENTWISE, OpKind.INJECTIVE, OpKind.REDUCTION
    assert merged_kind([elementwise], injective) is injective
    assert merged_kind([injective], elementwise) is injective
    assert merged_kind([injective], reduction) is reduction
    assert merged_kind([elementwise], OpKind.OUT_FUSABLE) is OpKind.OUT_FUSABLE
    assert merged_kind([reduction], elementwise) is OpKind.OUT_FUSABLE
    assert merged_kind([elementwise, reduction], reduction) is OpKind.OUT_FUSABLE


class TestPostDominators:
    @staticmethod
    def slow(block: Block, op: Operation) -> set[Operation | None]:
        """What is on every way from `op` to the end of its block, by following all ways."""
        users = {use.operation for result in op.results for use in result.uses}
        if not users:
            return {None}
        ways = [TestPostDominators.slow(block, user) | {user} for user in users]
        return set.intersection(*ways)

    def test_against_all_ways(self) -> None:
        for seed in range(40):
            choose = random.Random(seed)
            names, lines = ["%x"], []
            for number in range(choose.randint(1, 12)):
                a, b = choose.choice(names[-4:]), choose.choice(names[-6:])
                lines.append(f"%v{number} = add {a}, {b}")
                names.append(f"%v{number}")
            (main,) = stepwell.parse(function("\n".join(lines))).ops
            block = main.regions[0].block
            found = PostDominators(block)
            order = list(block.ops)
            for op in order[:-1]:
                wanted = self.slow(block, op) - {None}
                first = min((each for each in wanted if each), key=order.index, default=None)
                assert found.of(op) is first, (seed, op)
                users = {use.operation for result in op.results for use in result.uses}
                assert found.users(op) == sorted(users, key=order.index)

    def test_uses_in_regions_count_as_those_of_the_holder(self) -> None:
        module = stepwell.parse("""
        func.func @main(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
          %0 = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
          %1 = scf.if %c -> (tensor<4xf32>) {
            %2 = graph.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
            scf.yield %2 : tensor<4xf32>
          } else {
            scf.yield %0 : tensor<4xf32>
          }
          func.return %1 : tensor<4xf32>
        }""")
        (main,) = module.ops
        relu, branch, back = main.regions[0].block.ops
        found = PostDominators(main.regions[0].block)
        assert (found.of(relu), found.of(branch), found.of(back)) == (branch, back, None)

    def test_uses_in_other_blocks_are_the_end(self) -> None:
        module = stepwell.parse("""
        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
          %1 = graph.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
          cf.br ^bb1
        ^bb1:
          %2 = graph.add %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          func.return %2 : tensor<4xf32>
        }""")
        (main,) = module.ops
        first = main.regions[0].blocks[0]
        found = PostDominators(first)
        relu, exp = list(first.ops)[:2]
        assert found.of(relu) is None and found.is_used_elsewhere(relu) and found.of(exp) is None
        PlanFusionPass().apply(make_context(), module)
        assert groups_of(module) == [0, 1, 2]


class TestPlans:
    def test_numbers_are_those_of_one_function_and_reasons_name_rules(self) -> None:
        module = ran(function("%0 = relu %x\n%1 = matmul %0, %x\n%2 = exp %1"), "plan-fusion")
        assert groups_of(module) == [0, 1, 1]
        reasons = [str(op.attributes.get(GROUP_REASON)) for op in module.walk() if GROUP in op.attributes]
        assert reasons == ["None", '"fuse-elementwise-epilogue"', "None"]

    def test_an_edited_plan_is_honoured(self) -> None:
        """Not even a rule allows what the user asks for here: a prologue of a contraction."""
        text = str(ran(function("%0 = relu %x\n%1 = matmul %0, %x\n%2 = exp %1"), "plan-fusion"))
        edited = text.replace("graph.group = 1", "graph.group = 0")
        module = ran(edited, "plan-fusion,apply-fusion-plan")
        assert "func.call @fused_relu_matmul_exp0(%x)" in str(module)
        assert "graph.group" not in str(module)

    def test_an_op_taken_out_by_hand_stays_out(self) -> None:
        text = str(ran(function("%0 = relu %x\n%1 = tanh %0\n%2 = exp %1"), "plan-fusion"))
        edited = re.sub(r"(graph\.relu %x) \{[^}]*\}", r"\1", text)
        assert edited != text
        module = ran(edited, "apply-fusion-plan")
        assert "graph.relu" in str(module) and "@fused_tanh_exp0(" in str(module)

    def test_a_plan_survives_the_other_passes(self) -> None:
        text = str(ran(function("%0 = relu %x\n%1 = matmul %0, %x\n%2 = exp %1"), "plan-fusion"))
        edited = text.replace("graph.group = 1", "graph.group = 0")
        assert "@fused_relu_matmul_exp0(" in str(ran(edited, "graph-optimize"))

    def test_patterns_of_ones_own_come_first(self) -> None:
        """S0-23: the product and its bias by a pattern, then a chain of maps: two functions, no nesting."""
        body = "%0 = matmul %x, %x\n%1 = add %0, %x\n%2 = relu %1\n%3 = multiply %2, %2"
        module = ran(function(body), "fuse-matmul-add,plan-fusion,apply-fusion-plan")
        names = [getattr(op.get_attr_or_prop("sym_name"), "data", "") for op in module.ops]
        assert names == ["main", "fused_matmul_add0", "fused_relu_multiply0"]
        assert str(module).count("func.call") == 2

    @pytest.mark.parametrize("attribute", ['graph.partitioned_from = "relu_"', 'graph.compiler = "dsp"'])
    def test_some_functions_are_left_alone(self, attribute: str) -> None:
        text = function("%0 = relu %x\n%1 = exp %0")
        marked = text.replace("tensor<4x4xf32> {", f"tensor<4x4xf32> attributes {{{attribute}}} {{", 1)
        assert marked != text
        module = stepwell.parse(marked)
        PlanFusionPass().apply(make_context(), module)
        assert groups_of(module) == [None, None]

    def test_what_runs_once_is_fused(self) -> None:
        text = function("%0 = relu %x\n%1 = exp %0")
        module = stepwell.parse(text.replace("tensor<4x4xf32> {", "tensor<4x4xf32> attributes {stepwell.prepare} {", 1))
        PlanFusionPass().apply(make_context(), module)
        assert groups_of(module) == [0, 0]

    def test_long_names_are_cut(self) -> None:
        body = "\n".join(f"%{n} = relu {'%x' if n == 0 else f'%{n - 1}'}" for n in range(9))
        assert "@fused_relu_relu_relu_relu_relu_and_4_more_0(" in str(
            ran(function(body), "plan-fusion,apply-fusion-plan")
        )

    def test_from_python(self) -> None:
        module = stepwell.parse(function("%0 = relu %x\n%1 = exp %0"))
        fused = ApplyFusionPlanPass()(PlanFusionPass()(module))
        assert "func.call" not in str(module) and "@fused_relu_exp0" in str(fused)

    def test_statistics(self) -> None:
        with collecting_statistics() as counted:
            ran(function("%0 = relu %x\n%1 = exp %0"), "plan-fusion,apply-fusion-plan")
        assert counted["fuse-elementwise-into-elementwise"] == 1
        assert counted["groups fused"] == counted["functions"] == 1

    def test_locations(self) -> None:
        module = ran(function("%0 = relu %x\n%1 = exp %0"), "plan-fusion,apply-fusion-plan")
        shown = {op.name: str(op.location) for op in module.walk() if op.name.startswith(("graph", "func.call"))}
        assert shown["func.call"] == 'loc(fused["p.mlir":2:1, "p.mlir":3:1])'
        assert shown["graph.exp"] == 'loc("p.mlir":3:1)'
        assert shown["graph.relu"] == 'loc("p.mlir":2:1)'

    @pytest.mark.parametrize("number", ["-0.0", "0x7FC00000", "1.0e-40"])
    def test_copied_constants_keep_their_bits(self, number: str) -> None:
        text = function("%0 = multiply %x, %k\n%1 = relu %0").replace(
            "%0 =", f"%k = graph.full {number} : tensor<4x4xf32>\n%0 =", 1
        )
        module = ran(text, "plan-fusion,apply-fusion-plan")
        fulls = [str(op) for op in module.walk() if op.name == "graph.full"]
        assert len(fulls) == 1 and str(stepwell.parse(text)).count(fulls[0].strip()) == 1

    @given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=6))
    def test_layers_that_differ_in_numbers_share_a_kernel(self, layers: list[tuple[float, float]]) -> None:
        """Each layer is `softmax(relu(x * a + b) - a)`."""
        lines, last = [], "%x"
        for n, (a, b) in enumerate(layers):
            lines += [
                f"%a{n} = graph.full {a!r} : tensor<f32>",
                f"%b{n} = graph.full {b!r} : tensor<f32>",
                f"%p{n} = graph.multiply {last}, %a{n} : ({M}, tensor<f32>) -> {M}",
                f"%q{n} = graph.add %p{n}, %b{n} : ({M}, tensor<f32>) -> {M}",
                f"%r{n} = graph.relu %q{n} : ({M}) -> {M}",
                f"%s{n} = graph.subtract %r{n}, %a{n} : ({M}, tensor<f32>) -> {M}",
                f"%t{n} = graph.softmax %s{n}, axis = -1 : ({M}) -> {M}",
            ]
            last = f"%t{n}"
        body = "\n".join(lines)
        text = f"func.func @main(%x: {M}) -> {M} {{\n{body}\nfunc.return {last} : {M}\n}}"
        fused = ran(text, "plan-fusion,apply-fusion-plan")
        kernels = [op for op in fused.body.block.ops if PRIMITIVE in op.attributes]
        assert len(kernels) == 1
        x = np.linspace(-2, 2, 16, dtype=np.float32).reshape(4, 4)
        expected = x.astype(np.float64)
        for a, b in layers:
            expected = np.maximum(expected * a + b, 0) - a
            expected = np.exp(expected - expected.max(-1, keepdims=True))
            expected /= expected.sum(-1, keepdims=True)
        found = stepwell.compile(text, cache=False)(x)
        np.testing.assert_allclose(np.asarray(found).reshape(4, 4), expected, rtol=1e-4, atol=1e-5)


class TestSize:
    """Chains of thousands of ops: no recursion, and no work that grows with the square."""

    @staticmethod
    def chain(count: int, wide: bool) -> str:
        """
        Each op takes the one before and, if `wide`, an early one, whose post-dominator is then the end of the chain.
        """
        lines = ["%v0 = relu %x"]
        for number in range(1, count):
            other = f"%v{number // 2}" if wide else "%x"
            lines.append(f"%v{number} = add %v{number - 1}, {other}")
        return function("\n".join(lines))

    def test_a_long_chain(self) -> None:
        module = ran(self.chain(600, wide=False), "plan-fusion")
        sizes = [groups_of(module).count(number) for number in sorted(set(filter(None, groups_of(module))))]
        assert max(sizes) <= 256 and len(sizes) < 9
        fused = ran(str(module), "apply-fusion-plan")
        assert len([op for op in fused.walk() if op.name == "func.call"]) == len(sizes) + 1

    def test_far_post_dominators(self) -> None:
        module = ran(self.chain(600, wide=True), "plan-fusion,apply-fusion-plan")
        assert module.body.block.first_op is not None

    def test_a_chain_that_merges_from_its_end(self, tmp_path: Path) -> None:
        """Each merge makes the next one possible, against the order of the program."""
        rule = tmp_path / "r.mlir"
        rule.write_text(
            'pattern.group_rule "r" { %p = pattern.group "elementwise" %c = pattern.group "reduction" '
            'pattern.require_groups "single-use"(%p) pattern.merge_groups %p into %c }'
        )
        lines = ["%v0 = relu %x"] + [f"%v{number} = exp %v{number - 1}" for number in range(1, 400)]
        text = function("\n".join(lines)).replace(
            "func.return %v399 : tensor<4x4xf32>",
            "%s = graph.sum %v399 : (tensor<4x4xf32>) -> tensor<f32> func.return %s : tensor<f32>",
        )
        text = text.replace("-> tensor<4x4xf32> {", "-> tensor<f32> {", 1)
        module = ran(text, f'plan-fusion{{file="{rule}" max-ops=2000}}')
        assert set(groups_of(module)) == {0}
