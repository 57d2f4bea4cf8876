"""Questions about any IR: walks, dominance, verification, equality of structure, branches."""
