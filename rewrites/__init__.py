"""Passes inside one dialect."""
