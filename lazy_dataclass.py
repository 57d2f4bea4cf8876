"""
The decorator `dataclass` of Python, whose methods are made when they are first used.

Python writes the source of each method of a data class and compiles it when the class is defined. That is a third of a
millisecond per class, and a program uses few methods of the 300 classes that it loads. Here a method is a descriptor
until then. All else is as Python does it: `fields`, `replace`, `asdict`, `inspect.signature`, inheritance both ways.
"""

from __future__ import annotations

import dataclasses
from abc import update_abstractmethods
from collections.abc import Callable
from functools import cache
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass


_PYTHONS: Final = dataclasses.dataclass
"""The decorator of Python, in whose place there may be another one (`core/late_classes.py`)."""


class _Factory:
    def __repr__(self) -> str:
        return "<factory>"


_FACTORY: Final = _Factory()
"""Stands in signatures for a default that is made anew for each object."""


class _Method:
    """A method of `owner` that is made when it is first looked up, and takes this place then."""

    def __init__(self, owner: type, name: str, make: Callable[[type], Callable[..., Any]]):
        self.owner, self.name, self.make = owner, name, make

    def __get__(self, instance: object, kind: type | None = None) -> Any:
        made: Any = vars(self.owner).get(self.name)
        if made is self:
            made = self.make(self.owner)
            made.__name__, made.__qualname__ = self.name, f"{self.owner.__qualname__}.{self.name}"
            made.__module__ = self.owner.__module__
            setattr(self.owner, self.name, made)
        for each in () if kind is None else kind.__mro__:  # xDSL makes classes of the parts of others.
            if vars(each).get(self.name) is self:
                setattr(each, self.name, made)
        return made.__get__(instance, kind)


def _fields(cls: Any) -> dict[str, Any]:
    return {each.name: each for each in dataclasses.fields(cls)}


def _compiled(signature: str, body: list[str], names: dict[str, Any]) -> Callable[..., Any]:
    text = "\n ".join([f"def method({signature}):", *(body or ["pass"])])
    exec(text, names)
    return names["method"]


def _make_init(cls: Any) -> Callable[..., Any]:
    """Returns `__init__`, with the defaults and annotations that Python gives it."""
    names: dict[str, Any] = {"_set": object.__setattr__, "_FACTORY": _FACTORY}
    assign = "_set(self, {0!r}, {1})" if cls.__dataclass_params__.frozen else "self.{0} = {1}"
    parameters, body, kinds = ["self"], [], {}
    for name, field in _fields(cls).items():
        value = name
        if field.default_factory is not dataclasses.MISSING:
            names[f"_make_{name}"] = field.default_factory
            value = f"_make_{name}() if {name} is _FACTORY else {name}" if field.init else f"_make_{name}()"
            default = "_FACTORY"
        else:
            default = f"_default_{name}"
            names[default] = field.default
        if field.init:
            parameters.append(name if names.get(default) is dataclasses.MISSING else f"{name}={default}")
            kinds[name] = field.type
        elif field.default_factory is dataclasses.MISSING:
            continue
        body.append(assign.format(name, value))
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    made = _compiled(", ".join(parameters), body, names)
    made.__annotations__ = {**kinds, "return": None}
    return made


def _tuple_of(cls: Any, subject: str, asked: Callable[[Any], bool]) -> str:
    return f"({''.join(f'{subject}.{name}, ' for name, field in _fields(cls).items() if asked(field))})"


def _make_eq(cls: Any) -> Callable[..., Any]:
    mine, theirs = (_tuple_of(cls, subject, lambda field: field.compare) for subject in ("self", "other"))
    same = f"return {mine} == {theirs} if other.__class__ is self.__class__ else NotImplemented"
    return _compiled("self, other", [same], {})


def _make_hash(cls: Any) -> Callable[..., Any]:
    hashed = _tuple_of(cls, "self", lambda field: field.compare if field.hash is None else field.hash)
    return _compiled("self", [f"return hash({hashed})"], {})


def _make_repr(cls: Any) -> Callable[..., Any]:
    names = [name for name, field in _fields(cls).items() if field.repr]

    @recursive_repr()
    def represent(self: object) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return represent


def _freeze(cls: Any) -> None:
    """Gives `cls` the methods that refuse to change an object, as Python does."""
    if "__setattr__" in vars(cls) or "__delattr__" in vars(cls):
        raise TypeError(f"Cannot overwrite attribute __setattr__ or __delattr__ in class {cls.__name__}")
    names = vars(cls)["__dataclass_fields__"]

    def __setattr__(self: object, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: object, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    cls.__setattr__, cls.__delattr__ = __setattr__, __delattr__


@cache
def _template(init: bool, repr: bool, eq: bool, frozen: bool) -> Any:
    """Returns a class of Python's own with these options. What Python hangs on classes for itself is taken from it."""

    @_PYTHONS(init=init, repr=repr, eq=eq, frozen=frozen)
    class Template:
        field: int

    return Template


def _take_fields(cls: Any, template: Any) -> dict[str, dataclasses.Field[Any]]:
    """Returns the fields of `cls`, those of its bases first, and leaves defaults only on the class."""
    fields: dict[str, Any] = {}
    for base in cls.__mro__[-1:0:-1]:
        fields.update(vars(base).get("__dataclass_fields__", {}))
    for name, kind in cls.__annotations__.items():  # its own alone
        default: Any = getattr(cls, name, dataclasses.MISSING)
        if "ClassVar" in str(kind):
            if isinstance(default, dataclasses.Field):
                delattr(cls, name) if default.default is dataclasses.MISSING else setattr(cls, name, default.default)
            continue
        field: Any = default if isinstance(default, dataclasses.Field) else dataclasses.field(default=default)
        if field.default.__class__.__hash__ is None:
            raise ValueError(f"mutable default {type(field.default)} for field {name} is not allowed")
        field.name, field.type = name, kind
        field._field_type = template.__dataclass_fields__["field"]._field_type
        field.kw_only = False
        if field is default:
            delattr(cls, name) if field.default is dataclasses.MISSING else setattr(cls, name, field.default)
        fields[name] = field
    return fields


def _decorated(cls: Any, init: bool, repr: bool, eq: bool, frozen: bool) -> type:
    template = _template(init, repr, eq, frozen)
    bases = [base for base in cls.__mro__[1:] if "__dataclass_params__" in vars(base)]
    if any(base.__dataclass_params__.frozen is not frozen for base in bases):
        raise TypeError(f"cannot inherit {'frozen from non-frozen' if frozen else 'non-frozen from frozen'} data class")
    explicit_hash = vars(cls).get("__hash__") is not None or "__hash__" in vars(cls) and "__eq__" not in vars(cls)
    cls.__dataclass_fields__ = fields = _take_fields(cls, template)
    cls.__dataclass_params__ = template.__dataclass_params__
    if "__match_args__" not in vars(cls):
        cls.__match_args__ = tuple(name for name, field in fields.items() if field.init)
    if "__replace__" in vars(template) and "__replace__" not in vars(cls):  # from Python 3.13 on
        cls.__replace__ = vars(template)["__replace__"]
    wanted = {"__init__": (init, _make_init), "__repr__": (repr, _make_repr), "__eq__": (eq, _make_eq)}
    for name, (asked, make) in wanted.items():
        if asked and name not in vars(cls):
            setattr(cls, name, _Method(cls, name, make))
    if frozen:
        _freeze(cls)
    if eq and not explicit_hash:
        cls.__hash__ = _Method(cls, "__hash__", _make_hash) if frozen else None
    update_abstractmethods(cls)
    return cls


if not TYPE_CHECKING:

    def dataclass(cls=None, /, *, init=True, repr=True, eq=True, frozen=False, **others) -> Any:
        """
        Returns the class as a data class, as `dataclasses.dataclass` does.

        `others` are options of Python's decorator that need it, such as `slots`: it is called then. Fields for keywords
        only and `InitVar` are not supported.
        """
        if others:
            return _PYTHONS(cls, init=init, repr=repr, eq=eq, frozen=frozen, **others)
        if cls is None:
            return lambda each: _decorated(each, init, repr, eq, frozen)
        return _decorated(cls, init, repr, eq, frozen)
