"""Connects files with what carries suites over. Entry points: `carry_over`."""
