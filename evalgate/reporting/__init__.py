"""Reports for people and other tools, rendered from the results document alone.

Entry points: `results.results_json`, `markdown.render`, `terminal.run_table`, `ci`, `text.escaping`.
"""
