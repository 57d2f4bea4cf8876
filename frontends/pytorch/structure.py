"""Nested arguments and results as flat lists: tensors, and what stays the same in each call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from inspect import Parameter, Signature
from typing import Any, Final

from ...core.messages.articles import with_article
from ...lazy_dataclass import dataclass
from ...runtime.errors import ArgumentError
from .errors import fail, package
from .tensors import Array, array_of, tensor_of

TREES: Final = "torch.utils._pytree"
"""The module by which PyTorch's own exporters take nested values apart. Its functions have no public name."""


class Tensor:
    """Stands for a tensor in a list of leaves."""

    def __repr__(self) -> str:
        return "a tensor"


class Size:
    """Stands for a number that depends on sizes in a list of leaves."""

    def __repr__(self) -> str:
        return "a size"


TENSOR: Final = Tensor()
SIZE: Final = Size()


@dataclass(frozen=True)
class Structure:
    """
    The way in which values nest (a `TreeSpec` of PyTorch), and the leaves: TENSOR, SIZE, or a value that never changes.
    """

    spec: Any
    leaves: tuple[Any, ...]
    names: tuple[str, ...] = ()
    """The name of each leaf in messages: `x`, `x['mask']`."""

    def arrays(self, values: tuple[Sequence[Any], Mapping[str, Any]]) -> list[Array]:
        """
        Returns the tensors in the arguments of a call as arrays.

        Raises ArgumentError where arguments nest in another way, or where a value differs that is part of the program.
        """
        found, spec = package(TREES).tree_flatten(values)
        if spec != self.spec:
            raise ArgumentError(f"found {_shown(spec, found)}, expected {_shown(self.spec, self.leaves)}")
        arrays: list[Array] = []
        for value, leaf, name in zip(found, self.leaves, self.names, strict=True):
            if leaf is TENSOR:
                arrays.append(array_of(value, name))
            elif type(value) is not type(leaf) or value != leaf:
                raise ArgumentError(f"'{name}' is {value!r}, and the program was compiled for {leaf!r}")
        return arrays

    def values(self, arrays: Sequence[Array]) -> Any:
        """Returns what a module would have returned, of the arrays that a program has computed."""
        left = iter(arrays)
        leaves = [
            tensor_of(next(left)) if each is TENSOR else int(next(left)) if each is SIZE else each
            for each in self.leaves
        ]
        return package(TREES).tree_unflatten(leaves, self.spec)


def check_leaves(what: str, structure: Structure, role: str) -> None:
    """
    Raises TorchError for a leaf that is neither a tensor nor plain data. PyTorch cannot look inside of such an object.
    """
    torch = package()
    plain = (bool, int, float, complex, str, bytes, Enum, torch.dtype, torch.device, torch.memory_format, torch.layout)
    for leaf in structure.leaves:
        if leaf is not None and leaf is not TENSOR and leaf is not SIZE and not isinstance(leaf, plain):
            kind = with_article(type(leaf).__name__)
            hint = "leave it out, or let torch.utils._pytree.register_pytree_node tell how it is made of tensors"
            fail(what, f"{kind} is among its {role}, expected tensors, tuples, lists, dicts and plain data", hint)


def arguments_of(signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Structure:
    """Returns the structure of the arguments of a call, which `signature` names."""
    torch, trees = package(), package(TREES)
    paths, spec = trees.tree_flatten_with_path((tuple(args), dict(kwargs)))
    leaves = tuple(TENSOR if isinstance(leaf, torch.Tensor) else leaf for _, leaf in paths)
    return Structure(spec, leaves, tuple(_name(trees, list(signature.parameters.values()), path) for path, _ in paths))


def results_of(results: Any) -> tuple[Structure, list[Any]]:
    """Returns the structure of what a module returns while it is traced, and its tensors and sizes."""
    torch, trees = package(), package(TREES)
    found, spec = trees.tree_flatten(results)
    kinds = [TENSOR if isinstance(v, torch.Tensor) else SIZE if isinstance(v, torch.SymInt) else v for v in found]
    return Structure(spec, tuple(kinds)), [
        value for value, kind in zip(found, kinds, strict=True) if kind is TENSOR or kind is SIZE
    ]


def bound(
    signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """
    Returns arguments in the one form that `signature` has for them, so `f(1, y=2)` and `f(1, 2)` are one call.

    Raises ArgumentError for arguments that the signature does not have.
    """
    try:
        found = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise ArgumentError(f"the arguments do not fit the module: {error}") from None
    return found.args, found.kwargs


def _name(trees: Any, parameters: Sequence[Parameter], path: Sequence[Any]) -> str:
    """Returns the name of a leaf: that of its parameter, with the keys inside of it."""
    place, rest = path[1], trees.keystr(path[2:])
    if hasattr(place, "key"):
        return f"{place.key}{rest}"
    for number, each in enumerate(parameters):
        if each.kind is Parameter.VAR_POSITIONAL:
            return f"{each.name}[{place.idx - number}]{rest}"
        if number == place.idx:
            return f"{each.name}{rest}"
    return f"argument {place.idx}{rest}"


def _shown(spec: Any, leaves: Sequence[Any]) -> str:
    """Returns arguments as messages show them: `(a tensor, k=3)`."""
    torch, trees = package(), package(TREES)
    texts = [Word("a tensor") if leaf is TENSOR or isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
    args, kwargs = trees.tree_unflatten(texts, spec)
    return f"({', '.join([*map(repr, args), *(f'{name}={value!r}' for name, value in kwargs.items())])})"


class Word(str):
    """Text that shows without its quotes."""

    def __repr__(self) -> str:
        return str(self)
