"""A finished run as one HTML file that needs no server: the page, and the recorded conversations in it as JSON.

Entry points: `render_page.render_page`, `build_page.build_page`, `trace_block.encode_trace_block`.
"""
