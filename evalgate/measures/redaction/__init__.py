"""Secrets removed from text and documents.

Entry points: `redact.redact`, `redact.hide_secrets`, `project_secrets.ProjectSecrets`.
"""
