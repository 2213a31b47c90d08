"""A project's template for the comment."""

from __future__ import annotations

from typing import NamedTuple

from evalgate.errors import InvalidTemplate, Location, OverLimit, Problem

MAX_TEMPLATE_BYTES = 64_000
TEMPLATE_UNUSED = "the comment uses the built-in template, because the project's can't be used"


class TemplateFile(NamedTuple):
    """A template: its path, for messages, and its text."""

    path: str
    text: str

    @classmethod
    def from_bytes(cls, path: str, content: bytes) -> TemplateFile:
        """Decodes a template file; raises OverLimit, or InvalidTemplate if it is not UTF-8."""
        if len(content) > MAX_TEMPLATE_BYTES:
            raise OverLimit(Problem(f"the template is larger than {MAX_TEMPLATE_BYTES:,} bytes", Location(path)))
        try:
            return cls(path, content.decode())
        except UnicodeDecodeError:
            raise InvalidTemplate(Problem("the template must be UTF-8 text", Location(path))) from None
