"""Names of a graph and of the graphs around it."""

from __future__ import annotations

from ..errors import ConversionError
from ..value import Value


class Scope:
    """The values of ONNX names. A body sees the names of the graphs around it."""

    def __init__(self, outer: Scope | None = None):
        self.outer = outer
        self._values: dict[str, Value] = {}

    def find(self, name: str) -> Value | None:
        """Returns the value of a name, `None` when there is none."""
        scope: Scope | None = self
        while scope is not None:
            found = scope._values.get(name)
            if found is not None:
                return found
            scope = scope.outer
        return None

    def define(self, name: str, value: Value) -> None:
        """Defines a new name. Raises `ConversionError` when this graph has it already."""
        if name in self._values:
            raise ConversionError(f"'{name}' is defined twice, expected every value to have a name of its own")
        self._values[name] = value

    def redefine(self, name: str, value: Value) -> None:
        """Defines a name, also one that exists, such as an initialiser that is also an input."""
        self._values[name] = value
