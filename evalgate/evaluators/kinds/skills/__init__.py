"""Which skills an agent used: `checks` judge it, `uses` finds it in a trace; `dialects` is the table of harnesses."""
