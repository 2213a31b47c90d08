"""Readers of message shapes, one module per shape, shared by the formats.

Entry points: `sniff_messages.SHAPES`, `payload.read_payload`, `message_builder.MessageBuilder`.
"""
