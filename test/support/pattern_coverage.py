"""
The rows of docs/pattern_coverage.md: which cases and tests cover a construct of the pattern language, and how they use
it.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType

from pattern_cases_larger import CASES
from stepwell.dialects.pattern import Pattern as PatternDialect
from stepwell.patterns.language import chains, combinators, constraints, loops, patterns, rules, structures
from stepwell.patterns.language.patterns import Pattern, all_below

ROOT = Path(__file__).resolve().parents[2]
UNIT = ROOT / "test" / "unit"
SUPPORT = ROOT / "test" / "support"
COVERAGE = "patterns/test_coverage.py"
COLUMNS = {
    "positive": "test_matches",
    "negative": "test_does_not_match",
    "partition": "test_partitions",
    "rewrite": "test_rewrites",
}
FORMS = ("python", "text")


@dataclass(frozen=True)
class Row:
    """
    A construct: its rows of the feature list, its names in both forms, and the cases that are about it.

    `tests`: for `form` or `form.column` tests of other files instead of cases. `none`: the same, with a reason why
    there is no test.
    """

    title: str
    features: str
    python: tuple[str, ...]
    text: tuple[str, ...]
    cases: tuple[str, ...] = ()
    tests: dict[str, str] = field(default_factory=dict)
    none: dict[str, str] = field(default_factory=dict)

    def cell(self, form: str, column: str) -> tuple[tuple[str, ...], str]:
        """The tests of a cell, or none and the reason."""
        for place in (f"{form}.{column}", column, form):
            if place in self.none:
                return (), self.none[place]
        for place in (f"{form}.{column}", column, form):
            if place in self.tests:
                return tuple(self.tests[place].split()), ""
        return tuple(f"{COVERAGE}::{COLUMNS[column]}[{form}-{name.replace(' ', '-')}]" for name in self.cases), ""


RIGHT = "patterns/test_right_sides.py"
MAKES = {
    "partition": "a rule for partitioning has no right side",
}

LOOPS = {"positive": "patterns/test_loops.py::test_matches", "negative": "patterns/test_loops.py::test_does_not_match"}
DECIDES = {
    "partition": "blocks become no function (`test_no_function_is_made_of_blocks`)",
    "rewrite": "a rule about loops decides, and `apply-patterns` refuses it (`test_other_passes_refuse_decisions`)",
}

ROWS = (
    Row("op by name", "S4-1", ("Op", "is_op", "op"), ("op",),
        ("op", "op of any operands", "op of one of several names")),
    Row("any op", "S4-1", ("Op",), ("any_op",), ("any op",)),
    Row("alternatives", "S4-2", ("Or",), ("or",), ("or",)),
    Row("any value", "S4-3", ("Any_", "wildcard"), ("any",), ("any",), none={"negative": "it matches every value"}),
    Row("the same value twice", "S4-4", ("Any_",), ("any",), ("same value",)),
    Row("commutative operands", "S4-5", ("Op",), ("op",), ("commutative", "not commutative", "nested commutative")),
    Row("product and quotient in any association", "S4-6", ("Associative", "assoc", "associative"), ("assoc",),
        ("assoc", "assoc of a product", "assoc with the quotient first"),
        {"python.negative": (f"{COVERAGE}::test_does_not_match[python-assoc] "
                             "patterns/test_larger_rules.py::test_assoc_is_never_exact")}),
    Row("kind of an op", "S4-7", ("HasKind", "has_kind"), ("has_kind",), ("has_kind",)),
    Row("attributes of an op", "S4-8", ("HasAttr", "has_attr"), ("has_attr",),
        ("has_attr", "has_attr of a list", "has_attr of a type", "has_attr of nothing")),
    Row("attributes with an op", "S4-8", ("Op",), ("op",), ("attribute of an op",)),
    Row("attributes of a function", "S4-9", ("Function",), ("function",), ("attribute of a function",)),
    Row("optional op", "S4-10", ("optional",), ("or",), ("optional",)),
    Row("element type", "S4-11", ("HasDtype", "has_dtype"), ("has_dtype",), ("has_dtype",)),
    Row("shape", "S4-11, S4-12", ("HasShape", "has_shape"), ("has_shape",),
        ("has_shape", "has_shape of a size", "has_shape of rank 0")),
    Row("type", "S4-11", ("HasType", "has_type"), ("has_type",), ("has_type",)),
    Row("operands in any number", "S4-13", ("Rest",), ("rest",), ("rest",)),
    Row("operands in a given number (tuple)", "S4-13", ("Op",), ("op",), ("three operands",)),
    Row("one of several results (tuple item)", "S4-14", ("Result", "result"), ("result",),
        ("result", "result of a call", "if of two results")),
    Row("function", "S4-15", ("Function", "Call", "call"), ("function", "call"),
        ("function", "function of two results", "function of one result")),
    Row("function of any parameters", "S4-16", ("Function",), ("function",), ("function of any parameters",)),
    Row("call", "S4-15, S4-16", ("Call", "call"), ("call",), ("call by name", "call of any", "call of two operands")),
    Row("fuzzy body", "S4-17", ("Function", "Any_"), ("function", "any"), ("fuzzy body",)),
    Row("constant", "S4-18, S4-49", ("Constant",), ("constant",), ("constant",)),
    Row("constant of one number", "S4-19", ("Splat",), ("splat",), ("splat", "splat of negative zero")),
    Row("literal", "S4-19", ("Literal", "literal"), ("literal",), ("literal",)),
    Row("whole expression", "S4-19", ("Expression", "is_expr"), ("expression", "returns"), ("expression",)),
    Row("argument (variable)", "S4-20", ("Argument",), ("argument",),
        ("argument", "argument by index", "argument by name")),
    Row("branch", "S4-21", ("If",), ("if",),
        ("if", "if of two results", "a result of a branch by what is yielded for it")),
    Row("let", "S4-22", ("Or",), ("or",), ("value then use",)),
    Row("diamond", "S4-23", ("Op",), ("op",), ("diamond",)),
    Row("dominator", "S4-24, S4-25, S4-27", ("Dominates", "dominates"), ("dominates",), ("dominates",)),
    Row("typed dominator", "S4-26", ("Dominates", "HasDtype", "HasShape"), ("dominates", "has_dtype", "has_shape"),
        ("dominates, typed",)),
    Row("conjunction", "S4-30", ("And",), ("and",), ("and",)),
    Row("negation", "S4-30", ("Not",), ("not",), ("not", "not the same")),
    Row("named condition of a value", "S4-30", ("Holds", "holds", "Where"), ("holds",), ("holds",)),
    Row("single use", "S4-30", ("single_use",), ("holds",), ("single_use",)),
    Row("same shape", "S4-30", ("same_shape",), ("holds",), ("same_shape",)),
    Row("same type", "S4-30", ("same_type",), ("holds",), ("same_type of what comes later",)),
    Row("used by, fork", "S4-30", ("used_by", "Together"), ("together",), ("used_by", "fork")),
    Row("only used by", "S4-30", ("only_used_by",), ("together", "holds"), ("only_used_by",)),
    Row("several roots", "S4-30", ("Together",), ("op",), ("several roots",)),
    Row("several ops that share a value", "S4-30", ("together",), ("together",),
        ("two users of one form are two ops",)),
    Row("copy of a pattern", "S4-30", ("dup",), ("op",), ("dup",)),
    Row("call of a loop function", "S4-31", ("call",), ("call",), (), {
        "python": "patterns/test_larger_rules.py::test_a_call_of_a_kernel_by_name[python]",
        "text": "patterns/test_larger_rules.py::test_a_call_of_a_kernel_by_name[text]"}),
    Row("captured attribute", "S4-8", ("Capture",), ("attribute",), ("captured attribute",)),
    Row("any result", "L-17", ("Result", "result"), ("result",), ("any result",)),
    Row("operands in any order", "L-17", ("Op", "unordered"), ("op",), ("unordered", "unordered with a rest")),
    Row("all operands that are left", "L-17", ("Rest",), ("rest",), ("each of the rest",)),
    Row("chain of any length", "L-17", ("Chain", "chain"), ("chain",),
        ("chain", "chain of none", "chain of steps", "chain of two operands")),
    Row("comparison of numbers", "L-17", ("compare",), ("require",), ("compare", "compare attributes")),
    Row("contrary of a condition", "L-17", ("negated",), ("require",), ("not a condition", "not a comparison")),
    Row("attribute that is computed", "L-17", ("Computed", "compute"), ("compute",), (), {
        "positive": "patterns/test_numbers.py::test_a_computed_attribute",
        "negative": "patterns/test_numbers.py::test_a_computed_attribute",
        "rewrite": "patterns/test_numbers.py::test_a_computed_attribute"}, MAKES),
    Row("single user", "L-17", ("single_user",), ("holds",), ("single_user",)),
    Row("axis of a block, loop variable", "L-17", ("Axis",), ("axis",), (), LOOPS, DECIDES),
    Row("block", "L-17", ("Loops", "block"), ("block",), (), LOOPS, DECIDES),
    Row("loops, one in another", "L-17", ("Loops", "nest"), ("nest",), (), LOOPS, DECIDES),
    Row("loop function", "L-17", ("Loops", "kernel"), ("kernel",), (), LOOPS, DECIDES),
    Row("decision", "L-17", ("Decide", "decide", "decision_rule"), ("decide",), (), {
        "python.positive": "patterns/test_loop_decisions.py::test_python_computes_as_the_text_does",
        "python.negative": "patterns/test_loop_decisions.py::test_what_is_wrong_in_python",
        "text.positive": "test/filecheck/schedule/rules/normal_form.mlir",
        "text.negative": "patterns/test_loops.py::test_does_not_match"}, DECIDES),
    Row("named condition of a rule", "S4-51", ("Require", "require"), ("require",), ("require",)),
    Row("new op", "S4-40", ("Create", "create"), ("create", "rewrite", "yield"), (), {
        "python.positive": f"{RIGHT}::test_right_side[create-python]",
        "text.positive": f"{RIGHT}::test_right_side[create-text]",
        "python.negative": f"{RIGHT}::test_wrong_right_side_in_python",
        "text.negative": f"{RIGHT}::test_wrong_right_side_in_text",
        "rewrite": f"{RIGHT}::test_right_side"}, MAKES),
    Row("named builder", "S4-40", ("Build",), ("build",), (), {
        "python.positive": f"{RIGHT}::test_right_side[build-python]",
        "text.positive": f"{RIGHT}::test_right_side[build-text]",
        "python.negative": f"{RIGHT}::test_wrong_right_side_in_python",
        "text.negative": f"{RIGHT}::test_wrong_right_side_in_text",
        "rewrite": f"{RIGHT}::test_right_side"}, MAKES),
    Row("value that is kept", "S4-40", ("Bound",), ("replace",), (), {
        "python.positive": f"{RIGHT}::test_right_side[bound-python]",
        "text.positive": f"{RIGHT}::test_right_side[bound-text]",
        "python.negative": f"{RIGHT}::test_wrong_right_side_in_python",
        "text.negative": f"{RIGHT}::test_wrong_right_side_in_text",
        "rewrite": f"{RIGHT}::test_right_side"}, MAKES),
    Row("several values in place of several", "S4-40", ("rule",), ("rewrite", "yield"), (), {
        "positive": f"{RIGHT}::test_right_side", "negative": f"{RIGHT}::test_a_result_of_another_number_is_an_error",
        "rewrite": f"{RIGHT}::test_right_side"}, MAKES),
    Row("rule", "S4-40, S4-41", ("Rule", "rule"), ("rule",), (), {
        "python.positive": "patterns/test_engine.py::test_deep_patterns_are_tried_again_at_distant_users",
        "python.negative": "patterns/test_engine.py::test_unknown_numerics_class",
        "text.positive": "patterns/test_engine.py::test_text_and_python_are_the_same_rules",
        "text.negative": "test/filecheck/dialects/pattern/pattern_invalid.mlir",
        "python.partition": f"{COVERAGE}::test_partitions[python-op]",
        "text.partition": f"{COVERAGE}::test_partitions[text-op]",
        "python.rewrite": f"{COVERAGE}::test_rewrites[python-op]",
        "text.rewrite": f"{COVERAGE}::test_rewrites[text-op]"}),
    Row("pattern for partitioning", "S4-45, S4-50", ("Rule",), ("partition",), (), {
        "python": f"{COVERAGE}::test_partitions", "text": f"{COVERAGE}::test_partitions",
        "text.positive": "test/filecheck/rewrites/partition_pattern/larger.mlir",
        "text.negative": "test/filecheck/rewrites/partition_pattern/partition_pattern.mlir"},
        {"rewrite": "has no right side; `apply-patterns` refuses it (partition_pattern.mlir)"}),
)  # fmt: skip

USES: tuple[tuple[str, str, str, str], ...] = (
    ("match, with bindings and arms", "S4-29", "patterns/test_constructs.py::test_bindings_and_arms",
     "patterns/test_coverage.py::test_matches[text-op]"),
    ("all values of a path", "S4-27", "patterns/test_constructs.py::test_values_of_a_path_in_program_order",
     "patterns/test_coverage.py::test_matches[text-dominates]"),
    ("dominators never crash", "S4-28", "patterns/test_larger_rules.py::test_dominators_never_crash",
     "patterns/test_larger_rules.py::test_dominators_never_crash"),
    ("explain", "S4-32", "patterns/test_larger_rules.py::test_explain_names_the_op_and_the_condition",
     "patterns/test_constructs.py::test_explain_in_a_module"),
    ("callback", "S4-40",
     ("patterns/test_sweeps.py::test_callback_makes_the_replacement "
      "patterns/test_sweeps.py::test_callback_may_change_nothing"), ""),
    ("rewrite to the end", "S4-41, S4-44",
     ("patterns/test_sweeps.py::test_algebra_until_nothing_changes "
      "patterns/test_sweeps.py::test_rules_that_alternate_are_named"),
      "test/filecheck/rewrites/apply_patterns/apply_patterns_invalid.mlir"),
    ("rewrite once", "S4-42",
     "patterns/test_sweeps.py::test_a_rule_that_makes_its_pattern_again_retires_after_one_sweep", ""),
    ("outer match wins", "S4-43", "patterns/test_sweeps.py::test_outer_match_wins",
     "test/filecheck/rewrites/partition_pattern/partition_pattern.mlir"),
    ("partition", "S4-45", "rewrites/test_partition.py::test_a_match_becomes_a_function",
     "test/filecheck/rewrites/partition_pattern/partition_pattern.mlir"),
    ("values used outside", "S4-46",
     ("rewrites/test_partition.py::test_use_outside_rejects "
      "rewrites/test_partition.py::test_outside_use_that_comes_back_is_computed_twice"),
      "test/filecheck/rewrites/partition_pattern/partition_pattern.mlir"),
    ("overlapping matches", "S4-47", "rewrites/test_partition.py::test_overlapping_matches",
     "test/filecheck/rewrites/partition_pattern/partition_pattern.mlir"),
    ("parameters in order, each once", "S4-48",
     "rewrites/test_partition.py::test_parameters_in_order_of_the_pattern_each_once",
     "rewrites/test_partition_functions.py::test_any_number_of_operands"),
    ("constants embedded or lifted", "S4-49", "rewrites/test_partition.py::test_constants_are_embedded_or_lifted",
     "patterns/test_coverage.py::test_partitions[text-constant]"),
    ("attributes and check", "S4-50, S4-51", "rewrites/test_partition.py::test_attributes_and_check",
     "test/filecheck/rewrites/partition_pattern/partition_pattern.mlir"),
    ("partitioned functions are skipped", "S4-52", "rewrites/test_partition.py::test_partitioned_functions_are_skipped",
     "test/filecheck/rewrites/partition_pattern/partition_pattern.mlir"),
    ("a function as root is left", "S4-53", "rewrites/test_partition.py::test_function_pattern_as_root_warns", ""),
    ("fuzzy operands, arguments, bodies, optional calls", "S4-54",
     "rewrites/test_partition_functions.py::test_any_number_of_operands "
     "rewrites/test_partition_functions.py::test_any_number_of_function_arguments "
     "rewrites/test_partition_functions.py::test_function_by_its_parameters "
     "rewrites/test_partition_functions.py::test_what_a_fuzzy_body_absorbs_stays_in_the_function "
     "rewrites/test_partition_functions.py::test_optional_call_of_a_function "
     "rewrites/test_partition_functions.py::test_function_in_the_body_of_a_function",
     "rewrites/test_partition_functions.py::test_what_a_fuzzy_body_absorbs_stays_in_the_function"),
    ("normalization by hand", "S4-60", "rewrites/test_partition_functions.py::test_normalization_in_any_association",
     "rewrites/test_partition_functions.py::test_normalization_in_any_association"),
    ("algebraic simplification", "S4-61", "patterns/test_sweeps.py::test_algebra_until_nothing_changes",
     "test/filecheck/rewrites/apply_patterns/shipped_file.mlir"),
    ("names stand for different values (injective)", "L-17",
     "patterns/test_reach.py::test_two_results_of_one_op_are_different_in_an_injective_rule "
     "patterns/test_jumping_back.py::test_the_first_match_is_found",
     "patterns/test_reach.py::test_names_of_an_injective_rule_are_those_of_different_values "
     "test/filecheck/rewrites/apply_patterns/reach.mlir"),
    ("names of sizes, formulas over them", "L-17", "patterns/test_numbers.py::test_rules_in_python_compare_and_compute",
     "patterns/test_numbers.py::test_an_equation_with_numbers_is_written_as_it_is_read "
     "test/filecheck/rewrites/apply_patterns/numbers.mlir"),
    ("chain of a pattern with a name", "L-17",
     "patterns/test_reach.py::test_a_chain_of_steps_that_a_function_makes",
     "patterns/test_reach.py::test_a_chain_of_a_pattern_that_the_file_defines"),
    ("ops with effects are left, unless told", "L-17",
     "patterns/test_effects.py::test_root_with_an_effect patterns/test_effects.py::test_new_op_with_an_effect "
     "patterns/test_effects.py::test_partition patterns/test_pattern_fuzz.py::test_effects_as_the_slow_matcher",
     "test/filecheck/rewrites/apply_patterns/effects.mlir"),
    ("partitioned and composite functions are left, unless told", "L-17",
     "patterns/test_effects.py::test_closed_functions",
     "test/filecheck/rewrites/apply_patterns/closed_functions.mlir"),
    ("a replacement of another type is refused", "L-17",
     "patterns/test_right_sides.py::test_a_result_of_another_number_is_an_error "
     "patterns/test_right_sides.py::test_a_result_of_another_type_is_no_match_or_an_error",
     "patterns/test_right_sides.py::test_a_result_of_another_type_is_no_match_or_an_error"),
    ("unknown names", "S4-1", "patterns/test_larger_rules.py::test_an_unknown_op_is_an_error_with_a_context",
     "patterns/test_larger_rules.py::test_an_unknown_op_in_text_is_an_error_with_its_place"),
)  # fmt: skip
"""
What is done with patterns: subject, rows of the feature list, tests in Python, tests of the text form or the command
line.
"""

NO_TEXT = {
    "callback": "a Python function by its nature",
    "rewrite once": "a property of the Python call; passes run to the end",
    "a function as root is left": "the loader refuses such a rule",
}

NOT_CONSTRUCTS = {
    "Pattern": "base class", "Test": "base class", "subpatterns": "walks patterns", "all_below": "walks patterns",
    "depth": "walks patterns", "bottom_up": "walks patterns", "at_the_value": "walks patterns",
    "picks_result": "walks patterns",
    "is_far_reaching": "walks patterns", "fresh_key": "makes keys", "form": "registers patterns",
    "frozen": "makes values hashable",
    "all_key": "makes keys", "keys_of_many": "walks patterns",
    "argument_name": "reads programs",
    "arguments_of": "reads programs", "axis_of": "reads programs", "parts_of": "reads programs",
    "attribute_of": "reads programs", "described": "text of messages", "same_attribute": "compares attributes",
    "has_attribute": "compares attributes",
    "expression_names": "reads patterns", "numerics_of": "reads programs",
    "as_operands": "numbers as constants",
    "root_pattern": "one root or several", "certain_parts": "walks patterns", "parts": "walks patterns",
}  # fmt: skip
"""Public names of the five modules that are no constructs, and what they are."""

GROUP_RULES = frozenset({"group", "group_rule", "merge_groups", "require_groups"})
"""
Ops of rules over groups of a fusion plan: another language in the same dialect, documented and tested in
docs/fusion.md.
"""

DEFINITIONS = frozenset({"define", "gives"})
"""Ops of patterns that equations share: they become the ops that they hold, and `test_equations.py` tests them."""


# What there is


def python_names() -> set[str]:
    """The public classes and functions of the pattern modules, and the public methods of patterns."""
    found: set[str] = set()
    for module in (patterns, constraints, structures, combinators, chains, loops, rules):
        found |= set(_public(module))
    for kind in (Pattern, patterns.Op, structures.Call, structures.If):
        found |= {name for name, thing in vars(kind).items() if not name.startswith("_") and inspect.isfunction(thing)}
    return found


def _public(module: ModuleType) -> Iterator[str]:
    for name, thing in vars(module).items():
        here = getattr(thing, "__module__", None) == module.__name__
        if not name.startswith("_") and here and (inspect.isclass(thing) or inspect.isfunction(thing)):
            yield name


def text_names() -> set[str]:
    """The ops of the pattern dialect."""
    return {op.name.removeprefix("pattern.") for op in PatternDialect.operations}


# How tests use it


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def _definitions(path: Path) -> dict[str, ast.AST]:
    """Names of a module with the statements that define them."""
    found: dict[str, ast.AST] = {}
    for statement in _tree(path).body:
        match statement:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found[name] = statement
            case ast.Assign(targets=targets):
                names = (each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name))
                found.update(dict.fromkeys(names, statement))
            case ast.Expr() | _:
                pass
    return found


def source_around(path: Path, start: ast.AST) -> str:
    """The source of a node, and of all that it names in its module."""
    definitions, done, stack, parts = _definitions(path), set[int](), [start], list[str]()
    while stack:
        node = stack.pop()
        if id(node) in done:
            continue
        done.add(id(node))
        parts.append(ast.unparse(node))
        for each in ast.walk(node):
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                parts.append(each.value)  # unparsed, line ends in it would join what stands around them
            if isinstance(each, ast.Name) and each.id in definitions:
                stack.append(definitions[each.id])
    return "\n".join(parts)


@cache
def case_source(name: str) -> str:
    """What makes the Python pattern of a case, as source, with the classes of all its parts."""
    for path in sorted(SUPPORT.glob("pattern_cases*.py")):
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Case" and _first(node) == name:
                given = [*node.args[1:2], *(each.value for each in node.keywords if each.arg == "when")]
                source = "\n".join(source_around(path, each) for each in given)
                return source + " " + " ".join(_classes(name))
    raise KeyError(name)


def _first(node: ast.Call) -> object:
    return node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None


def _classes(name: str) -> Iterator[str]:
    (case,) = [case for case in CASES if case.name == name]
    roots = case.pattern if isinstance(case.pattern, tuple) else (case.pattern,)
    yield from (type(each).__name__ for each in case.when)
    if len(roots) > 1:
        yield "Together"
    for root in roots:
        for part in all_below(root):
            yield type(part).__name__
            yield from (type(getattr(part, "test")).__name__,) if hasattr(part, "test") else ()  # noqa: B009


def uses(test: str, form: str, name: str) -> bool:
    """Whether a test, `file::function[id]` or a file, uses the construct `name` of a form."""
    wanted = rf"\b{name}\b" if form == "python" else rf"\bpattern\.{name}\b"
    if test.endswith(".mlir"):
        folder = (ROOT / test).parent
        texts = [ROOT / test, *folder.glob("*.rules")]
        return any(re.search(wanted, path.read_text(encoding="utf-8")) for path in texts)
    file, _, rest = test.partition("::")
    function, _, parameters = rest.partition("[")
    if file == COVERAGE and parameters:
        case_name = parameters.removesuffix("]").partition("-")[2]
        (case,) = [case for case in CASES if case.name.replace(" ", "-") == case_name]
        source = case_source(case.name) if form == "python" else case.matching
        if re.search(wanted, source):
            return True
    definitions = _definitions(UNIT / file)
    return bool(re.search(wanted, source_around(UNIT / file, definitions[function])))


def exists(test: str) -> bool:
    """Whether a test that is named is there, with its parameters."""
    if test.endswith(".mlir"):
        return (ROOT / test).is_file() and "// RUN:" in (ROOT / test).read_text(encoding="utf-8")
    file, _, rest = test.partition("::")
    function, _, parameters = rest.partition("[")
    if not (UNIT / file).is_file() or function not in _definitions(UNIT / file):
        return False
    if file == COVERAGE and parameters:
        form, _, name = parameters.removesuffix("]").partition("-")
        return form in FORMS and name in {case.name.replace(" ", "-") for case in CASES}
    return True
