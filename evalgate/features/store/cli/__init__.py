"""The verbs `history`, `goldens`, `feedback`, `export` and `import`."""
