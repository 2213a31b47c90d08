"""Finds in an answer of a provider why it failed, in the shapes of OpenAI, Anthropic and of servers that copy them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

FIELDS = ("message", "detail", "error_description", "msg")


def find_error_message(answer: Mapping[str, Any]) -> str | None:
    """The text that says why, in `error` or beside it.

    >>> find_error_message({"error": {"message": "no such model"}}), find_error_message({"detail": "Not Found"})
    ('no such model', 'Not Found')
    """
    error = answer.get("error")
    places = (error, answer) if type(error) is dict else (answer,)
    texts = [place.get(name) for place in places for name in FIELDS]
    texts.insert(0, error)
    return next((text for text in texts if type(text) is str and text.strip()), None)
