"""Checks of every pass on values, and the search for the pass and the rewrite that is wrong."""
