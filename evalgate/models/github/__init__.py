"""What GitHub shows: `annotation.Annotation`, `check_run.CheckRun`, `template_file.TemplateFile`."""
