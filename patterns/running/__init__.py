"""Rules at work: the driver with its worklist, sweeps, partitions, statistics and explanations."""
