"""The pull request comment and the job summary, in Markdown.

Entry points: `render.render_comment`, `render.render_summary`, `build_view.build_report`, `view.Report`,
`heading.build_heading`.
"""
