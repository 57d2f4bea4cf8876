"""The texts of `--list-passes`, `--list-dialects`, `--list-plugins`, `--show-pipeline` and `--explain-op`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from xdsl.context import Context
from xdsl.ir import Operation
from xdsl.irdl import (
    IRDLOperation,
    OpDef,
    OptOperandDef,
    OptPropertyDef,
    OptRegionDef,
    OptResultDef,
    VarOperandDef,
    VarRegionDef,
    VarResultDef,
)

from ...core.messages.diagnostics import Diagnostic, StepwellError
from ...core.passes.config import registered_keys
from ...core.passes.info import pass_info
from ...core.passes.options import format_type, format_value
from ...core.passes.pipeline_text import parse_pipeline
from ...core.plugins import Registry, registry
from ...core.text.unknown import unknown_op


def list_passes() -> str:
    """
    Returns name, level, summary, required passes and options of every pass, ours and other packages' before xDSL's. The
    pipelines and configuration keys follow.
    """
    found = registry()
    lines: list[str] = []
    for package, names in _by_package(found, "pass", found.passes):
        lines.append(f"passes of {package}:")
        for name in names:
            lines += _pass_lines(name)
        lines.append("")
    lines.append("named pipelines (--show-pipeline NAME):")
    lines += [f"  {name}" for name in sorted(found.pipelines)]
    lines += ["", "configuration keys besides PASS.OPTION (--config KEY=VALUE):"]
    for key in registered_keys().values():
        lines.append(f"  {key.name:32} {key.summary}")
        lines.append(f"      {format_type(key.type)} = {format_value(key.default)}")
    return "\n".join(lines)


def _by_package(found: Registry, kind: str, names: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Names by the package that defines them: stepwell first, xdsl last."""
    grouped: dict[str, list[str]] = {}
    for name in sorted(names):
        grouped.setdefault(found.owner[kind, name], []).append(name)
    rank = {"stepwell": 0, "xdsl": 2}
    return sorted(grouped.items(), key=lambda item: (rank.get(item[0], 1), item[0]))


def _pass_lines(name: str) -> list[str]:
    try:
        info = pass_info(name)
    except Exception as error:
        return [f"  {name:32} cannot be loaded: {error}"]
    lines = [f"  {name:32} level {info.opt_level}  {info.summary}".rstrip()]
    if info.requires:
        lines.append(f"      requires {', '.join(info.requires)}")
    return lines + [f"      {option}" for option in info.options]


def list_dialects() -> str:
    """Every dialect with the package it comes from."""
    found = registry()
    lines: list[str] = []
    for package, names in _by_package(found, "dialect", found.dialects):
        lines += [f"dialects of {package}:", *(f"  {name}" for name in names), ""]
    return "\n".join(lines).rstrip()


def list_plugins() -> str:
    """The entry points of other packages, and why one was skipped."""
    plugins = registry().plugins
    if not plugins:
        return "no plug-ins are installed"
    lines = [f"{plugin.name} ({plugin.package}, {plugin.group}): {plugin.problem or 'loaded'}" for plugin in plugins]
    return "\n".join(lines)


def show_pipeline(text: str) -> str:
    """The passes that a named pipeline or any pipeline text stands for, one per line, fit for `-p`."""
    return ",\n".join(str(pass_) for pass_ in parse_pipeline(text))


# --explain-op


def explain_op(ctx: Context, name: str) -> str:
    """What `name` means and takes: docstring, operands, attributes, results, regions, traits, and more by plug-ins."""
    op_type = ctx.get_optional_op(name) if "." in name else None
    if op_type is None:
        message, hint = unknown_op(ctx, name)
        raise StepwellError(Diagnostic(message, hint=hint))
    lines = [name, ""]
    documentation = inspect.cleandoc(op_type.__doc__ or "")
    if documentation:
        lines += [*documentation.split("\n"), ""]
    if issubclass(op_type, IRDLOperation):
        lines += _definition_lines(op_type.get_irdl_definition())
    for explainer_name, load in sorted(registry().extensions_of("op-explainer").items()):
        lines += _explained(explainer_name, load, op_type)
    return "\n".join(lines).rstrip()


def _explained(name: str, load: Callable[[], Any], op_type: type[Operation]) -> list[str]:
    """The paragraph that an extension adds: an explainer takes the op class and returns text or `None`."""
    try:
        text = load()(op_type)
    except Exception as error:
        return [f"({name} failed: {error})", ""]
    return [] if text is None else [*str(text).split("\n"), ""]


def _definition_lines(definition: OpDef) -> list[str]:
    lines: list[str] = []
    lines += _section("operands", [f"{name}{_amount(what)}" for name, what in definition.operands])
    properties = [f"{name}{_amount(what)}{_property_default(what)}" for name, what in definition.properties.items()]
    attributes = [f"{name}{_amount(what)}" for name, what in definition.attributes.items()]
    lines += _section("attributes", properties + attributes)
    lines += _section("results", [f"{name}{_amount(what)}" for name, what in definition.results])
    lines += _section("regions", [f"{name}{_amount(what)}" for name, what in definition.regions])
    lines += _section("traits", sorted({type(trait).__name__ for trait in definition.traits}))
    if definition.assembly_format is not None:
        lines += _section("format", [definition.assembly_format.strip()])
    return lines


def _section(title: str, rows: list[str]) -> list[str]:
    return [f"{title}:", *(f"  {row}" for row in rows), ""] if rows else []


def _amount(definition: object) -> str:
    if isinstance(definition, OptOperandDef | OptResultDef | OptRegionDef | OptPropertyDef):
        return " (optional)"
    if isinstance(definition, VarOperandDef | VarResultDef | VarRegionDef):
        return " (any number)"
    return ""


def _property_default(definition: object) -> str:
    default = getattr(definition, "default_value", None)
    return "" if default is None else f" = {default}"
