"""What is shown on GitHub, and a project's template for it.

Entry points: `checks.Annotation`, `checks.CheckRun`, `template_file.TemplateFile`.
"""
