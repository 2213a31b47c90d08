"""Settings: the Action's inputs, job and event, and limits.

Entry points: `settings.Settings`, `inputs.Inputs`, `job.Job`, `job.TriggerEvent`, `limits.Limits`.
"""
