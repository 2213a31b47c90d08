"""Optional features, one folder each: `feature.py` declares what it adds, the rest is loaded when it is used.

The folders inside a feature are the layers of the kernel, with the same rules.
"""
