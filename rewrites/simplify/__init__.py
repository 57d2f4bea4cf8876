"""Rules and passes that make a graph smaller or simpler."""
