"""The eight dimensions in which a golden is judged."""

from __future__ import annotations

from typing import Literal, get_args

Dimension = Literal[
    "identity_correctness",
    "memory_precision",
    "memory_recall",
    "tool_success_rate",
    "tone_adherence",
    "refusal_correctness",
    "factual_accuracy",
    "response_completeness",
]
DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)
