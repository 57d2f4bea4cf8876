"""The options of passes: their types and defaults, and the pass that a specification with values stands for."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any, Final, get_args, get_type_hints

from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import (
    ArgSpec,
    ParameterListType,
    _convert_arg_to_type,  # pyright: ignore[reportPrivateUsage]
)

from ...lazy_dataclass import dataclass
from ..messages.diagnostics import Diagnostic, StepwellError, did_you_mean


class _Required:
    def __repr__(self) -> str:
        return "required"


REQUIRED: Final = _Required()
"""Stands for the default of an option that has none."""


@dataclass(frozen=True)
class PassOption:
    """One option: its name as written in a pipeline, its Python type and its default (`REQUIRED` if it has none)."""

    name: str
    type: Any
    default: Any

    def __str__(self) -> str:
        default = "required" if self.default is REQUIRED else format_value(self.default)
        return f"{self.name}: {format_type(self.type)} = {default}"


def pass_options(pass_type: type[ModulePass]) -> tuple[PassOption, ...]:
    """The options of a pass in order of declaration."""
    types = get_type_hints(pass_type)
    return tuple(
        PassOption(field.name.replace("_", "-"), types[field.name], _default(field))
        for field in dataclasses.fields(pass_type)
        if field.name != "name" and field.init
    )


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return None if type(None) in get_args(field.type) else REQUIRED


def pass_summary(pass_type: type[ModulePass]) -> str:
    """The first sentence or line of the docstring of a pass, without a full stop."""
    text = inspect.cleandoc(pass_type.__doc__ or "")
    if not text or text.startswith(f"{pass_type.__name__}("):  # what @dataclass makes up
        return ""
    paragraph = " ".join(text.split("\n\n")[0].split())
    return paragraph.split(". ")[0].removesuffix(".")


def format_value(value: Any) -> str:
    """An option value as it is written in a pipeline."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple | list):
        return ",".join(format_value(element) for element in value) or "none"
    return "none" if value is None else str(value)


_TYPE_WORDS: Final = {bool: "flag", int: "integer", float: "number", str: "string", type(None): "none"}


def format_type(type_: Any) -> str:
    """The type of an option in words: `integer`, `list of strings`, …"""
    if type_ in _TYPE_WORDS:
        return _TYPE_WORDS[type_]
    arguments = get_args(type_)
    if str(type_).startswith("tuple["):
        elements = [argument for argument in arguments if argument is not Ellipsis]
        return f"list of {format_type(elements[0])}s" if elements else "list"
    words = [format_type(argument) for argument in arguments if argument is not type(None)]
    return " or ".join(words) if words else str(type_)


# Making a pass from its specification

_USUAL: Final = [ModulePass.from_pass_spec.__func__, ModulePass.from_spec.__func__]


def make_pass(pass_type: type[ModulePass], spec: ArgSpec) -> ModulePass:
    """
    The pass with the options of `spec`.

    A flag may be written `{flag}` or `{flag=true}`, an integer where a number is wanted. Raises `StepwellError`
    naming the option when one is unknown, missing or of another type.
    """
    given = spec.normalize_parameter_names().parameters
    # To find types costs half a millisecond a pass: a fifth of the time to compile a small program at O3.
    types = get_type_hints(pass_type) if given else {}
    fields = {field.name: field for field in dataclasses.fields(pass_type) if field.name != "name" and field.init}
    for name in given:
        if name not in fields:
            _fail_unknown_option(pass_type, name)
    values: dict[str, ParameterListType] = {}
    for name, field in fields.items():
        if name in given:
            values[name] = _checked(pass_type, name, given[name], types[name])
        elif _default(field) is REQUIRED:
            raise StepwellError(Diagnostic(f"pass '{pass_type.name}' requires the option '{_shown(name)}'"))
    try:
        if not given and _is_made_as_usual(pass_type):
            return pass_type(**{name: _default(field) for name, field in fields.items()})
        return pass_type.from_pass_spec(ArgSpec(pass_type.name, values))
    except Exception as error:
        raise StepwellError(Diagnostic(f"pass '{pass_type.name}': {error}")) from error


def _is_made_as_usual(pass_type: type[ModulePass]) -> bool:
    """Returns whether a pass is made of its fields alone, as by xDSL."""
    made_by = (pass_type.from_pass_spec, pass_type.from_spec)
    return [each.__func__ for each in made_by] == _USUAL


def _shown(field_name: str) -> str:
    return field_name.replace("_", "-")


def _fail_unknown_option(pass_type: type[ModulePass], name: str) -> None:
    known = [option.name for option in pass_options(pass_type)]
    listing = f"its options are {', '.join(known)}" if known else "it has no options"
    hint = did_you_mean(_shown(name), known) or listing
    raise StepwellError(Diagnostic(f"pass '{pass_type.name}' has no option '{_shown(name)}'", hint=hint))


def _checked(pass_type: type[ModulePass], name: str, given: ParameterListType, type_: Any) -> ParameterListType:
    """`given` in the form that xDSL converts to `type_`."""
    candidate = converted(given, type_)
    if candidate is not None:
        return candidate
    found = format_value(given) if given else "nothing"
    message = f"option '{_shown(name)}' of pass '{pass_type.name}' is {found}, expected {format_type(type_)}"
    hint = None
    if str in {type_, *get_args(type_)}:
        hint = f'quote what is to be a string: {pass_type.name}{{{_shown(name)}="..."}}'
    raise StepwellError(Diagnostic(message, hint=hint))


def converted(given: ParameterListType, type_: Any) -> ParameterListType | None:
    """Returns `given` in the form that xDSL converts to `type_`, or `None` when it is of another type."""
    scalar_types = {type_, *get_args(type_)}
    if not given and bool in scalar_types:
        return (True,)
    # To Python, a flag is an integer.
    if any(isinstance(value, bool) for value in given) and not _takes_flags(type_):
        return None
    if len(given) == 1 and bool in scalar_types and int not in scalar_types and given[0] in ("0", "1", 0, 1):
        return (bool(int(given[0])),)
    candidates = [given]
    if float in scalar_types and int not in scalar_types:
        candidates.append(tuple(float(value) if type(value) is int else value for value in given))
    for candidate in candidates:
        try:
            _convert_arg_to_type(candidate, type_)
        except ValueError:
            continue
        return candidate
    return None


def _takes_flags(type_: Any) -> bool:
    return type_ is bool or any(_takes_flags(argument) for argument in get_args(type_))


def typed_value(given: Any, type_: Any) -> Any:
    """
    A Python value as an option of `type_` holds it: a list as a tuple, an integer as a number where that is wanted.

    Raises `ValueError` when it is of another type; a flag is no integer.
    """
    values = () if given is None else tuple(given) if isinstance(given, list | tuple) else (given,)
    scalar_types = {type_, *get_args(type_)}
    if given is None:
        if type(None) in scalar_types:
            return None
        raise ValueError
    if bool not in scalar_types and any(isinstance(value, bool) for value in values):
        raise ValueError
    if not values and str(type_).startswith("tuple["):
        return ()
    candidate = converted(values, type_) if values else None
    if candidate is None:
        raise ValueError
    return _convert_arg_to_type(candidate, type_)
