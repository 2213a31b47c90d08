"""Evaluators of a text, by default the answer. Entry points: `text_parts`, `text_shape`, `similarity`, `refusal`."""
