"""The choices of the tuner for each kind of kernel."""
