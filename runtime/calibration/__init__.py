"""Statistics of what flows through a program."""
