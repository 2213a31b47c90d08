"""Reads finished documents back and checks them: runs, goldens, reports of untrusted runs.

Entry points: `run_documents.run_of`, `untrusted_report.report_of`, `golden_documents.evaluations_of`.
"""
