"""One module a format: what a document of it says, as canonical traces."""
