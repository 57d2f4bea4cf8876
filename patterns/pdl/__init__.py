"""Rules read from PDL."""
