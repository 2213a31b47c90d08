"""One small class a kind of check: its settings as frozen data, and how to compile them into a function."""
