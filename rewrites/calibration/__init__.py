"""Values inside of a program made visible, for statistics."""
