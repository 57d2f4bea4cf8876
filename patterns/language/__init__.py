"""The pattern language as data: patterns, constraints, conditions, and what a match holds."""

from . import combinators as combinators
from . import constraints as constraints  # both add what the methods of `Pattern` make
