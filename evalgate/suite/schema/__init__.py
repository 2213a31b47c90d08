"""Models of suite, golden and approvals files as written: the source of their JSON Schemas.

Entry points: `suite_file.SuiteFile`, `golden_file.GoldenEntry`, `custom_file.CustomEntry`, `approvals_file`.
"""
