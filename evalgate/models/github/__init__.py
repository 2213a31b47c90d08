"""What is shown on GitHub: `annotation.Annotation`, `check_run.CheckRun`, `template_file.TemplateFile`."""
