"""The comment and the summary.

Entry points: `render.render_comment`, `build_view.build`, `view`, `heading.heading`.
"""
