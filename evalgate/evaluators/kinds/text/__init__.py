"""Evaluators of text. Entry points: `text_parts`, `text_shape`, `similarity`, `refusal`."""
