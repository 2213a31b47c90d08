"""Chooses adapters and connects them to the use cases; one module per entry point of the program.

Entry points: `gate.build_gate_ports`, `shell_verbs.build_shell_tools`, `sandboxed_judge.SandboxedJudge`, `sources`.
"""
