"""Builds and writes `results.json`, and reads it back as untrusted data.

Entry points: `results_json.build_results_document`, `results_json.load_results`,
`results_shape.check_results`, `clean_values.clean_text`.
"""
