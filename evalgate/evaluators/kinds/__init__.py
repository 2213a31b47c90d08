"""One class per evaluator type, by what it looks at: `calls`, `output`, `text`, `run`."""
