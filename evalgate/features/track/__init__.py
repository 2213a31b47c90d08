"""Publishing a finished run to LangSmith, MLflow or Phoenix, after the verdict."""
