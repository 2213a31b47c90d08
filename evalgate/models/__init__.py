"""What everything above speaks of: traces, results, runs, comparisons, decisions. Data without behaviour."""
