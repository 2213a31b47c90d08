"""What people and other tools read: rendered from the results document and nothing else."""
