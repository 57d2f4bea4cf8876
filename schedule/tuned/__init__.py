"""Schedules that the tuner found: records and the pass that applies them."""
