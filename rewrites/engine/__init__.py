"""The pattern language and its matcher."""
