"""Builds traces from what a format's reader found: messages, calls, endings, warnings.

Entry points: `conversation.Conversation`, `run.MeteredConversation`, `run.build_trace`,
`trace_builder.read_records`.
"""
