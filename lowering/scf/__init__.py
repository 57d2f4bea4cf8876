"""Passes on the scf level: vectors on tiles, parallel tasks, guards, profiles."""
