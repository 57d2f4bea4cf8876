"""Testing rules: enough instances of each, one application, both programs in the reference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from ...core.codegens import Codegen
from ...core.ir.verification import verify_module
from ...core.messages.diagnostics import OperationError, StepwellError, listening
from ...core.text.parsing import make_context
from ...dialects.traits import is_commutative
from ...patterns.language.functions import functions_of
from ...patterns.language.match import Session
from ...patterns.language.patterns import Op, all_below
from ...patterns.language.rules import Rule
from ...patterns.matching.compiled_rule import CompiledRule, compile_rule
from ...patterns.running.partition import partition
from .application import OneApplication
from .compare import Array, Outcome, arguments_of, difference, flavours_of, outcome_of, says_something, sensitivity
from .drawing import Drawing
from .instances import Instance
from .reporting import Report, counterexample

DEFAULT_CASES: Final = 40


@dataclass(frozen=True)
class Settings:
    """
    The amount of testing: `cases` applications of each rule, from choices that `seed` fixes. At most `tries` instances
    are drawn.
    """

    seed: int = 0
    cases: int = DEFAULT_CASES

    @property
    def tries(self) -> int:
        """The most instances that are drawn for a rule."""
        return 30 * self.cases + 600


class RuleCheck:
    """One rule being tested. `target` is the code generator that is to take what a rule of a pattern table gives it."""

    def __init__(self, ctx: Context, rule: Rule, settings: Settings, target: Codegen | None = None):
        self._ctx = ctx
        self._settings = settings
        self._target = target
        self._compiled: CompiledRule = compile_rule(rule)
        self._driver = OneApplication(ctx, [] if rule.group is not None else [rule])
        self._drawing = Drawing(ctx, rule, settings.seed)
        self._in_order = {each.keys[0] for each in rule.when if each.name == "operands-in-order"}
        """Ops whose operands the rule takes in the written order only, as PDL does."""
        self.report = Report(rule)
        self._unknown = ""
        """The name of an op that nothing says the meaning of."""
        self.made: list[tuple[str, ...]] = []
        """Names of the ops that each application made."""

    def run(self) -> Report:
        """Draws instances until `cases` of them have been compared or one is different."""
        report = self.report
        while report.applied < self._settings.cases and report.tried < self._settings.tries:
            number = report.tried
            report.tried += 1
            instance = self._drawing.draw(number)
            if instance is not None and not self._try(instance, number):
                report.verdict = "different"
                return report
            if report.applied == 0 and report.tried >= self._settings.tries // 2 and not self._is_promising():
                break
        self._conclude()
        return report

    def _is_promising(self) -> bool:
        return bool(self._drawing.fruitful)

    def _conclude(self) -> None:
        report = self.report
        least = max(min(self._settings.cases, 8) // 2, 1)
        if report.applied == 0:
            report.reason = f"no instance found in {report.tried} tries"
        elif report.runs == 0 and self._unknown:
            report.reason = f"there is nothing to compare: '{self._unknown}' has no reference in NumPy, nor a te"
        elif report.runs == 0:
            report.reason = "there is nothing to compare: every program fails, is empty, or is nowhere finite"
        elif report.runs < report.applied // 8:
            report.reason = f"there is little to compare: {report.applied} programs had {report.runs} runs with results"
        elif report.applied < least:
            report.reason = f"{report.applied} instances found in {report.tried} tries, expected {least}"
        elif one_sided := self._one_sided():
            report.reason = f"operands of '{one_sided}' were tried in one order only"
        else:
            report.verdict = "equal"

    def _one_sided(self) -> str | None:
        for pattern in all_below(self.report.rule.lhs):
            counter = self._drawing.orders.get(pattern.key)
            if counter is not None and sum(counter.values()) >= 8 and len(counter) == 1:
                return " | ".join(pattern.names) if isinstance(pattern, Op) else ""
        return None

    # One instance

    def _try(self, instance: Instance, number: int) -> bool:
        """Whether the rule is right on this instance, or does not apply to it."""
        before = instance.module
        try:
            if not self._may_apply(instance):
                return True
            before = instance.module.clone()
            with listening(lambda diagnostic: None):
                applied = self._apply(instance)
            if not applied:
                return True
            self._applied(instance)
            verify_module(instance.module)
        except (OperationError, StepwellError, VerifyException) as error:
            self._tell(before, str(error).strip() or type(error).__name__, instance.module)
            return False
        except Exception as error:  # a condition or builder that cannot take what it is given is a fault of the rule
            self._tell(before, f"applying the rule fails: {type(error).__name__}: {error}", before)
            return False
        return self._compare(before, instance, number)

    def _may_apply(self, instance: Instance) -> bool:
        """A quick look, without a copy of the program."""
        rule = self.report.rule
        if instance.root is None or rule.group is not None or rule.free:
            return True
        return self._compiled.match(instance.root, Session(self._ctx, instance.module)).matched

    def _apply(self, instance: Instance) -> bool:
        rule = self.report.rule
        if rule.group is None:
            applied = self._driver.once(instance.module, instance.root)
            self.made.append(self._driver.made)
            return applied
        main = next(op for op in functions_of(instance.module) if op.sym_name.data == "main")
        made = partition(rule, main, dict(rule.group), ctx=self._ctx)
        for function in made:
            reason = None if self._target is None else self._target.why_unsupported(function)
            if reason is not None:
                raise OperationError(function, f"the code generator does not take what the rule gives it: {reason}")
        return bool(made)

    def _applied(self, instance: Instance) -> None:
        self.report.applied += 1
        if instance.dtype:
            self.report.dtypes[instance.dtype] += 1
        self._drawing.applied(instance, self._in_order)

    def _compare(self, before: ModuleOp, instance: Instance, number: int) -> bool:
        after = instance.module
        numerics = self.report.rule.numerics
        original = replace(instance, module=before)
        for place, flavour in flavours_of(before, numerics):
            arguments = arguments_of(original, 97 * number + place, flavour)
            wanted = outcome_of(before, arguments)
            self.report.own |= wanted.own
            self._unknown = wanted.unknown or self._unknown
            if wanted.failure is not None:
                continue
            found = outcome_of(after, arguments)
            self.report.own |= found.own
            self.report.runs += says_something(wanted, numerics)
            reason = difference(wanted, found, numerics)
            if reason is not None and numerics != "exact":
                reason = difference(wanted, found, numerics, sensitivity(before, arguments, wanted))
            if reason is not None:
                self._tell(before, reason, after, arguments, wanted, found)
                return False
        return True

    def _tell(
        self,
        before: ModuleOp,
        reason: str,
        after: ModuleOp,
        arguments: Sequence[Array] = (),
        wanted: Outcome | None = None,
        found: Outcome | None = None,
    ) -> None:
        self.report.reason = reason
        self.report.counterexample = counterexample(before, after, arguments, wanted, found)


def check_rule(
    rule: Rule, settings: Settings = Settings(), ctx: Context | None = None, target: Codegen | None = None
) -> Report:
    """Tests one rule. `target` is the code generator whose pattern table has it."""
    return RuleCheck(ctx or make_context(), rule, settings, target).run()


def check_rules(
    rules: Iterable[Rule],
    settings: Settings = Settings(),
    ctx: Context | None = None,
) -> list[Report]:
    """Tests rules one by one, in their order."""
    context = ctx or make_context()
    return [check_rule(rule, settings, context) for rule in rules]


__all__ = ["DEFAULT_CASES", "Report", "RuleCheck", "Settings", "check_rule", "check_rules", "is_commutative"]
