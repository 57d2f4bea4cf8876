"""
The methods of `Schedule` that are primitives, made from the functions that run them.

What type checkers see of them is `methods.pyi`, made by `STEPWELL_UPDATE_DOCS=1 pytest
test/unit/schedule/test_primitives_page.py`. A test compares the two.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from ...core.messages.diagnostics import did_you_mean
from ..primitives.steps import Primitive
from ..primitives.table import all_primitives

_HANDLES = {"ForOp | BlockOp": "Handle", "BlockOp": "BlockHandle", "ForOp": "LoopHandle"}
_WORDS = re.compile("|".join(map(re.escape, _HANDLES)))


class PrimitiveMethods:
    """Has one method per primitive, which runs it and writes it down."""

    def _record(self, primitive: Primitive, arguments: dict[str, Any]) -> Any:
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        hint = did_you_mean(name, (each.name for each in all_primitives()))
        raise AttributeError(f"Schedule has no primitive '{name}'{f'; {hint}' if hint else ''}")


def signature_of(primitive: Primitive) -> inspect.Signature:
    """Returns the signature of the method: that of the function, with handles for loops, blocks and samples."""
    parameters = [each.replace(annotation=_in_handles(each.annotation)) for each in primitive.parameters]
    first = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    returned = _in_handles(inspect.signature(primitive.function).return_annotation).replace("int", "NumberHandle")
    return inspect.Signature([first, *parameters], return_annotation=returned)


def _in_handles(annotation: str) -> str:
    return _WORDS.sub(lambda found: _HANDLES[found[0]], annotation)


def _call(signature: inspect.Signature) -> str:
    """Returns the parameters of a method as a caller gives them."""
    return f"({', '.join(str(each) for name, each in signature.parameters.items() if name != 'self')})"


def _method_of(primitive: Primitive) -> Callable[..., Any]:
    signature = signature_of(primitive)

    def method(self: PrimitiveMethods, *arguments: Any, **keywords: Any) -> Any:
        try:
            bound = signature.bind(self, *arguments, **keywords)
        except TypeError as error:
            raise TypeError(f"{primitive.name}: {error}; expected {_call(signature)}") from None
        bound.apply_defaults()
        return self._record(primitive, bound.arguments)  # pyright: ignore[reportPrivateUsage]

    method.__name__, method.__qualname__ = primitive.name, f"Schedule.{primitive.name}"
    method.__doc__ = primitive.function.__doc__
    method.__signature__ = signature  # pyright: ignore[reportFunctionMemberAccess]
    method.__annotations__ = {name: each.annotation for name, each in signature.parameters.items() if name != "self"}
    method.__annotations__["return"] = signature.return_annotation
    return method


for _primitive in all_primitives():
    setattr(PrimitiveMethods, _primitive.name, _method_of(_primitive))
