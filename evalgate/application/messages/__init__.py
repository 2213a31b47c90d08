"""Messages between the parent process and the judge, encoded and checked.

Entry points: `request.JudgeRequest`, `request.Judgement`, `judge_response.decode_judgement`, `request.Tools`.
"""
