"""A compiled program: its arguments, arrays, calls and weights."""
