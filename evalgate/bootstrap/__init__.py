"""Chooses adapters and connects them to the use cases; one module per entry point of the program.

Entry points: `job.run_job`, `shell_tools.build_shell_tools`, `sandboxed_judge.SandboxedJudge`, `sources`.
"""
