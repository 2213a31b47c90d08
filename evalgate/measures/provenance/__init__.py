"""Where the arguments of tool calls came from: texts of a trace by whole tokens, and the sources of each value.

Entry points: `trace_sources.find_argument_sources`, `sources.ArgumentSource`, `leaves.list_leaves`.
"""
