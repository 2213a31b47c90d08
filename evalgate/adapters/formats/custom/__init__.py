"""Reads any JSON with the expressions of a suite (`format: custom`).

Entry points: `reader.make_format`, `conversations.build_conversation`.
"""
