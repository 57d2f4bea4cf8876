"""The pattern language as data: patterns, constraints, conditions, and what a match holds."""

from . import combinators as combinators
from . import constraints as constraints  # Both modules add forms that the methods of `Pattern` make.
