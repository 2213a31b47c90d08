"""Text for every report: escaping and wording.

Entry points: `escaping.escape_span`, `escaping.escape_terminal`, `wording.pluralize`,
`scenario_sections.sort_scenarios`.
"""
