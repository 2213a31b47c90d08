"""Readers of message shapes, one module a shape, shared by the formats; see `sniff_messages.SHAPES`."""
