"""The verb `import-suite`. Entry points: `import_suite`."""
