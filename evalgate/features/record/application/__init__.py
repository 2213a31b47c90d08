"""Recording an agent: what it sees, which providers are recorded, and the trials of a run.

Entry points: `providers.PROVIDERS`, `agent_environ.build_environ`, `trials.RecordedTrial`.
"""
