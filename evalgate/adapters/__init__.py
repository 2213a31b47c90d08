"""Adapters: file system, GitHub, stores, trace formats. Independent; bootstrap joins them."""
