"""Builders and conditions that rules in text call by name, and the pass that applies rules of a file."""
