"""Secrets removed from text and documents.

Entry points: `redact.redact`, `redact.hide`, `project_secrets.ProjectSecrets`.
"""
