"""Data classes of xDSL whose methods are made late are those that Python makes."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
from typing import Any

import pytest
from stepwell.core.late_classes import late_classes

DESCRIBE = """
import dataclasses, inspect, sys
from xdsl.dialects import arith, builtin, func, llvm, memref, vector
import xdsl.irdl.declarative_assembly_format_parser, xdsl.passes, xdsl.pattern_rewriter

METHODS = "__init__ __repr__ __eq__ __hash__ __setattr__ __delattr__ __match_args__ __post_init__".split()
seen = {}
for module in [each for name, each in sorted(sys.modules.items()) if name.startswith("xdsl.")]:
    for each in vars(module).values():
        if isinstance(each, type) and "__dataclass_params__" in vars(each):
            seen[f"{each.__module__}.{each.__qualname__}"] = each
for name, each in seen.items():
    own = [f"{method}: {vars(each)[method] is None}" for method in METHODS if method in vars(each)]
    fields = [
        (field.name, str(field.type), repr(field.default), field.init, field.compare)
        for field in dataclasses.fields(each)
    ]
    signature = str(inspect.signature(each.__init__)) if "__init__" in vars(each) else ""
    print(name, each.__dataclass_params__, own, fields, signature, getattr(each, "__abstractmethods__", ""))
a, b = builtin.IntegerAttr(3, builtin.i32), builtin.IntegerAttr(3, builtin.i32)
assert a == b and hash(a) == hash(b) and a != builtin.IntegerAttr(4, builtin.i32)
print(repr(a), hash((a.value, a.type)) == hash(a), {a: 1}[b])
try:
    a.value = 4
except dataclasses.FrozenInstanceError as error:
    print(error)
"""

LATE = "from stepwell.core.late_formats import late_formats\nwith late_formats():\n"


def described(code: str) -> list[str]:
    environment = os.environ | {"PYTHONHASHSEED": "0"}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr
    return re.sub(" at 0x[0-9a-f]+", "", run.stdout).splitlines()


def test_xdsl_has_the_same_data_classes() -> None:
    imports = "".join(f"    {line}\n" for line in DESCRIBE.strip().splitlines()[:3])
    late = described(LATE + imports + DESCRIBE)
    python = set(described(DESCRIBE))  # It loads fewer modules.
    assert len(python) > 200
    assert python <= set(late), sorted(python - set(late))[:3]


def test_classes_of_others_are_left_to_python() -> None:
    python = dataclasses.dataclass
    with late_classes():
        assert dataclasses.dataclass is not python

        @dataclasses.dataclass(frozen=True)
        class Other:
            number: int = 3

        @dataclasses.dataclass
        class Plain:
            number: int

        with late_classes():
            pass
        assert dataclasses.dataclass is not python
    assert dataclasses.dataclass is python
    assert type(vars(Other)["__init__"]).__name__ == "function"
    assert Other() == Other(3) and hash(Other()) == hash((3,)) and Plain(2).number == 2


@pytest.mark.parametrize("module", ["xdsl.ir", "stepwell.te"])
def test_methods_of_ours_and_of_xdsl_are_made_on_first_use(module: str) -> None:
    parts = {"__module__": module, "__annotations__": {"n": int}}
    with late_classes():
        kept: Any = dataclasses.dataclass(frozen=True)(type("Kept", (), dict(parts)))
        keyword: Any = dataclasses.dataclass(kw_only=True)(type("Keyword", (), dict(parts)))
        below: Any = dataclasses.dataclass()(type("Below", (keyword,), parts | {"__annotations__": {"m": int}}))
    copied: Any = type("Copied", (), dict(vars(kept)))
    assert type(vars(kept)["__eq__"]).__name__ == "_Method"
    assert copied(1) == copied(1) and kept(1) == kept(1)
    assert {type(vars(each)["__eq__"]).__name__ for each in (kept, copied)} == {"function"}
    with pytest.raises(TypeError):
        keyword(1)
    assert below(1, n=2).m == 1
