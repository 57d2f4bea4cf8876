"""Schedules as IR: the interactive schedule, its replay, checks, and the pass that applies one."""
