"""GitHub: finds baselines, writes the comment and check run, uploads artifacts, sets step outputs.

Entry points: `client.Client`, `baselines.Baselines`, `pull_requests.Comments`, `artifacts.Artifacts`,
`workflow_step.WorkflowStep`.
"""
