"""Reports for people and other tools, rendered from the results document alone."""
