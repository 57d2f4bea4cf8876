"""Testing rules of groups (`plan-fusion`): random programs, fused as the rule says, compute the same bits."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.utils.exceptions import VerifyException

from ...core.ir.verification import verify_module
from ...core.messages.diagnostics import OperationError, StepwellError, listening
from ...core.roles import GROUP_REASON
from ...core.text.parsing import make_context, parse_text
from ...patterns.language.patterns import Op
from ...patterns.language.rules import Rule
from ...rewrites.fusion.apply_fusion_plan import ApplyFusionPlanPass
from ...rewrites.fusion.plan import planned_functions
from ...rewrites.fusion.plan_fusion import plan_function
from ...rewrites.fusion.rules import GroupRule
from ..programs.ir_generators import RandomChooser, TensorSpec, function_text
from ..programs.program_generators import Program, random_program
from ..programs.values import arrays_of
from .checking import Settings
from .compare import difference, outcome_of, says_something
from .reporting import Report, counterexample

OPS: tuple[int, ...] = (3, 5, 8, 12)
"""Lengths of the programs."""

MOST_OPS = 256
"""Ops of one group, as `plan-fusion` has it."""


def rows_program(seed: int) -> Program:
    """
    Reductions of the same rows, one after the other, with maps between: a softmax or a normalisation in elementary ops.
    """
    choose = RandomChooser(seed)
    rank = choose.integer(1, 3)
    shape = tuple(choose.integer(1, 5) for _ in range(rank))
    axis, dtype = choose.integer(0, rank - 1), choose.element(("f32", "f64"))
    whole, rows = TensorSpec(shape, dtype), TensorSpec((*shape[:axis], 1, *shape[axis + 1 :]), dtype)
    first, then = choose.element(("max", "mean", "sum")), choose.element(("exp", "square", "abs"))
    second, last = choose.element(("sum", "mean", "max")), choose.element(("divide", "subtract"))
    lines = [
        f"%m = graph.{first} %x, axis = [{axis}], keepdims = true : ({whole}) -> {rows}",
        f"%d = graph.subtract %x, %m : ({whole}, {rows}) -> {whole}",
        f"%e = graph.{then} %d : ({whole}) -> {whole}",
        f"%s = graph.{second} %e, axis = [{axis}], keepdims = true : ({whole}) -> {rows}",
        f"%r = graph.{last} %e, %s : ({whole}, {rows}) -> {whole}",
    ]
    text = function_text("main", [("%x", whole)], lines, [("%r", whole)])
    return Program(text, [arrays_of(seed, shape, dtype, "moderate")], [], 1.0)


def siblings_program(seed: int) -> Program:
    """Reductions of the same rows of what is computed from one tensor, side by side, and a map of two of them."""
    choose = RandomChooser(seed)
    shape = tuple(choose.integer(1, 5) for _ in range(choose.integer(1, 3)))
    axis, dtype = choose.integer(0, len(shape) - 1), choose.element(("f32", "f64"))
    whole, rows = TensorSpec(shape, dtype), TensorSpec((*shape[:axis], 1, *shape[axis + 1 :]), dtype)
    kinds = [choose.element(("max", "min", "mean", "sum")) for _ in range(3)]
    lines = [f"%e = graph.{choose.element(('exp', 'square', 'abs'))} %x : ({whole}) -> {whole}"]
    for number, kind in enumerate(kinds):
        lines.append(f"%r{number} = graph.{kind} %e, axis = [{axis}], keepdims = true : ({whole}) -> {rows}")
        if number == 1:
            lines.append(f"%m = graph.maximum %r0, %r1 : ({rows}, {rows}) -> {rows}")
    text = function_text("main", [("%x", whole)], lines, [("%r0", rows), ("%m", rows), ("%r2", rows)])
    return Program(text, [arrays_of(seed, shape, dtype, "moderate")], [], 1.0)


def attention_program(seed: int) -> Program:
    """Two products with a softmax of the rows of the first one between them, and moves of an operand and the result."""
    choose = RandomChooser(seed)
    heads, rows, keys, size = (choose.integer(least, least + 4) for least in (1, 2, 2, 2))
    q, k = TensorSpec((heads, rows, size), "f32"), TensorSpec((heads, keys, size), "f32")
    turned, scores = TensorSpec((heads, size, keys), "f32"), TensorSpec((heads, rows, keys), "f32")
    moved = TensorSpec((rows, heads, size), "f32")
    lines = [
        f"%t = graph.permute_dims %k, axes = [0, 2, 1] : ({k}) -> {turned}",
        f"%s = graph.matmul %q, %t : ({q}, {turned}) -> {scores}",
        f"%p = graph.softmax %s, axis = 2 : ({scores}) -> {scores}",
        f"%o = graph.matmul %p, %v : ({scores}, {k}) -> {q}",
        f"%r = graph.permute_dims %o, axes = [1, 0, 2] : ({q}) -> {moved}",
    ]
    return _on_tensors(seed, [("%q", q), ("%k", k), ("%v", k)], lines, moved)


def residual_program(seed: int) -> Program:
    """A product whose result is added to a map of another tensor, and a map of the sum."""
    choose = RandomChooser(seed)
    rows, terms, columns = (choose.integer(1, 5) for _ in range(3))
    x, w, z = TensorSpec((rows, terms), "f32"), TensorSpec((terms, columns), "f32"), TensorSpec((rows, columns), "f32")
    first, last = choose.element(("relu", "negative", "square")), choose.element(("abs", "relu", "exp"))
    lines = [
        f"%m = graph.{first} %z : ({z}) -> {z}",
        f"%p = graph.matmul %x, %w : ({x}, {w}) -> {z}",
        f"%s = graph.{choose.element(('add', 'multiply'))} %p, %m : ({z}, {z}) -> {z}",
        f"%r = graph.{last} %s : ({z}) -> {z}",
    ]
    return _on_tensors(seed, [("%x", x), ("%w", w), ("%z", z)], lines, z)


def _on_tensors(seed: int, inputs: list[tuple[str, TensorSpec]], lines: list[str], result: TensorSpec) -> Program:
    """A program on f32 tensors whose result is `%r`."""
    arrays = [arrays_of(seed + number, spec.shape, "f32", "moderate") for number, (_, spec) in enumerate(inputs)]
    return Program(function_text("main", inputs, lines, [("%r", result)]), arrays, [], 1.0)


PROGRAMS = (rows_program, attention_program, siblings_program, residual_program, attention_program)
"""Programs for rules that random ones seldom meet. They come in turn, one in five."""


class GroupRuleCheck:
    """One group rule being tested, by itself and together with the other rules of its file."""

    def __init__(self, ctx: Context, rule: GroupRule, rules: Sequence[GroupRule], settings: Settings):
        self._ctx = ctx
        self._rule = rule
        self._rules = rules
        self._settings = settings
        # Fusion moves ops into functions and changes no bit.
        self.report = Report(Rule(rule.name, Op(()), (), numerics="exact", doc=rule.doc))

    def run(self) -> Report:
        """Draws programs until the rule has applied in `cases` of them or one is different."""
        report, cases = self.report, self._settings.cases
        while report.applied < cases and report.tried < 8 * cases + 80:
            number = report.tried
            report.tried += 1
            seed = crc32(f"{self._rule.name}/{self._settings.seed}/{number}".encode())
            if number % 5 == 0:
                program = PROGRAMS[number // 5 % len(PROGRAMS)](seed)
            else:
                program = random_program(seed, OPS[number % len(OPS)], smooth=number % 3 != 0)
            alone = number % 2 if number % 5 else number // 5 % 3 == 0
            if not self._try(program, [self._rule] if alone else list(self._rules)):
                report.verdict = "different"
                return report
        if report.applied >= max(min(cases, 8) // 2, 1) and report.runs:
            report.verdict = "equal"
        else:
            report.reason = f"the rule applied in {report.applied} of {report.tried} programs"
        return report

    def _try(self, program: Program, rules: Sequence[GroupRule]) -> bool:
        before = parse_text(self._ctx, program.text, self._rule.name)
        module = before.clone()
        try:
            with listening(lambda diagnostic: None):
                for function in planned_functions(module):
                    plan_function(function, rules, MOST_OPS)
                if not self._has_applied(module):
                    return True
                self.report.applied += 1
                verify_module(module)
                ApplyFusionPlanPass().apply(self._ctx, module)
            verify_module(module)
        except (OperationError, StepwellError, VerifyException) as error:
            return self._tell(before, module, str(error).strip())
        wanted = outcome_of(before, program.inputs)
        self.report.own |= wanted.own
        if wanted.failure is not None:
            return True
        found = outcome_of(module, program.inputs)
        self.report.runs += says_something(wanted, "exact")
        reason = difference(wanted, found, "exact")
        if reason is None:
            return True
        self._tell(before, module, reason)
        self.report.counterexample = counterexample(before, module, program.inputs, wanted, found)
        return False

    def _tell(self, before: ModuleOp, after: ModuleOp, reason: str) -> bool:
        self.report.reason = reason
        self.report.counterexample = counterexample(before, after, (), None, None)
        return False

    def _has_applied(self, module: ModuleOp) -> bool:
        return any(op.attributes.get(GROUP_REASON) == StringAttr(self._rule.name) for op in module.walk())


def check_group_rules(rules: Sequence[GroupRule], settings: Settings, ctx: Context | None = None) -> list[Report]:
    """Tests the group rules of one file."""
    context = ctx or make_context()
    return [GroupRuleCheck(context, rule, rules, settings).run() for rule in rules]


__all__ = ["GroupRuleCheck", "check_group_rules"]
