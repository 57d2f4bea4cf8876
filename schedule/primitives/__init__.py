"""The primitives of schedules: functions on loops and blocks that keep what a loop function computes, or refuse."""
