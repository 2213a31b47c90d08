"""The verb `view`."""
