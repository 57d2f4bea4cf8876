"""Fuzzing: random programs from several sources, checked against the reference, and what fails made small."""
