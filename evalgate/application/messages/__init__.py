"""What parent and judge exchange, encoded and checked.

Entry points: `request.JudgeRequest`, `request.Judgement`, `judge_response`, `tools.Tools`.
"""
