"""A finished run as one HTML file: the verb `view`, and the file that `--html` writes."""
