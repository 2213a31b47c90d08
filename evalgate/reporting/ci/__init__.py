"""Reports for CI systems.

Entry points: `annotations.build_annotations`, `junit.render_junit`, `sarif.render_sarif`,
`code_quality.render_code_quality`.
"""
