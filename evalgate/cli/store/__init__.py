"""The verbs over the store: `history`, `feedback`, `export`, `import`."""
