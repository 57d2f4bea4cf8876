"""Everything that `universe.py` names exists, is what it says, and is documented."""

from __future__ import annotations

import pytest
from stepwell import universe
from stepwell.core import codegens
from stepwell.core.ir.extra_checks import OP_CHECK
from stepwell.core.passes.base import StepwellPass
from stepwell.core.passes.options import pass_options, pass_summary
from stepwell.core.passes.pipeline_text import expand_pipeline, parse_pipeline
from stepwell.core.plugins import Registry, StepwellPlugin, registry
from stepwell.core.text.parsing import make_context
from stepwell.frontends.onnx.registry import PLUGIN_KIND
from stepwell.lowering.pipelines import POINTS
from stepwell.patterns.language.registry import RULE_FUNCTIONS
from stepwell.rewrites.partition.pattern_tables import TABLE_EXTENSION, TARGET_EXTENSION
from stepwell.schedule.program.replay import EXTENSION
from xdsl.universe import XDSL_UNIVERSE


@pytest.mark.parametrize("name", universe.DIALECTS)
def test_dialect(name: str):
    dialect = universe.STEPWELL_UNIVERSE.all_dialects[name]()
    assert dialect.name == name
    for op in dialect.operations:
        assert op.name.startswith(f"{name}.")
        assert make_context().get_op(op.name) is op


@pytest.mark.parametrize("name", universe.PASSES)
def test_pass(name: str):
    pass_type = universe.STEPWELL_UNIVERSE.all_passes[name]()
    assert pass_type.name == name
    assert issubclass(pass_type, StepwellPass)
    summary = pass_summary(pass_type)
    assert summary and not summary.endswith("."), "the docstring's first line is the summary of --list-passes"
    assert all(str(option) for option in pass_options(pass_type))


def test_no_name_of_xdsl_is_redefined():
    own = universe.STEPWELL_UNIVERSE
    assert not own.all_dialects.keys() & XDSL_UNIVERSE.all_dialects.keys()
    assert not own.all_passes.keys() & XDSL_UNIVERSE.all_passes.keys()
    assert not own.all_targets.keys() & XDSL_UNIVERSE.all_targets.keys()


@pytest.mark.parametrize("name", universe.pipelines())
def test_pipeline(name: str):
    specs = expand_pipeline(name)
    assert bool(specs) == (name not in POINTS) and [pass_.name for pass_ in parse_pipeline(name)] == [
        spec.name for spec in specs
    ]


def test_extensions_load():
    for kind, named in universe.extensions().items():
        for name, load in named.items():
            assert load() is not None, f"{kind} {name}"


def test_registry_knows_the_owner_of_every_name():
    found = registry()
    for kind, names in (("dialect", found.dialects), ("pass", found.passes), ("target", found.targets)):
        assert all((kind, name) in found.owner for name in names)


def test_every_kind_of_extension_that_is_asked_for_is_known():
    kinds = (RULE_FUNCTIONS, TABLE_EXTENSION, TARGET_EXTENSION, PLUGIN_KIND, EXTENSION, codegens.EXTENSION, OP_CHECK)
    assert {*universe.EXTENSIONS, *kinds} == universe.KINDS


def test_an_extension_of_no_kind_is_refused():
    found = Registry()
    refused = found.add_plugin(StepwellPlugin(extensions={"codegn": {"x": int}, "xyz": {"y": int}}), "mine")
    assert refused[0] == "there is no kind of extension 'codegn', did you mean 'codegen'?"
    assert refused[1].startswith("there is no kind of extension 'xyz', expected one of codegen, config-key, ")
    assert not found.extensions


def test_a_pipeline_of_a_package_takes_no_name_of_ours():
    found = Registry()
    found.add_universe(XDSL_UNIVERSE, "xdsl")
    pipelines = {"O2": "cse", "at-start": "cse", "canonicalize": "cse", "mine": "cse"}
    assert found.add_plugin(StepwellPlugin(pipelines=pipelines), "mine") == [
        "pipeline 'O2' is already defined by stepwell",
        "pipeline 'at-start' is already defined by stepwell",
        "pipeline 'canonicalize' has the name of a pass of xdsl",
    ]
    assert found.plugin_pipelines == {"mine": "cse"}
