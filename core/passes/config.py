"""
Configuration of a `PassContext`: named values with types, checked when the context is made.

Every option of every pass is a key, `PASS.OPTION`: where a pass leaves the option at its default, the value of the
context takes its place. Other keys are registered by whoever reads them; a package does so in the loaders of its
plug-in extensions of kind `"config-key"`, which return a `ConfigKey`, so that a key is known before the module that
reads it is loaded.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import parse_spec
from xdsl.utils.exceptions import ArgSpecParseError

from ...lazy_dataclass import dataclass
from ..messages.diagnostics import Diagnostic, StepwellError, did_you_mean
from ..plugins import registry
from .options import PassOption, format_type, format_value, pass_options, typed_value
from .pipeline_text import load_pass


@dataclass(frozen=True)
class ConfigKey:
    """A key that a context may hold: its type as that of an option of a pass, and the package that reads it."""

    name: str
    type: Any
    default: Any
    summary: str
    owner: str


_KEYS: dict[str, ConfigKey] = {}


def register_config(name: str, type_: Any, default: Any, summary: str, owner: str) -> ConfigKey:
    """
    Makes `name` a key. Registering the same once more changes nothing.

    Raises `StepwellError` when the name is taken by another key, naming both owners, or has a dot (those are options).
    """
    key = ConfigKey(name, type_, default, summary, owner)
    known = _KEYS.get(name)
    if known is not None and known != key:
        message = f"config key '{name}' of {owner} is already defined by {known.owner}"
        raise StepwellError(Diagnostic(message))
    if "." in name:
        raise StepwellError(Diagnostic(f"config key '{name}' has a dot; such keys are options of passes"))
    _KEYS[name] = key
    return key


register_config("verify-each", bool, True, "verify the module after every pass", "stepwell")


def registered_keys() -> dict[str, ConfigKey]:
    """The keys that are no options of passes, by name."""
    for name, load in sorted(registry().extensions_of("config-key").items()):
        if name in _KEYS:
            continue
        try:
            key = load()
        except Exception as error:
            message = f"config key '{name}' cannot be loaded: {type(error).__name__}: {error}"
            raise StepwellError(Diagnostic(message)) from error
        register_config(name, key.type, key.default, key.summary, key.owner)
    return {name: _KEYS[name] for name in sorted(_KEYS)}


def default_of(name: str) -> Any:
    """Returns the default of a registered key. Raises `StepwellError` when there is none of that name."""
    if name not in _KEYS and name not in registered_keys():
        raise StepwellError(_unknown(name))
    return _KEYS[name].default


def checked_config(given: Mapping[str, object]) -> dict[str, Any]:
    """Returns `given` with its values as their keys want them. Raises `StepwellError` for a wrong key or type."""
    return {name.replace("_", "-"): _checked(name.replace("_", "-"), value) for name, value in given.items()}


def _checked(name: str, value: object) -> Any:
    type_ = _type_of(name)
    try:
        return typed_value(value, type_)
    except ValueError:
        # `None` as a value reads better by its Python name, everything else as it stands in a pipeline.
        found = format_value(value)
        message = f"config key '{name}' is {found}, expected {format_type(type_)}"
        raise StepwellError(Diagnostic(message)) from None


def _type_of(name: str) -> Any:
    if "." not in name and name in registered_keys():
        return _KEYS[name].type
    pass_name, _, option_name = name.partition(".")
    if pass_name in registry().passes and option_name:
        for option in pass_options(load_pass(pass_name)):
            if option.name == option_name:
                return option.type
    raise StepwellError(_unknown(name))


def _unknown(name: str) -> Diagnostic:
    """The error lists the keys: of the pass that the name begins with, else registered ones and those of our passes."""
    pass_name = name.partition(".")[0]
    if pass_name in registry().passes:
        options = option_keys([pass_name])
        listing = f"the keys of pass '{pass_name}' are {', '.join(options)}" if options else ""
        if not options:
            listing = f"pass '{pass_name}' has no options"
        return Diagnostic(f"unknown config key '{name}'; {listing}", hint=did_you_mean(name, options))
    own = [each for each in sorted(registry().passes) if registry().owner["pass", each] != "xdsl"]
    keys = [*registered_keys(), *option_keys(own)]
    message = f"unknown config key '{name}'; the keys are {', '.join(keys)}"
    hint = did_you_mean(name, keys) or "PASS.OPTION sets an option of any pass of --list-passes"
    return Diagnostic(message, hint=hint)


def option_keys(pass_names: Iterable[str]) -> list[str]:
    """The keys that are options of the passes of these names."""
    return [f"{name}.{option.name}" for name in pass_names for option in _options(name)]


def _options(pass_name: str) -> tuple[PassOption, ...]:
    try:
        return pass_options(load_pass(pass_name))
    except Exception:
        # A listing leaves out what cannot be loaded; to use such a pass is an error of its own.
        return ()


def parse_setting(text: str) -> tuple[str, Any]:
    """
    Returns key and value of a `key=value` of the command line. The value is written as in a pipeline, and what does not
    read as one is a string.
    """
    name, equals, value = text.partition("=")
    name = name.strip().replace("_", "-")
    if not name or not equals:
        raise StepwellError(Diagnostic(f"config setting '{text}' is not of the form key=value"))
    type_ = _type_of(name)
    for written in (f"x{{v={value}}}", f'x{{v="{value}"}}'):
        try:
            values = parse_spec(written).parameters["v"]
            return name, typed_value(list(values) if len(values) != 1 else values[0], type_)
        except (ArgSpecParseError, ValueError, KeyError):
            continue
    return name, _checked(name, value)


def configured(pass_: ModulePass, config: Mapping[str, Any]) -> ModulePass:
    """`pass_` with the values of `config` for those of its options that are at their defaults."""
    prefix = f"{pass_.name}."
    values = {key.removeprefix(prefix): value for key, value in config.items() if key.startswith(prefix)}
    if not values:
        return pass_
    changes: dict[str, Any] = {}
    for option in pass_options(type(pass_)):
        field = option.name.replace("-", "_")
        if option.name in values and getattr(pass_, field) == option.default:
            changes[field] = values[option.name]
    return dataclasses.replace(pass_, **changes) if changes else pass_
