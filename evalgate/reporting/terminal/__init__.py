"""Reports for a terminal.

Entry points: `run_table.render_table`, `explanation.render_explanation`, `terminal_page.TerminalPage`.
"""
