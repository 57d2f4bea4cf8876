"""Attributes that are made without checks are those that their constructors make."""

from __future__ import annotations

from stepwell.core.attributes import shared_string, unchecked
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, NameLoc, StringAttr


def test_an_unchecked_attribute_is_like_others() -> None:
    place = FileLineColLoc(StringAttr("a.mlir"), IntAttr(3), IntAttr(1))
    made = unchecked(FileLineColLoc, filename=StringAttr("a.mlir"), line=IntAttr(3), column=IntAttr(1))
    assert (made, hash(made), str(made), vars(made)) == (place, hash(place), str(place), vars(place))
    assert unchecked(NameLoc, desc=StringAttr("x"), location=made) == NameLoc(StringAttr("x"), place)


def test_a_shared_string_is_one_object() -> None:
    assert shared_string("a") is shared_string("a") and shared_string("a") == StringAttr("a")
