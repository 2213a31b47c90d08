"""What `mutate` prints."""
