"""What every graph op computes, in NumPy, written independently of te. For tests; never used by compile."""
