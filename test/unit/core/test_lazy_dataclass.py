"""Data classes whose methods are made on first use are as those of Python."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import field
from typing import Any, ClassVar

import pytest
from stepwell.lazy_dataclass import dataclass as lazy


def build(dataclass: Any, **options: Any) -> type:
    """Returns a class of everything that a field may be, decorated by `dataclass`."""

    class Record:
        """A record."""

        kind: ClassVar[str] = "record"
        first: int
        second: str = "two"
        third: list[int] = field(default_factory=list)
        fourth: int = field(default=4, repr=False, compare=False)
        made: dict[str, int] = field(init=False, default_factory=dict)

        def total(self) -> int:
            return self.first + self.fourth

    Record.__qualname__ = "Record"
    return dataclass(**options)(Record)


BOTH = pytest.mark.parametrize("options", [{}, {"frozen": True}, {"eq": False}, {"frozen": True, "eq": False}], ids=str)


@BOTH
def test_an_object_is_as_pythons(options: dict[str, bool]):
    mine, pythons = build(lazy, **options), build(dataclasses.dataclass, **options)
    for cls in (mine, pythons):
        assert cls(1) != "other"
        assert (cls(1, "x", [2]) == cls(1, "x", [2], 9)) is options.get("eq", True)
        assert cls(1) != cls(2)
    a, b = mine(1, third=[3]), pythons(1, third=[3])
    assert repr(a) == repr(b) == "Record(first=1, second='two', third=[3], made={})"
    assert dataclasses.asdict(a) == dataclasses.asdict(b)
    assert dataclasses.replace(a, first=7, fourth=1).total() == 8
    assert mine.__match_args__ == pythons.__match_args__ and mine.__doc__ == pythons.__doc__
    assert str(inspect.signature(mine)) == str(inspect.signature(pythons))
    assert copy.deepcopy(a).third == [3] and a.third is not mine(1).third
    assert mine.kind == "record" and mine.second == "two" and not hasattr(mine, "third")


@BOTH
def test_fields_are_as_pythons(options: dict[str, bool]):
    shown = [
        [
            (each.name, each.type, each.init, each.repr, each.compare)
            for each in dataclasses.fields(build(one, **options))
        ]
        for one in (lazy, dataclasses.dataclass)
    ]
    assert shown[0] == shown[1]


@pytest.mark.parametrize("options", [{}, {"frozen": True}, {"eq": False}, {"frozen": True, "eq": False}], ids=str)
def test_the_hash_is_as_pythons(options: dict[str, bool]):
    def hashed(dataclass: Any) -> object:
        @dataclass(**options)
        class Pair:
            a: int
            b: tuple[int, ...] = ()

        return Pair.__hash__ is None if Pair.__hash__ in (None, object.__hash__) else hash(Pair(1, (2,)))

    assert hashed(lazy) == hashed(dataclasses.dataclass)


def test_what_a_class_defines_itself_stays():
    @lazy(frozen=True)
    class Own:
        a: int

        def __init__(self, a: int):
            object.__setattr__(self, "a", a + 1)

        def __repr__(self) -> str:
            return "own"

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 5

    assert (Own(1).a, repr(Own(1)), Own(1) == Own(2), hash(Own(1))) == (2, "own", True, 5)


def refusal(act: Callable[[], object]) -> str:
    with pytest.raises(dataclasses.FrozenInstanceError) as error:
        act()
    return str(error.value)


@pytest.mark.parametrize("below", [lazy, dataclasses.dataclass])
@pytest.mark.parametrize("above", [lazy, dataclasses.dataclass])
def test_a_frozen_class_and_its_base_refuse_changes(below: Any, above: Any):
    @below(frozen=True)
    class Base:
        a: int = 1

        def __post_init__(self) -> None:
            assert self.a < 10

    @above(frozen=True)
    class Derived(Base):
        b: int = 2

    class Plain(Derived):
        pass

    made = Derived(b=3)
    assert (made.a, made.b) == (1, 3) and made == Derived(1, 3) and made != Derived(2, 3)
    assert refusal(lambda: setattr(made, "a", 2)) == "cannot assign to field 'a'"
    assert refusal(lambda: setattr(made, "other", 2)) == "cannot assign to field 'other'"
    assert refusal(lambda: delattr(made, "b")) == "cannot delete field 'b'"
    plain = Plain()
    plain.other = 3  # As in Python, a class that is derived without the decorator takes what is no field.
    assert refusal(lambda: setattr(plain, "b", 2)) == "cannot assign to field 'b'"
    with pytest.raises(AssertionError):
        Derived(11)


def test_frozen_and_other_classes_do_not_mix():
    @lazy
    class Open:
        a: int = 1

    with pytest.raises(TypeError, match="cannot inherit frozen from non-frozen"):

        @lazy(frozen=True)
        class Derived(Open):
            pass

    with pytest.raises(ValueError, match="mutable default <class 'list'> for field a"):

        @lazy
        class Shared:
            a: list[int] = []  # noqa: RUF012, RUF100


@lazy(frozen=True)
class Tree:
    """A record at module level, which pickles."""

    value: int
    below: Tree | None = None


def test_records_pickle_and_show_cycles():
    assert pickle.loads(pickle.dumps(Tree(1, Tree(2)))) == Tree(1, Tree(2))

    @lazy
    class Loop:
        to: Any = None

    loop = Loop()
    loop.to = loop
    assert repr(loop).endswith("Loop(to=...)")


def test_methods_are_made_on_first_use_and_once():
    @lazy(frozen=True)
    class Late:
        a: int = 1

    method = vars(Late)["__init__"]
    assert type(method).__name__ == "_Method"
    made = Late.__init__
    assert vars(Late)["__init__"] is made is Late.__init__ and inspect.isfunction(made)
    assert made.__qualname__.endswith("Late.__init__") and type(vars(Late)["__eq__"]).__name__ == "_Method"


def test_options_that_need_python_get_python():
    @lazy(slots=True)
    class Slotted:
        a: int

    assert Slotted.__slots__ == ("a",) and Slotted(1) == Slotted(1)
