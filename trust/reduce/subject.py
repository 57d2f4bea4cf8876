"""What is reduced: a program as IR or as text, with its size and the bytes that are written."""

from __future__ import annotations

from abc import ABC, abstractmethod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...core.ir.verification import verify_module
from ...core.ir.walk import walk
from ...core.text.parsing import parse_text


class Subject(ABC):
    """A program that moves shrink in place."""

    suffix: str

    @abstractmethod
    def data(self) -> bytes:
        """Returns what is written to a file."""

    @abstractmethod
    def load(self, data: bytes) -> None:
        """Takes over what `data` has returned."""

    @abstractmethod
    def parsed(self) -> ModuleOp:
        """Returns the program as IR. Raises where it is none."""

    @abstractmethod
    def check(self) -> None:
        """Raises where the program is not valid."""

    @abstractmethod
    def ops(self) -> int:
        """Returns the number of ops."""

    def size(self) -> tuple[int, int]:
        """Returns the number of ops and of bytes."""
        return self.ops(), len(self.data())


class Program(Subject):
    """
    A program in MLIR. Text that cannot be parsed is reduced as text, and `module` is `None`.

    A program that can be parsed but is not valid stays so: `is_valid` is unset, and `parsed` raises what is wrong.
    """

    suffix = ".mlir"

    def __init__(self, context: Context, text: str, name: str):
        self.context, self.name = context, name
        self.module: ModuleOp | None = None
        self._text = text
        self.is_valid = False
        try:
            self.module = parse_text(context, text, name)
            verify_module(self.module)
            self.is_valid = True
        except Exception as error:
            self.reason = error

    @property
    def text(self) -> str:
        """Returns the text of the program as it is now."""
        return self._text if self.module is None else str(self.module) + "\n"

    @text.setter
    def text(self, text: str) -> None:
        if self.module is not None:
            self.module = parse_text(self.context, text, self.name)
        self._text = text

    def data(self) -> bytes:
        return self.text.encode()

    def load(self, data: bytes) -> None:
        self.text = data.decode()

    def check(self) -> None:
        if self.is_valid and self.module is not None:
            verify_module(self.module)

    def ops(self) -> int:
        if self.module is None:
            return sum(bool(line.strip(" {}()")) for line in self._text.splitlines())
        return len(walk(self.module)) - 1

    def parsed(self) -> ModuleOp:
        """Returns the module. Raises `StepwellError` where the text is no program, or none that is valid."""
        module = parse_text(self.context, self._text, self.name) if self.module is None else self.module
        if not self.is_valid:
            verify_module(module)
        return module
