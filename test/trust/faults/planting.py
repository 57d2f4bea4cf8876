"""
Planted faults, as data (`faults.toml`), and the function that plants one in the running process.

    from planting import FAULTS, planted

    with planted(FAULTS["clip-bounds-swapped"]):
        ...  # the compiler is wrong here, and right again afterwards

Put `test/trust/faults` on the path first. No fault lives in the package: a fault is a text that stands once in a rule
file, or in one function of one file, and the text that takes its place. A function that is planted gets other code
(`__code__`), so it does not matter who has imported it. A fault whose text is not there, or is there twice, is a
`LookupError`, so the list cannot outlive the code that it is about.

A fault says which programs show it (`programs.py`), the pipeline to run, the pass that is to blame, and the kind and
name of the application inside it.
"""

from __future__ import annotations
import __future__

import gc
import inspect
import textwrap
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import stepwell
from stepwell.rewrites import shipped
from stepwell.rewrites.fusion import rules as fusion_rules

PACKAGE = Path(stepwell.__file__).parent
FILE = Path(__file__).with_name("faults.toml")


@dataclass(frozen=True)
class Fault:
    """One fault: what stands where, what takes its place, what shows it, and what is to blame."""

    name: str
    kind: str
    """What it is an example of: `rule`, `fusion`, `op`, `schedule`, `padding`, `tail`, `arena`, `math` …"""
    file: str
    """A file of the package, such as `rewrites/simplify/signs.mlir`."""
    old: str
    new: str
    pass_: str
    """The name of the pass to blame."""
    application: str
    """The beginning of the application to blame, such as `rule 'add-of-negative'`."""
    programs: tuple[str, ...]
    """The programs that show it, by name."""
    function: str = ""
    """The function or method of a Python file, such as `_Images._padding`."""
    pipeline: str = "O3"

    @property
    def is_rule(self) -> bool:
        return self.file.endswith(".mlir")


def read_faults(path: Path = FILE) -> dict[str, Fault]:
    """Returns the faults of a list by name."""
    found: dict[str, Fault] = {}
    for row in tomllib.loads(path.read_text())["fault"]:
        fields = {**row, "pass_": row["pass"], "programs": tuple(row["programs"])}
        del fields["pass"]
        fault = Fault(**fields)
        if fault.name in found:
            raise LookupError(f"two faults are called '{fault.name}'")
        found[fault.name] = fault
    return found


FAULTS = read_faults()


@contextmanager
def planted(fault: Fault) -> Iterator[None]:
    """Makes the compiler wrong inside the block, in this process only. Compile without the cache there."""
    with _rule_planted(fault) if fault.is_rule else _function_planted(fault):
        yield


def replaced(text: str, fault: Fault) -> str:
    """Returns a text with the fault in it."""
    times = text.count(fault.old)
    if times != 1:
        raise LookupError(f"fault '{fault.name}': {fault.file} has its text {times} times, expected once:\n{fault.old}")
    return text.replace(fault.old, fault.new)


# Rules


@contextmanager
def _rule_planted(fault: Fault) -> Iterator[None]:
    """Has the rules of one shipped file be read from a changed text."""
    stem = Path(fault.file).stem
    wrong = replaced((PACKAGE / fault.file).read_text(encoding="utf-8"), fault)
    text = shipped._text  # pyright: ignore[reportPrivateUsage]
    files = fusion_rules.files

    class Folder:
        """Stands for the folder of the fusion rules."""

        def joinpath(self, name: str) -> Any:
            return self if name == Path(fault.file).name else files(fusion_rules.__package__ or "").joinpath(name)

        def read_text(self, encoding: str) -> str:
            return wrong

    try:
        shipped._text = lambda name: wrong if name == stem else text(name)  # pyright: ignore
        fusion_rules.files = lambda package: Folder()  # pyright: ignore
        _forget_rules()
        yield
    finally:
        shipped._text, fusion_rules.files = text, files  # pyright: ignore
        _forget_rules()


def _forget_rules() -> None:
    """Has all rules be read anew."""
    shipped._texts.cache_clear()  # pyright: ignore[reportPrivateUsage]
    shipped._READ.clear()  # pyright: ignore[reportPrivateUsage]
    shipped._WHOLE.clear()  # pyright: ignore[reportPrivateUsage]
    fusion_rules.shipped_group_rules.cache_clear()


# Functions


@contextmanager
def _function_planted(fault: Fault) -> Iterator[None]:
    """Gives one function other code."""
    function = function_of(fault)
    right = function.__code__
    wrong = _code(replaced(textwrap.dedent(inspect.getsource(function)), fault), function)
    _forget(function)
    try:
        function.__code__ = wrong
        yield
    finally:
        function.__code__ = right
        _forget(function)


def function_of(fault: Fault) -> FunctionType:
    """Returns the function that a fault is about, without what decorators put around it."""
    module = "stepwell." + fault.file.removesuffix(".py").replace("/", ".")
    found: Any = import_module(module)
    for name in fault.function.split("."):
        found = inspect.getattr_static(found, name)
    found = getattr(found, "__func__", None) or getattr(found, "fget", None) or found
    found = inspect.unwrap(found)
    if not isinstance(found, FunctionType):
        raise LookupError(f"fault '{fault.name}': {fault.function} of {fault.file} is no function")
    return found


def _code(source: str, function: FunctionType) -> CodeType:
    """Returns the code of a function that `source` defines."""
    flags = __future__.annotations.compiler_flag
    module = compile(source, f"<fault in {function.__qualname__}>", "exec", flags, dont_inherit=True)
    found = [each for each in module.co_consts if isinstance(each, CodeType) and each.co_name == function.__name__]
    if len(found) != 1 or found[0].co_freevars != function.__code__.co_freevars:
        raise LookupError(f"{function.__qualname__} is not one function without a closure")
    return found[0]


def _forget(function: FunctionType) -> None:
    """Empties the cache around a function, where it has one."""
    for each in gc.get_referrers(function):
        clear = getattr(each, "cache_clear", None)
        if clear is not None and getattr(each, "__wrapped__", None) is function:
            clear()
