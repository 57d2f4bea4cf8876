"""Rules and passes for inference: normalisation and scales folded into what comes before."""
