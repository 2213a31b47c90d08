"""The one place that picks adapters and joins them to the use cases: a file for each front door."""
