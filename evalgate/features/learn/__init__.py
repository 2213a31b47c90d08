"""Learning from traces: `init` writes a suite from them, `mutate` shows what a suite would not notice."""
