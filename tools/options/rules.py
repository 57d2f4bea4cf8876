"""The flags of `stepwell-opt` about rules: testing them, testing the tests, explaining and counting matches."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ...core.ir.verification import verify_module
from ...core.messages.diagnostics import Diagnostic, StepwellError, did_you_mean
from ...core.messages.locations import location_string
from ...core.passes.instrument import Instrument
from ...core.text.parsing import make_context, parse_text, read_source
from .rule_sets import check_rule_sets

if TYPE_CHECKING:
    from ...patterns.language.rules import Rule
    from ...rewrites.fusion.rules import GroupRule

# Imports inside functions keep the start of the command fast: patterns, rules and tests are loaded only when needed.

PASS_OF: Final = {
    "cse": "eliminate-common-subexpr",
    "simplify": "simplify-expr",
    "simplify_arithmetic": "simplify-expr",
    "logic": "simplify-expr",
    "comparisons": "simplify-expr",
    "choices": "simplify-expr",
    "cancelling": "simplify-expr",
    "signs": "simplify-expr",
    "composites": "simplify-expr",
    "reductions": "simplify-expr",
    "movement": "simplify-expr",
    "products": "simplify-expr",
    "functions": "simplify-expr",
    "ewise_fma": "fuse-ewise-fma",
    "matmul_add": "fuse-matmul-add",
    "simplify_inference": "simplify-inference",
    "canonicalize_ops": "canonicalize-ops",
    "fold_scale_axis": "fold-scale-axis",
    "integer_arithmetic": "integer-arithmetic",
}
"""The pass that runs a shipped rule file. The rules are explained on what that pass is given."""


def add_rule_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the flags."""
    group = parser.add_argument_group("rewrite rules")
    for flag, what in (
        ("--test-rules", "run every rule of FILE (the shipped ones) on random programs, in the reference"),
        (
            "--mutate-rules",
            "put faults into the rules of FILE (the shipped ones) and see whether the tests notice",
        ),
        (
            "--check-rules",
            "look at the rules of FILE (the shipped ones) together: shadowed rules, results that depend on the order,"
            " loops",
        ),
    ):
        group.add_argument(flag, metavar="FILE", nargs="?", const="", help=what)
    group.add_argument("--seed", metavar="N", type=int, default=0, help="draw other random programs or inputs")
    group.add_argument("--cases", metavar="N", type=_positive, help="apply each rule N times for these three")
    group.add_argument(
        "--explain-match", metavar="RULE[@%NAME]", help="say why a rule does not match at a value, or at any op"
    )
    group.add_argument("--pattern-stats", action="store_true", help="show tries, hits and time of every rule")


def _positive(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a positive number, found '{text}'")
    return number


def wants_rules(args: argparse.Namespace) -> bool:
    """Returns whether the command is about rules alone, without a program."""
    return any(given is not None for given in (args.test_rules, args.mutate_rules, args.check_rules))


def run_on_rules(args: argparse.Namespace, ctx: Context) -> int:
    """Tests, mutates or analyses rules, and returns the exit code."""
    for flag, given in (("-p", args.passes), ("an input file", args.input_file), ("-o", args.output_file)):
        if given:
            flags = {"--test-rules": args.test_rules, "--mutate-rules": args.mutate_rules}
            asked = next((name for name, file in flags.items() if file is not None), "--check-rules")
            raise StepwellError(Diagnostic(f"{asked} is about rules, not about a program: it goes without {flag}"))
    code = 0
    if args.test_rules is not None:
        code = _test(args, ctx)
    if args.mutate_rules is not None:
        code = max(code, _mutate(args, ctx))
    if args.check_rules is not None:
        code = max(code, check_rule_sets(args, ctx, PASS_OF))
    return code


def _rules(file: str, ctx: Context) -> Iterator[tuple[str, Rule]]:
    """The rules of a file, or of all shipped ones, with the name of their file."""
    from ...patterns.text.loading import rules_of_file
    from ...rewrites.shipped import SHIPPED, shipped_rules

    stem = file.removesuffix(".mlir")
    if file and not (stem in SHIPPED and not Path(file).exists()):
        yield from ((Path(file).stem, rule) for rule in rules_of_file(file, ctx))
        return
    for name in [stem] if file else SHIPPED:
        yield from ((name, rule) for rule in shipped_rules(name))


def _deciding_rules() -> dict[str, Sequence[Rule]]:
    """The rules of the shipped pattern tables by the names of these, and those about loops."""
    from ...rewrites.partition.pattern_tables import pattern_table, shipped_tables
    from ...schedule.default.schedule_rules import SHIPPED_FILE, shipped_schedule_rules

    tables = {name: [each.rule for each in pattern_table(name, make_context())] for name in shipped_tables()}
    return {**tables, SHIPPED_FILE.removesuffix(".mlir"): shipped_schedule_rules()}


def _all_rules(file: str, ctx: Context) -> tuple[list[tuple[str, Rule]], Sequence[GroupRule]]:
    """The rules of a file with its name, or all shipped ones with theirs, and the rules of groups."""
    deciding = _deciding_rules()
    stem = file.removesuffix(".mlir")
    if stem in deciding and not Path(file).exists():
        return [(stem, rule) for rule in deciding[stem]], ()
    groups = _group_rules(file, ctx)
    rules = [] if file in ("fusion", "fusion.mlir") and groups else list(_rules(file, ctx))
    if not file:
        rules += [(name, rule) for name, own in deciding.items() for rule in own]
    if not rules and not groups:
        raise StepwellError(Diagnostic(f"{file} has no rules"))
    return rules, groups


def _group_rules(file: str, ctx: Context) -> Sequence[GroupRule]:
    """The rules of groups of a file, or the shipped ones."""
    from ...rewrites.fusion.rules import group_rules_of_module, shipped_group_rules

    if not file or (file in ("fusion", "fusion.mlir") and not Path(file).exists()):
        return shipped_group_rules()
    if not Path(file).exists():
        return ()
    text = read_source(file)
    module = parse_text(ctx, text, file)
    verify_module(module, sources={file: text})
    return group_rules_of_module(module)


def _settings(args: argparse.Namespace, default: int) -> Any:
    from ...testing.rules.checking import Settings

    return Settings(args.seed, args.cases or default)


def _test(args: argparse.Namespace, ctx: Context) -> int:
    from ...core.codegens import codegen_names, find_codegen
    from ...testing.rules.checking import DEFAULT_CASES, check_rule
    from ...testing.rules.decision_checking import DecisionCheck
    from ...testing.rules.group_checking import GroupRuleCheck
    from ...testing.rules.reporting import report_text, summary

    settings, reports = _settings(args, DEFAULT_CASES), []
    rules, groups = _all_rules(args.test_rules, ctx)
    for file, rule in rules:
        if rule.decisions:
            report = DecisionCheck(ctx, rule, settings).run()
            if report.applied == 0:
                print(f"-     {rule.name}: it decides nothing about the loops of {report.tried} random programs")
                continue
        else:
            target = find_codegen(file) if rule.group is not None and file in codegen_names() else None
            report = check_rule(rule, settings, ctx, target)
        reports.append(report)
        print(report_text(reports[-1]), flush=True)
    for group in groups:
        reports.append(GroupRuleCheck(ctx, group, groups, settings).run())
        print(report_text(reports[-1]), flush=True)
    print(summary(reports))
    return 0 if all(report.is_good for report in reports) else 1


def _mutate(args: argparse.Namespace, ctx: Context) -> int:
    from ...testing.rules.filechecked import CHECKOUT, FileCheckTests
    from ...testing.rules.mutation import LEAST_CAUGHT, MutationSummary, shipped_reasons, stale

    file, reports = args.mutate_rules, list[Any]()
    rules, groups = _all_rules(file, ctx)
    # Survivors among the shipped rules are to have a reason. Without FileCheck tests there are more of them.
    is_whole = not Path(file).is_file() and CHECKOUT.is_dir()
    names = {rule.name for _, rule in rules} | {group.name for group in groups}
    reasons = {key: reason for key, reason in shipped_reasons().items() if key[0] in names}
    given = {"reasons": reasons, "tests": FileCheckTests(ctx) if is_whole else None}
    for report in _mutants(args, ctx, rules, groups, given):
        reports.append(report)
        if report.fate == "survived":
            print(report, flush=True)
    found = MutationSummary(reports)
    outdated = stale(reports, reasons) if is_whole else []
    for entry in outdated:
        print(f"stale      {entry}: listed as equivalent, but it is caught or does not exist")
    print(*found.by_file(), found, sep="\n")
    unexplained = found.unexplained if is_whole else []
    return 1 if found.share < LEAST_CAUGHT or outdated or unexplained else 0


def _mutants(
    args: argparse.Namespace, ctx: Context, rules: Sequence[Any], groups: Sequence[GroupRule], given: Mapping[str, Any]
) -> Iterator[Any]:
    from ...testing.rules.mutation import check_group_mutants, check_mutants

    settings = _settings(args, MUTANT_CASES)
    yield from check_mutants(rules, settings, ctx=ctx, **given)
    yield from check_group_mutants(groups, settings, ctx=ctx, **given)


MUTANT_CASES: Final = 25


# Explaining and counting


def rule_instruments(args: argparse.Namespace, passes: Sequence[ModulePass], ctx: Context) -> list[Instrument]:
    """What `--explain-match` and `--pattern-stats` ask for."""
    found: list[Instrument] = []
    if args.explain_match is not None:
        found.append(ExplainMatch(args.explain_match, passes, ctx))
    if args.pattern_stats:
        found.append(PatternStatistics())
    return found


class ExplainMatch(Instrument):
    """
    Says why a rule does not match, on the program as the pass that has the rule is given it. Without such a pass in the
    pipeline, it looks at the input.
    """

    def __init__(self, target: str, passes: Sequence[ModulePass], ctx: Context):
        name, self._at, value = target.partition("@")
        self._hint = value.removeprefix("%")
        if self._at and not self._hint:
            raise StepwellError(Diagnostic(f"--explain-match is '{target}', expected RULE or RULE@%name"))
        self._rule, self._pass = _find_rule(name, passes, ctx)
        self._ctx = ctx
        self._report: str | None = None

    def before_pipeline(self, passes: Sequence[ModulePass], module: ModuleOp) -> None:
        if self._pass is None:
            self._explain(module)

    def before_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        if self._report is None and pass_ == self._pass:
            self._explain(module)

    def _explain(self, module: ModuleOp) -> None:
        from ...patterns.language.match import Session
        from ...patterns.matching.tracing import value_name
        from ...patterns.running.explain import explain

        rule, lines = self._rule, []
        session = Session(self._ctx, module)
        for op in self._places(module):
            head = f"{location_string(op)}: rule '{rule.name}' at {value_name(op.results[0])} = '{op.name}'"
            lines.append(f"{head}: {explain(rule, op, session=session)}")
        self._report = "\n".join(lines) or f"rule '{rule.name}': no op of the program may be its root"

    def _places(self, module: ModuleOp) -> list[Operation]:
        from ...patterns.matching.matcher import root_names

        ops = [op for op in module.walk() if op.results]
        if not self._at:
            names = root_names(self._rule.lhs)
            return [op for op in ops if not names or op.name in names]
        found = [op for op in ops if any(value.name_hint == self._hint for value in op.results)]
        if not found:
            known = [value.name_hint for op in ops for value in op.results if value.name_hint is not None]
            hint = did_you_mean(self._hint, known)
            raise StepwellError(Diagnostic(f"no op has a result called %{self._hint}", hint=hint))
        return found

    def report(self) -> str:
        if self._report is None and self._pass is not None:
            return f"rule '{self._rule.name}': the pass '{self._pass.name}' did not run"
        return self._report or ""


def _find_rule(name: str, passes: Sequence[ModulePass], ctx: Context) -> tuple[Rule, ModulePass | None]:
    """The rule, of the files that the passes name first, and the pass that runs it."""
    from ...rewrites.shipped import SHIPPED, shipped_rules

    known: dict[str, tuple[Rule, ModulePass | None]] = {}
    for pass_ in passes:
        file = getattr(pass_, "file", None)
        if pass_.name in ("apply-patterns", "partition-pattern") and isinstance(file, str):
            for _, rule in _rules(file, ctx):
                known.setdefault(rule.name, (rule, pass_))
    for stem in SHIPPED:
        runs_it = next((pass_ for pass_ in passes if pass_.name == PASS_OF.get(stem)), None)
        for rule in shipped_rules(stem):
            known.setdefault(rule.name, (rule, runs_it))
    if name not in known:
        hint = did_you_mean(name, known) or "docs/rules.md lists the shipped rules"
        raise StepwellError(Diagnostic(f"unknown rule '{name}'", hint=hint))
    return known[name]


class PatternStatistics(Instrument):
    """Tries, hits and time of every rule that was tried, over the whole pipeline."""

    def __init__(self) -> None:
        self._scope: AbstractContextManager[Any] | None = None
        self._collected: Any = {}

    def before_pipeline(self, passes: Sequence[ModulePass], module: ModuleOp) -> None:
        from ...patterns.running.statistics import collecting_pattern_statistics

        self._scope = collecting_pattern_statistics()
        self._collected = self._scope.__enter__()

    def finish(self) -> None:
        if self._scope is not None:
            self._scope.__exit__(None, None, None)
            self._scope = None

    def report(self) -> str:
        from ...patterns.running.statistics import statistics_table

        return statistics_table(self._collected)


__all__ = ["add_rule_flags", "rule_instruments", "run_on_rules", "wants_rules"]
