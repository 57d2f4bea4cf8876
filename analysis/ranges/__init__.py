"""Tells which values indices have: integer linear forms, facts about them, proofs, and the accesses of a function."""
