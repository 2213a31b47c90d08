"""What the verbs of the store print and write."""
