"""Compiled programs in files: the container, what it says of itself, what is refused, writing and reading."""
