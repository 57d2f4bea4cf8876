"""The results of a call: a tuple of arrays that knows their names."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from keyword import iskeyword
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar


class Results(tuple[Any, ...]):
    """
    The results of a program, in order: `result[0]`, `result.logits`, and `result["logits/sum:0"]` for any name.

    It compares and unpacks as the tuple that it is.
    """

    __slots__ = ()
    _fields: ClassVar[tuple[str, ...]] = ()
    _places: ClassVar[dict[str, int]] = {}

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Returns the result with this name. The classes that `results_type` makes have a property for each."""
            ...

    def __getitem__(self, key: Any) -> Any:
        """Returns the result with this place or name. Raises KeyError for a name that no result has."""
        if isinstance(key, str):
            if key not in self._places:
                raise KeyError(f"there is no result '{key}', expected one of {', '.join(self._fields) or 'none'}")
            key = self._places[key]
        return tuple.__getitem__(self, key)

    def _asdict(self) -> dict[str, Any]:
        """Returns the results by name."""
        return dict(zip(self._fields, self, strict=True))

    def __repr__(self) -> str:
        return f"Results({', '.join(f'{name}={value!r}' for name, value in self._asdict().items())})"

    def __reduce__(self) -> tuple[Any, ...]:
        return named_results, (self._fields, tuple(self))


@lru_cache(256)
def results_type(names: tuple[str, ...]) -> type[Results]:
    """Returns the class of the results with these names. Names that are no identifiers are no attributes."""
    places: dict[str, int] = {}
    for place, name in enumerate(names):
        places.setdefault(name, place)
    attributes = {
        name: property(itemgetter(place))
        for name, place in places.items()
        if name.isidentifier() and not iskeyword(name) and not hasattr(Results, name)
    }
    return type("Results", (Results,), {"__slots__": (), "_fields": names, "_places": places, **attributes})


def named_results(names: Iterable[str], values: Iterable[Any]) -> Results:
    """Returns `values` as results called `names`."""
    return results_type(tuple(names))(values)
