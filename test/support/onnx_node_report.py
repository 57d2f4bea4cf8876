"""What docs/onnx_coverage.md says: which cases of the ONNX node suite pass, by operator."""

from __future__ import annotations

import re
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from onnx_node_runner import PASSES, Outcome
from onnx_node_suite import Case, all_cases, counted_cases, why_not_counted

PAGE = Path(__file__).parents[2] / "docs" / "onnx_coverage.md"

HEAD = """# Coverage of ONNX

This page tells you which ONNX operators you can use. It has the results of the node tests of the package `onnx`
{version} ({total} cases), which are imported, compiled to native code and run. This command runs them and
writes the page again:

```
STEPWELL_FULL=1 STEPWELL_UPDATE_DOCS=1 python -m pytest test/unit/frontends/test_onnx_node_suite.py
```

A case counts when its tensors are of static shapes, and of element types that Stepwell has: bool, 2 to 64 bit
integers, f8E4M3FN, f8E5M2, f16, f32, f64. Inputs that fix shapes (the target of `Reshape`, the axes of a reduction) are
bound at import. In an *expanded* case ONNX's own definition of an operator stands for it. Results are compared with the
tolerances of each case (mostly 1e-3 relative, 1e-7 absolute) and two units in the last place of the largest element.

| | cases | pass | |
|---|---:|---:|---:|
"""


def page(outcomes: Iterable[Outcome]) -> str:
    """The text of the page."""
    import onnx

    found = {outcome.name: outcome for outcome in outcomes}
    cases = list(counted_cases())
    text = HEAD.format(version=onnx.__version__, total=len(all_cases()))
    for title, expanded in (("operators", False), ("expanded", True)):
        chosen = [case for case in cases if case.expanded == expanded]
        passing = sum(found[case.name].state == PASSES for case in chosen)
        text += f"| {title} | {len(chosen)} | {passing} | {share(passing, len(chosen))} |\n"
    return "\n".join([text, *_not_counted(), *_refused(cases, found), *_families(cases, found), ""])


def share(part: int, whole: int) -> str:
    """A share in per cent, rounded down, so that 100 % is all of it."""
    return f"{part * 1000 // whole / 10:.1f} %"


def _not_counted() -> list[str]:
    reasons = Counter(reason for case in all_cases().values() if (reason := why_not_counted(case)) is not None)
    lines = ["## What does not count", "", "| | cases |", "|---|---:|"]
    return [*lines, *(f"| {reason} | {count} |" for reason, count in sorted(reasons.items())), ""]


def _refused(cases: list[Case], found: dict[str, Outcome]) -> list[str]:
    reasons: defaultdict[str, list[str]] = defaultdict(list)
    for case in cases:
        outcome = found[case.name]
        if outcome.state != PASSES:
            reasons[f"{outcome.state}: {_reason(outcome.message)}"].append(case.name)
    lines = ["## What does not pass", ""]
    if not reasons:
        return [*lines, "Everything passes.", ""]
    lines += ["Every one of these is an error at import (*refused*) that says what is not supported.", ""]
    for reason, names in sorted(reasons.items(), key=lambda each: (-len(each[1]), each[0])):
        item = f"- {reason} ({', '.join(f'`{name}`' for name in names)})"
        lines.append(textwrap.fill(item, 120, subsequent_indent="  ", break_on_hyphens=False))
    return [*lines, ""]


def _reason(message: str) -> str:
    """The message without the names of a model, its nodes and values."""
    operators = re.findall(r"^  (\S+) \(opset", message, re.MULTILINE)
    if operators:
        return f"there is no converter of {' and '.join(operators)}"
    first = message.removeprefix("error: model '<model>': ").partition("\nhint:")[0]
    text = re.sub(r"^node \S+ \((\w+), opset \d+\)", r"\1", " ".join(first.split()))
    return re.sub(r"(input \d+), '[^']*',", r"\1", text)


def _families(cases: list[Case], found: dict[str, Outcome]) -> list[str]:
    counts: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for case in cases:
        row = counts[case.family]
        row[2 * case.expanded] += 1
        row[2 * case.expanded + 1] += found[case.name].state == PASSES
    lines = [
        "## By operator",
        "",
        "| operator | cases | pass | expanded | pass |",
        "|---|---:|---:|---:|---:|",
    ]
    for family, (cases_, pass_, expanded, expanded_pass) in sorted(counts.items()):
        rest = f"{expanded} | {expanded_pass}" if expanded else "|"
        lines.append(f"| {family} | {cases_} | {pass_} | {rest} |")
    return lines
