"""Which skills an agent used: `checks` judge it, `uses` finds it with the table `dialects`, `named` finds typos."""
