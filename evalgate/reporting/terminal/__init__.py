"""Reports for a terminal.

Entry points: `run_table.render_table`, `explanation.explanation`, `terminal_page`.
"""
