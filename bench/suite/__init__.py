"""What the scripts of bench/ share: the cases, one description of each, the engines that run it, and the measuring."""
