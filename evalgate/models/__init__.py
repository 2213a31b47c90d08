"""The data of all layers above: traces, results, runs, comparisons, decisions. Records without logic."""
