"""
The table of converters: what an ONNX operator becomes.

A converter is a function whose signature declares the operator. Its first parameter emits ops; then come the inputs by
position (a default of `None` for an optional one, `*xs` for any number, the annotation `Known` for one whose elements
must be known at import); then the attributes by keyword, with their defaults (none: the attribute is required).

```python
@converter("MyLeakyRelu")
def leaky_relu(b: GraphBuilder, x: Value, *, alpha: float = 0.01) -> Value:
    return b.leaky_relu(x, alpha=alpha)
```

Where an operator is an op of the graph dialect under other names, `direct` says so without a function:

```python
direct("MyOtherLeakyRelu", "leaky_relu", slope=("alpha", 0.01))
```

An attribute of a node that its converter does not declare is an error, not lost.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from typing import Any, Final

from ...core.messages.diagnostics import did_you_mean
from ...core.plugins import registry
from ...core.text.aliases import ALIASES, no_such_op
from ...lazy_dataclass import dataclass
from .errors import ConversionError

REQUIRED: Final = inspect.Parameter.empty
"""The default of an attribute that a node must have."""

PLUGIN_KIND: Final = "onnx-converters"
"""Extensions of this kind are loaders of modules that define converters."""


class Known:
    """
    The annotation of an input whose elements must be known at import. The converter gets the NumPy array.

    `Known | Value` is one that should be known, but need not: the converter gets the value.
    """


@dataclass(frozen=True)
class Input:
    """A declared input of an operator."""

    name: str
    optional: bool
    variadic: bool
    known: bool
    strict: bool = True
    """True if an input that should be known must be."""


@dataclass(frozen=True)
class Converter:
    """The conversion of one operator, from one version of its operator set on."""

    operator: str
    domain: str
    since: int
    function: Callable[..., Any]
    inputs: tuple[Input, ...]
    attributes: Mapping[str, Any]
    """Default of each attribute, `REQUIRED` for none."""
    check: Callable[[Mapping[str, Any]], str | None] | None = None
    """Returns what is wrong with the attributes of a node, `None` for nothing."""
    at_run_time: bool = False
    """True if it stands in for another one where inputs that should be known follow from shapes that are not."""

    def arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the keyword arguments for a node with the attributes `given`. Raises `ConversionError`."""
        unknown = [name for name in given if name not in self.attributes]
        if unknown:
            name = unknown[0]
            hint = did_you_mean(name, self.attributes)
            known = ", ".join(self.attributes) or "none"
            raise ConversionError(f"attribute '{name}' is not supported; {self.operator} takes {known}", hint=hint)
        missing = [n for n, default in self.attributes.items() if default is REQUIRED and n not in given]
        if missing:
            raise ConversionError(f"attribute '{missing[0]}' is missing")
        if self.check is not None and (wrong := self.check(given)) is not None:
            raise ConversionError(wrong)
        return {**self.attributes, **given}


_table: dict[tuple[str, str], list[Converter]] = {}
_at_run_time: dict[tuple[str, str], list[Converter]] = {}


def converter(
    operator: str,
    *,
    since: int = 1,
    domain: str = "",
    check: Callable[[Mapping[str, Any]], str | None] | None = None,
    at_run_time: bool = False,
    replace: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """
    Registers a function as the converter of `operator` from version `since` of its operator set on.

    `check` is given the attributes of a node, and says what is wrong with them. With `at_run_time` it stands in for the
    converter that must know an input, where that follows from shapes that are not known yet. A function may be
    registered several times. Raises `ValueError` when there is a converter for that version already, unless it is to
    `replace` it.
    """
    _load_for(sys._getframe(1).f_globals)

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        inputs, attributes = _declared(function)
        made = Converter(operator, _domain(domain), since, function, inputs, attributes, check, at_run_time)
        _add(made, replace)
        return function

    return register


AttributeRule = str | tuple[str, Any] | tuple[str, Any, Callable[[Any], Any]]
"""The new name, alone or with a default, or with a default and a function that gives the value of the property."""


def direct(
    operator: str,
    op: str,
    *,
    since: int = 1,
    domain: str = "",
    inputs: int = 1,
    optional: int = 0,
    ignored: Collection[str] = (),
    excluded: Mapping[str, str] | None = None,
    extra: Mapping[str, Any] | None = None,
    check: Callable[[Mapping[str, Any]], str | None] | None = None,
    **attributes: AttributeRule,
) -> None:
    """
    Registers `operator` as the op `graph.<op>` with `inputs` operands, of which the last `optional` may be absent.

    `attributes` maps names of ONNX to rules (`AttributeRule`); `ignored` ones do not change the result; an `excluded`
    one is refused, with the reason given; `extra` are properties that the op always gets. Raises `TypeError` for a
    malformed rule, and `ValueError` where there is no such op.
    """
    _load_for(sys._getframe(1).f_globals)
    if not isinstance(op, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"{operator} is to become {op!r}, expected the name of an op of the graph dialect")
    if op not in ALIASES:
        raise ValueError(f"{operator} is to become '{op}', {no_such_op(op)}")
    rules = {name: _rule(name, rule) for name, rule in attributes.items()}
    refused = dict(excluded or {})
    fixed = dict(extra or {})

    def build(b: Any, *values: Any, **given: Any) -> Any:
        for name, reason in refused.items():
            if given.pop(name) is not None:
                raise ConversionError(f"attribute '{name}' is not supported: {reason}")
        properties = dict(fixed)
        for name, (new, _, transform) in rules.items():
            value = given[name]
            properties[new] = transform(value) if transform is not None and value is not None else value
        return getattr(b, op)(*values, **properties)

    declared = tuple(Input(f"input {number}", number >= inputs - optional, False, False) for number in range(inputs))
    defaults = {name: default for name, (_, default, _) in rules.items()}
    defaults |= dict.fromkeys([*ignored, *refused])
    _add(Converter(operator, _domain(domain), since, build, declared, defaults, check))


def _rule(name: str, rule: Any) -> tuple[str, Any, Callable[[Any], Any] | None]:
    match rule:
        case str():
            return rule, REQUIRED, None
        case (str() as new, default):
            return new, default, None
        case (str() as new, default, transform) if callable(transform):
            return new, default, transform
    raise TypeError(f"the rule of attribute '{name}' is {rule!r}, expected a name, a default and a function")


def _declared(function: Callable[..., Any]) -> tuple[tuple[Input, ...], dict[str, Any]]:
    _, *parameters = inspect.signature(function).parameters.values()
    inputs: list[Input] = []
    attributes: dict[str, Any] = {}
    for parameter in parameters:
        words = re.split(r"\W+", str(parameter.annotation))
        known, strict = "Known" in words, "Value" not in words
        match parameter.kind:
            case inspect.Parameter.KEYWORD_ONLY:
                attributes[parameter.name] = parameter.default
            case inspect.Parameter.VAR_POSITIONAL:
                inputs.append(Input(parameter.name, True, True, known, strict))
            case _:
                optional = parameter.default is not inspect.Parameter.empty
                inputs.append(Input(parameter.name, optional, False, known, strict))
    return tuple(inputs), attributes


def _domain(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


def _add(new: Converter, replace: bool = False) -> None:
    table = _at_run_time if new.at_run_time else _table
    versions = table.setdefault((new.domain, new.operator), [])
    if replace:
        versions[:] = [old for old in versions if old.since != new.since]
    if any(old.since == new.since for old in versions):
        raise ValueError(f"{new.operator} has a converter since version {new.since} already")
    versions.append(new)
    versions.sort(key=lambda each: each.since)


# Looking up


def find(operator: str, domain: str, version: int, *, at_run_time: bool = False) -> Converter | None:
    """
    Returns the converter of an operator for a version of its operator set.

    With `at_run_time` it is the one that stands in for it where sizes are computed at run time.
    """
    load()
    table = _at_run_time if at_run_time else _table
    fitting = [each for each in table.get((_domain(domain), operator), ()) if each.since <= version]
    return fitting[-1] if fitting else None


def known_operators() -> dict[str, list[Converter]]:
    """Returns every operator with a converter, as `Name` or `domain:Name`, in alphabetical order."""
    load()
    return {
        (f"{domain}:{name}" if domain else name): list(versions) for (domain, name), versions in sorted(_table.items())
    }


_loaded = False


def load() -> None:
    """Defines the converters of Stepwell, and those of installed packages."""
    global _loaded
    if _loaded:
        return
    _loaded = True
    import_module(".operators", __package__).load()
    registry().load_extensions(PLUGIN_KIND, "converters")


def _load_for(caller: Mapping[str, Any]) -> None:
    """Loads the converters of Stepwell before those of anyone else, who so hears of the ones that exist already."""
    if not str(caller.get("__name__")).startswith(f"{__package__}.operators"):
        load()
