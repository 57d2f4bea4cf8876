"""Grids that only move elements."""
