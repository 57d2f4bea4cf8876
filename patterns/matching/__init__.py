"""Patterns compiled to functions that match them."""
