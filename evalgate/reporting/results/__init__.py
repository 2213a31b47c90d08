"""Builds and writes `results.json`, and reads it back as untrusted data.

Entry points: `results_json.build_results_document`, `load_results.load_results`, `clean_values.clean_text`.
"""
