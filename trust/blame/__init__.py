"""Blame: from what a part of a program was made and by which rules, and what became of a part of the source."""
