"""Front ends: what turns the models of other systems into the graph dialect. Each needs its own extra, and is loaded on first use."""
