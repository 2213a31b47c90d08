"""The pull request comment and the job summary, in Markdown.

Entry points: `render.render_comment`, `build_view.build_report`, `view`, `heading.build_heading`.
"""
