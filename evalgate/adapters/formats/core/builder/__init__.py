"""Builds traces from what a format's reader found: messages, calls, endings, warnings.

Entry points: `conversation.Conversation`, `trace_builder.read_records`, `conversation.RawMessage`,
`run.MeteredConversation`.
"""
