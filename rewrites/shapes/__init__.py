"""Sizes that become known: specialisation and propagation of shapes."""
