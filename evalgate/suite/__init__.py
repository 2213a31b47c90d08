"""Suites as parsed: scenarios, their assertions and the policy, each with its location in the file.

Entry points: `models.Suite`, `models.Scenario`, `parse.parse_suite`, `policy.Policy`, `suite_file`.
"""
