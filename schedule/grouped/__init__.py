"""Grouped convolutions: the group as an axis of its own, and tiles of vectors that span several groups."""
