"""The analysis of rules that run together: rules that never come to apply, results that depend on the order, loops."""
