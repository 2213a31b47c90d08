"""Text measured and searched within bounds.

Entry points: `patterns.Pattern`, `text_similarity`, `plain_text.make_visible`, `globs`.
"""
