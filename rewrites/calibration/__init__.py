"""Makes values inside a program visible, for statistics."""
