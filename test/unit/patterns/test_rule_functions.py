"""A package adds conditions and builders that rule files name, as docs/extending.md says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from stepwell.core import plugins
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.patterns import Driver, Match, builder, condition, rules_of_text
from stepwell.patterns.language.registry import BUILDERS, CONDITIONS, RULE_FUNCTIONS, load_rule_functions
from xdsl.ir import SSAValue

RULE = """
pattern.rule "negative-of-wide" {
  %x = pattern.any
  pattern.require "wide-package.wide"(%x)
  %root = pattern.op "graph.negative"(%x)
  pattern.rewrite %root {
    %new = pattern.build "wide-package.relu"(%x)
    pattern.yield %new
  }
}
"""
PROGRAM = """
func.func @main(%x: tensor<8xf32>, %y: tensor<2xf32>) -> (tensor<8xf32>, tensor<2xf32>) {
  %a = graph.negative %x : (tensor<8xf32>) -> tensor<8xf32>
  %b = graph.negative %y : (tensor<2xf32>) -> tensor<2xf32>
  func.return %a, %b : tensor<8xf32>, tensor<2xf32>
}
"""


def load() -> None:
    """Registers as a module does when it is imported."""

    @condition("wide-package.wide")
    def wide(match: Match, value: SSAValue) -> bool:
        return value.type.get_shape()[0] >= 4  # pyright: ignore

    @builder("wide-package.relu")
    def relu(match: Match, value: SSAValue) -> Sequence[SSAValue]:
        return match.create("graph.relu", [value]).results


@pytest.fixture
def package() -> Iterator[None]:
    """A package with rule functions, as if it were installed."""
    found = plugins.registry()
    saved = dict(found.extensions[RULE_FUNCTIONS])
    assert not found.add_plugin(plugins.StepwellPlugin(extensions={RULE_FUNCTIONS: {"wide": load}}), "wide-package")
    load_rule_functions.cache_clear()
    yield
    found.extensions[RULE_FUNCTIONS] = saved
    load_rule_functions.cache_clear()
    CONDITIONS.pop("wide-package.wide", None)
    BUILDERS.pop("wide-package.relu", None)


def test_rules_name_functions_of_a_package(package: None) -> None:
    ctx = make_context()
    module = parse_text(ctx, PROGRAM, "program")
    Driver(ctx, rules_of_text(RULE)).run(module)
    assert [op.name for op in module.walk() if op.name.startswith("graph.")] == ["graph.relu", "graph.negative"]


def test_a_package_that_cannot_be_loaded_is_skipped(package: None, capsys: pytest.CaptureFixture[str]) -> None:
    def broken() -> None:
        raise ImportError("no module named acme")

    extensions = {RULE_FUNCTIONS: {"acme": broken, "later": load}}
    plugins.registry().extensions[RULE_FUNCTIONS].pop("wide")
    assert not plugins.registry().add_plugin(plugins.StepwellPlugin(extensions=extensions), "acme-package")
    assert [rule.name for rule in rules_of_text(RULE)] == ["negative-of-wide"]
    warning = "warning: rule functions 'acme': skipped, they cannot be loaded: ImportError: no module named acme\n"
    assert capsys.readouterr().err == warning


def test_an_error_of_our_own_rule_functions_is_raised(package: None) -> None:
    def broken() -> None:
        raise ImportError("no module named acme")

    extensions = {RULE_FUNCTIONS: {"ours": broken}}
    assert not plugins.registry().add_plugin(plugins.StepwellPlugin(extensions=extensions), "stepwell")
    with pytest.raises(ImportError, match="acme"):
        rules_of_text(RULE)


def test_without_the_package_the_name_is_unknown() -> None:
    with pytest.raises(StepwellError, match="unknown condition 'wide-package.wide'"):
        rules_of_text(RULE)
