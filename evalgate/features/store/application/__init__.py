"""What is kept of a run, and what is read back: its history, stored goldens, exports."""
