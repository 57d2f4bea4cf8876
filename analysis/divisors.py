"""Divisors of sizes."""

from __future__ import annotations

from math import isqrt


def divisors(number: int) -> list[int]:
    """Returns the divisors of a positive number, the least first. It takes the time of its square root."""
    small = [each for each in range(1, isqrt(number) + 1) if number % each == 0]
    return sorted({*small, *(number // each for each in small)})
