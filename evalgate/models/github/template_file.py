"""A template for the comment that a project brings along."""

from __future__ import annotations

from typing import NamedTuple

from evalgate.errors import Location, OverLimit, Problem, TemplateFlaw

MOST_BYTES = 64_000
"""The largest template that is read."""
TEMPLATE_UNUSED = "the comment is in EvalGate's own words, for the template can't be used"


class TemplateFile(NamedTuple):
    """Its path, for messages, and its text."""

    path: str
    text: str

    @classmethod
    def of(cls, path: str, content: bytes) -> TemplateFile:
        """The template out of a file's bytes; raises OverLimit, or TemplateFlaw for what is no text."""
        if len(content) > MOST_BYTES:
            raise OverLimit(Problem(f"the template is larger than {MOST_BYTES:,} bytes", Location(path)))
        try:
            return cls(path, content.decode())
        except UnicodeDecodeError:
            raise TemplateFlaw(Problem("the template is no text in UTF-8", Location(path))) from None
