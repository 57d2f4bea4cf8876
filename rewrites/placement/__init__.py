"""The places of ops, and the layouts in which they compute."""
