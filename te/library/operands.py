"""What the library says to arrays and numbers where a function takes tensors."""

from __future__ import annotations

from functools import wraps
from inspect import CO_VARARGS
from types import FunctionType
from typing import Any

from ..expr import TEError
from ..tensor import Tensor
from ..words import shortened


def takes_tensors(function: Any) -> Any:
    """
    Returns a function of the library that raises TEError for what is no tensor where the annotation says `Tensor`.

    Arrays have a shape and a type as well, so that the function itself would find out late, or not at all.
    """
    if not isinstance(function, FunctionType):
        return function
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    tensors = frozenset(name for name, type_ in function.__annotations__.items() if type_ == "Tensor")
    places = [number for number, name in enumerate(names) if name in tensors]
    rest = code.co_varnames[code.co_argcount + code.co_kwonlyargcount :][:1] if code.co_flags & CO_VARARGS else ()
    first_of_rest = len(names) if tensors.intersection(rest) else None

    @wraps(function)
    def checked(*args: Any, **keywords: Any) -> Any:
        given = [args[number] for number in places if number < len(args)]
        given += [value for name, value in keywords.items() if name in tensors]
        if first_of_rest is not None:
            given += args[first_of_rest:]
        for each in given:
            if not isinstance(each, Tensor):
                hint = "te.placeholder stands for an array, te.evaluate takes its values"
                raise TEError(f"{function.__name__}: found {shortened(each)}, expected a tensor; {hint}")
        return function(*args, **keywords)

    return checked
