"""
Computes on index expressions of loop variables: simplification, which variables their values tell, which values they
take.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr

from ...analysis.affine import Interval, bounds, from_terms, linear_terms

Ranges = Sequence[Interval | None]
"""The values of each dimension."""

FLOOR, MOD = AffineBinaryOpKind.FloorDiv, AffineBinaryOpKind.Mod


def quotient(atom: AffineExpr) -> tuple[AffineBinaryOpKind, AffineExpr, int] | None:
    """Returns `x floordiv c` or `x mod c` as (kind, x, c)."""
    if isinstance(atom, AffineBinaryOpExpr) and atom.kind in (FLOOR, MOD):
        if isinstance(atom.rhs, AffineConstantExpr) and atom.rhs.value > 0:
            return atom.kind, atom.lhs, atom.rhs.value
    return None


def simplify(expr: AffineExpr, ranges: Ranges) -> AffineExpr:
    """
    Returns the normal form of `expr` with divisions removed where the ranges allow it.

    `(a * c + b) floordiv c = a + b floordiv c`, which is `a` where `0 <= b < c`. The same holds for `mod`. Also `x
    floordiv c * c + x mod c = x`.
    """
    terms, constant = linear_terms(expr)
    result: dict[AffineExpr, int] = {}
    for atom, factor in terms.items():
        added, offset = linear_terms(_simplify_atom(atom, ranges))
        constant += factor * offset
        for part, inner in added.items():
            result[part] = result.get(part, 0) + factor * inner
    _join_quotients(result)
    return from_terms({atom: factor for atom, factor in result.items() if factor}, constant)


def _simplify_atom(atom: AffineExpr, ranges: Ranges) -> AffineExpr:
    found = quotient(atom)
    if found is None:
        return atom
    kind, inner, divisor = found
    terms, constant = linear_terms(simplify(inner, ranges))
    whole = {part: factor // divisor for part, factor in terms.items() if factor % divisor == 0}
    rest = {part: factor for part, factor in terms.items() if factor % divisor}
    remainder = from_terms(rest, constant % divisor)
    interval = bounds(remainder, ranges)
    fits = interval is not None and interval[0] >= 0 and interval[1] < divisor
    if kind is MOD:
        return remainder if fits else AffineBinaryOpExpr(MOD, remainder, AffineConstantExpr(divisor))
    quotients = from_terms(whole, constant // divisor)
    if fits:
        return quotients
    return quotients + AffineBinaryOpExpr(FLOOR, remainder, AffineConstantExpr(divisor))


def _join_quotients(terms: dict[AffineExpr, int]) -> None:
    """Replaces `x floordiv c * c + x mod c` by `x`."""
    for atom, factor in list(terms.items()):
        found = quotient(atom)
        if found is None or found[0] is not MOD:
            continue
        other = AffineBinaryOpExpr(FLOOR, found[1], AffineConstantExpr(found[2]))
        if factor and terms.get(other) == factor * found[2]:
            inner, offset = linear_terms(found[1])
            if offset == 0:
                terms[atom] = terms[other] = 0
                for part, coefficient in inner.items():
                    terms[part] = terms.get(part, 0) + coefficient * factor


def told_apart(
    equations: Iterable[tuple[Mapping[AffineExpr, int], int]], known: Iterable[int], ranges: Ranges
) -> set[int]:
    """
    Returns the dimensions whose values follow from those of the equations, once those of `known` are given.

    An equation is `(terms, slack)`. The sum of the terms is known up to an error of at most `slack`. It tells its atoms
    when, sorted, each factor exceeds what the slack and all smaller ones together reach, as in `i * 16 + j` for j below
    16.
    """
    left = [(dict(terms), slack) for terms, slack in equations]
    dims, atoms = set(known), set[AffineExpr]()
    size = -1
    while size < len(dims) + len(atoms):
        size = len(dims) + len(atoms)
        for terms, slack in list(left):
            open_terms = {a: f for a, f in terms.items() if a not in atoms and not _is_known(a, dims)}
            if _tells(open_terms, slack, ranges):
                atoms |= open_terms.keys()
                dims |= {atom.position for atom in open_terms if isinstance(atom, AffineDimExpr)}
        for atom in list(atoms):
            found = quotient(atom)
            if found is not None and found[0] is MOD:
                if AffineBinaryOpExpr(FLOOR, found[1], AffineConstantExpr(found[2])) in atoms:
                    left.append((linear_terms(found[1])[0], 0))
    return dims


def _is_known(atom: AffineExpr, dims: set[int]) -> bool:
    return atom.used_dims() <= dims


def _tells(terms: Mapping[AffineExpr, int], slack: int, ranges: Ranges) -> bool:
    reach = slack
    for atom, factor in sorted(terms.items(), key=lambda item: (abs(item[1]), str(item[0]))):
        interval = bounds(atom, ranges)
        if interval is not None and interval[0] == interval[1]:
            continue  # The variable of a loop of one iteration is skipped, because its factor may be that of another.
        if abs(factor) <= reach:
            return False
        reach = reach + abs(factor) * (interval[1] - interval[0]) if interval is not None else 1 << 62
    return True


class Coverage:
    """
    Tells whether expressions of loop variables together take every value of a box. The iteration space may be cut at
    `limits` by other parts: they map an expression to the first value that it does not take.
    """

    def __init__(self, ranges: Ranges, limits: Mapping[AffineExpr, int]):
        self._ranges = ranges
        self._limits = dict(limits)
        self.used_limits: set[AffineExpr] = set()
        self._taken: set[object] = set()
        self._extents: dict[AffineExpr, int | None] = {}
        self._digits: dict[AffineExpr, tuple[int, set[AffineBinaryOpKind]]] = {}

    def extent(self, expr: AffineExpr) -> int | None:
        """
        Returns `n` when `expr` takes exactly the values 0 … n - 1, whatever values the expressions before it take, else
        `None`.
        """
        terms, constant = linear_terms(expr)
        if constant != 0:
            return None
        reach = 0
        for atom, factor in sorted(terms.items(), key=lambda item: (item[1], str(item[0]))):
            extent = self._atom(atom)
            if extent is None or extent < 1 or factor < 1 or factor > reach + 1:
                return None
            reach += factor * (extent - 1)
        limit = self._limits.get(expr)
        if limit is not None:
            self.used_limits.add(expr)
            return min(reach + 1, limit)
        return reach + 1

    def _atom(self, atom: AffineExpr) -> int | None:
        if atom in self._taken:
            return None
        self._taken.add(atom)
        if isinstance(atom, AffineDimExpr):
            interval = self._ranges[atom.position]
            return None if interval is None or interval[0] != 0 else interval[1] + 1
        found = quotient(atom)
        if found is None:
            return None
        kind, inner, divisor = found
        if inner not in self._extents:
            self._extents[inner] = self.extent(inner)
        whole = self._extents[inner]
        if whole is None:
            return None
        digits = self._digits.setdefault(inner, (divisor, set()))
        digits[1].add(kind)
        if digits[0] != divisor or (len(digits[1]) == 2 and whole % divisor):
            return None
        return -(-whole // divisor) if kind is FLOOR else min(whole, divisor)
