"""The verb `skill`."""
