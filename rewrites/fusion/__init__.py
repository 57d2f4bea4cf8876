"""Fusion: groups of ops that become one function, the rules of the plan, and the passes that make and apply it."""
