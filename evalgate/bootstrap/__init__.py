"""Chooses adapters and connects them to the use cases; one module per entry point of the program."""
