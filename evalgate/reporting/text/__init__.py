"""Text for every report: escaping and wording.

Entry points: `escaping`, `wording`, `scenario_sections.sort_scenarios`.
"""
