"""Reports for a terminal.

Entry points: `run_table.render_table`, `explanation.render_explanation`, `history_table.render_runs_table`,
`terminal_page.TerminalPage`.
"""
