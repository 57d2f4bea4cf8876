"""Read-only analyses of the IR."""
