"""What a coding agent reads: untrusted text in a fence, and its own words around it.

Entry points: `agent_text.build_agent_text`, `fence.build_fence`.
"""
