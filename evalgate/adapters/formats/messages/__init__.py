"""Readers of message shapes, one module per shape, shared by the formats.

Entry points: `sniff_messages.SHAPES`, `sniff_messages.read_payload`, `blocks.MessageBuilder`.
"""
