"""What conditions and builders take, as their signatures declare it: how many things, and which parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from inspect import Parameter, signature
from keyword import iskeyword
from typing import Any, Final

from xdsl.ir import Attribute, Operation, SSAValue

from ...core.messages.articles import with_article
from ...core.messages.diagnostics import Diagnostic, StepwellError, did_you_mean
from ...lazy_dataclass import dataclass

Thing = Operation | SSAValue
"""What a name of a rule stands for: an op, or a value. A parameter that is annotated so takes both."""

BY_PLACE: Final = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


class RuleError(StepwellError, ValueError):
    """
    Raised for a rule that can never mean what it says: an unknown name, a wrong number of operands, tests that exclude
    each other.

    `at` is the part of the rule that is wrong: a pattern, a `Require`, or an item of the replacement.
    """

    def __init__(self, message: str, *, at: object = None, hint: str | None = None):
        super().__init__(Diagnostic(message, hint=hint))
        self.message = message
        self.hint = hint
        self.at = at

    def within(self, rule: str) -> RuleError:
        """Returns the same error with the name of its rule in front."""
        return RuleError(f"rule '{rule}': {self.message}", at=self.at, hint=self.hint)


def not_a_pattern(found: object, where: str) -> TypeError:
    """Returns the error that something stands where a pattern is expected."""
    hint = ""
    if isinstance(found, int | float):
        hint = f"; a constant of this number is Splat({float(found)})"
    elif isinstance(found, str):
        hint = "; a value by name is Any_(name), an op is op(name, …)"
    return TypeError(f"{where} takes patterns, found {found!r}{hint}")


@dataclass(frozen=True)
class Taken:
    """What a condition or builder takes beside the match: things by place, and parameters by name."""

    things: dict[str, Any]
    """The annotations of the things, by name."""
    optional: frozenset[str]
    more: tuple[str, Any] | None
    """The name and annotation of `*things`."""
    named: dict[str, Any]
    """The annotations of what is given by name only."""
    any_name: bool
    """True for a function that takes parameters of any name."""

    def of(self, names: Sequence[str]) -> dict[str, Any]:
        """Returns the annotations of the things that are left when parameters of these `names` are given."""
        return {name: annotation for name, annotation in self.things.items() if name not in names}


@cache
def taken_by(function: Callable[..., Any]) -> Taken:
    """Returns what a condition or builder takes. It is found out once per function."""
    parameters = list(signature(function).parameters.values())[1:]
    hints = {each.name: _resolved(function, each.annotation) for each in parameters}
    more = next((each for each in parameters if each.kind is Parameter.VAR_POSITIONAL), None)
    return Taken(
        {each.name: hints.get(each.name, Any) for each in parameters if each.kind in BY_PLACE},
        frozenset(each.name for each in parameters if each.default is not Parameter.empty),
        None if more is None else (more.name, hints.get(more.name, Any)),
        {each.name: hints.get(each.name, Any) for each in parameters if each.kind is Parameter.KEYWORD_ONLY},
        any(each.kind is Parameter.VAR_KEYWORD for each in parameters),
    )


def _resolved(function: Callable[..., Any], annotation: Any) -> Any:
    """Returns an annotation as an object. It is `Any` where names in it are known to type checkers only."""
    if not isinstance(annotation, str):
        return Any if annotation is Parameter.empty else annotation
    try:
        return eval(annotation, dict(getattr(function, "__globals__", {})))
    except Exception:
        return Any


def keyword_of(function: Callable[..., Any], name: str) -> str:
    """Returns the keyword of `function` for the parameter that a rule calls `name`."""
    plain = name.replace("-", "_")
    return f"{plain}_" if iskeyword(plain) and f"{plain}_" in taken_by(function).named else plain


def plain_parameters(function: Callable[..., Any], parameters: Sequence[tuple[str, Attribute]]) -> dict[str, Attribute]:
    """
    Returns the parameters of a condition or builder as keyword arguments.

    A dash becomes an underscore. A word of Python has one behind it where the function spells it so: `is` is `is_`.
    """
    return {keyword_of(function, name): value for name, value in parameters}


def check_taken(
    what: str, function: Callable[..., Any], number: int, parameters: Sequence[tuple[str, Attribute]]
) -> None:
    """Raises `RuleError` unless `function` takes `number` things, and these parameters."""
    taken, given = taken_by(function), plain_parameters(function, parameters)
    _check_names(what, taken, function, parameters)
    for name in taken.named:
        if name not in given and name not in taken.optional:
            raise RuleError(f"{what} needs the parameter '{_written(name)}'")
    things = taken.of(list(given))
    least = sum(name not in taken.optional for name in things)
    most = len(things) if taken.more is None else number
    if not least <= number <= most:
        count = str(least) if least == most else f"{least} to {most}"
        count = count if taken.more is None else f"at least {least}"
        names = ", ".join([*things, *([] if taken.more is None else [f"{taken.more[0]} …"])])
        raise RuleError(f"{what} takes {count} value{'' if count == '1' else 's'} ({names}), found {number}")


def _check_names(
    what: str, taken: Taken, function: Callable[..., Any], parameters: Sequence[tuple[str, Attribute]]
) -> None:
    for name, value in parameters:
        keyword = keyword_of(function, name)
        wanted = taken.named.get(keyword, taken.things.get(keyword))
        if wanted is None and not taken.any_name:
            known = [_written(each) for each in taken.named]
            hint = did_you_mean(name, known) or (f"its parameters: {', '.join(known)}" if known else "it takes none")
            raise RuleError(f"{what} has no parameter '{name}'", hint=hint)
        kinds = classes_of(wanted)
        if kinds and not isinstance(value, kinds):
            raise RuleError(f"{what}: parameter '{name}' takes {_kinds_text(kinds)}, found {value}")


def _written(keyword: str) -> str:
    """Returns a parameter as rules spell it."""
    return keyword.removesuffix("_").replace("_", "-")


def classes_of(annotation: Any) -> tuple[type, ...]:
    """Returns the classes of an annotation such as `ClipOp | PadOp`. There are none when it accepts everything."""
    union = not isinstance(annotation, type) and getattr(annotation, "__args__", ())
    members = union or (annotation,)
    plain = all(isinstance(each, type) and each not in (Any, object) for each in members)
    return tuple(members) if plain else ()


WORDS: Final = {
    "TypeAttribute": "a type",
    "FloatAttr": "a float",
    "IntegerAttr": "an integer",
    "StringAttr": "a string",
    "ArrayAttr": "a list",
    "DenseArrayBase": "a dense array such as array<i64: 1, 2>",
    "DictionaryAttr": "a dictionary",
}


def _kinds_text(kinds: Sequence[type]) -> str:
    return " or ".join(WORDS.get(kind.__name__, with_article(kind.__name__)) for kind in kinds)


__all__ = [
    "RuleError",
    "Taken",
    "Thing",
    "check_taken",
    "classes_of",
    "keyword_of",
    "not_a_pattern",
    "plain_parameters",
    "taken_by",
]
