"""Looking into a running program: profiles and traces of values."""
