"""Checks of rules before they run: what can never mean what it says is an error at its place."""
