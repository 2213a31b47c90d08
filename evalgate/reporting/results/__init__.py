"""Builds and writes `results.json`, and reads it back as untrusted data.

Entry points in results_json: `build_results_document`, `dump_results`, `load_results`.
"""
