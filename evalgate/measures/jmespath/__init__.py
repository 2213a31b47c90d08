"""JMESPath, checked when compiled and bounded when searched; no other package imports the library.

Entry points: `query.Query`, `interpreter.QueryFailedError`.
"""
