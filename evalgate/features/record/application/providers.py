"""The model providers that are recorded: the variables that name their base URL and their key."""

from __future__ import annotations

from msgspec import Struct

REPLAY_KEY = "evalgate-replay"
"""The key that SDKs get in a replay, because they refuse to start without one."""


class Provider(Struct, frozen=True):
    """A provider; `keys` are the variables of which SDKs need one, the first is set in a replay."""

    name: str
    default_url: str
    url_variables: tuple[str, ...]
    keys: tuple[str, ...]


PROVIDERS = (
    Provider("openai", "https://api.openai.com/v1", ("OPENAI_BASE_URL", "OPENAI_API_BASE"), ("OPENAI_API_KEY",)),
    Provider(
        "anthropic",
        "https://api.anthropic.com/v1",
        ("ANTHROPIC_BASE_URL",),
        ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE"),
    ),
)
