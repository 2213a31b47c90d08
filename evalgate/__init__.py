"""EvalGate: a CI gate on what an AI agent does, judged from recorded traces without calling a model."""
