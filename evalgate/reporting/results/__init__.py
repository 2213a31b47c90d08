"""`results.json`: written, and read back as untrusted data.

Entry points: `results_json.results_document`, `results_json.load`, `results_shape.check`.
"""
