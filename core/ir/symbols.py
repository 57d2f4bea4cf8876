"""
References to symbols, what they refer to, and new names for them.

A net has a call per kernel and layer, and making an attribute takes as long as making an op.
"""

from __future__ import annotations

from functools import lru_cache
from weakref import WeakKeyDictionary, WeakValueDictionary

from xdsl.dialects.builtin import StringAttr, SymbolRefAttr
from xdsl.ir import Operation
from xdsl.traits import SymbolTable

_tables: WeakKeyDictionary[Operation, WeakValueDictionary[str, Operation]] = WeakKeyDictionary()
"""The ops of each symbol table, by symbol name. An entry is checked before it is used, so edits do no harm."""


@lru_cache(maxsize=4096)
def symbol(name: str) -> SymbolRefAttr:
    """Returns `@name`. Attributes never change, so that one serves all who ask."""
    return SymbolRefAttr(name)


def fresh_name(wish: str, taken: set[str]) -> str:
    """Returns `wish`, or `wish_1` and so on where that is taken, and adds it to `taken`."""
    name, number = wish, 1
    while name in taken:
        name, number = f"{wish}_{number}", number + 1
    taken.add(name)
    return name


def symbol_table_of(op: Operation) -> Operation | None:
    """Returns the closest op around `op` that is a symbol table, or `None`."""
    around = op.parent_op()
    while around is not None and not around.has_trait(SymbolTable, value_if_unregistered=False):
        around = around.parent_op()
    return around


def lookup_symbol(op: Operation, name: str) -> Operation | None:
    """
    Returns the op of symbol `name` as seen from `op`, or `None`. It takes constant time where xDSL scans the module.
    """
    table = symbol_table_of(op)
    if table is None:
        return None
    found = _tables[table].get(name) if table in _tables else None
    if found is None or found.parent_op() is not table or _symbol_name(found) != name:
        _tables[table] = index = symbols_of(table)
        found = index.get(name)
    return found


def _symbol_name(op: Operation) -> str | None:
    name = op.properties.get("sym_name", op.attributes.get("sym_name"))
    return name.data if isinstance(name, StringAttr) else None


def symbols_of(table: Operation) -> WeakValueDictionary[str, Operation]:
    """Returns the ops of a symbol table by name."""
    ops = (op for region in table.regions for block in region.blocks for op in block.ops)
    return WeakValueDictionary({name: op for op in ops if (name := _symbol_name(op)) is not None})


def value_name(name: str) -> str:
    """Returns `name` as the name of a value, which has ASCII letters only. A name of such letters stays as it is."""
    if name.isascii():
        return name
    folded = "".join(each if each.isascii() else "_" for each in name)
    return f"v{folded}" if folded.startswith("_") else folded
