"""One class per evaluator type, by what it judges. Entry points: `calls`, `output`, `text`, `run`."""
