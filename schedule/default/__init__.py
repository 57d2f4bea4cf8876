"""The schedule that a program gets when nobody gives one."""
