"""Connects the database to the verbs, and to the ports of the kernel that it fills."""
