"""Reduction: a program shrinks by small edits while a predicate holds, each tried in a process of its own."""
