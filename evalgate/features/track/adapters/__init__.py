"""Trackers: each adapter sends a finished run to one service that keeps experiments, over plain HTTP.

Entry points: `langsmith.LangSmith`, `mlflow.MLflow`, `phoenix.Phoenix`, `sender.TrackerSender`.
"""
