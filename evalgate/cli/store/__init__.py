"""The verbs for the store: `history`, `feedback`, `export`, `import`."""
