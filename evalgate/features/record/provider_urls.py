"""The base URLs of the model providers that are recorded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evalgate.errors import Problem, SettingError
from evalgate.features.record.application.providers import PROVIDERS
from evalgate.measures.redaction.redact import redact
from evalgate.settings.plain_url import require_plain_url

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

MAX_URL = 200
_TOKEN = re.compile(r"(?=.*[0-9])[A-Za-z0-9_~%+=-]{16,}")
"""A part of an address that looks like a key, not like a word."""


def choose_upstreams(named: Sequence[str], environ: Mapping[str, str]) -> dict[str, str]:
    """The base URL of each provider: of `NAME=URL`, else of the user's variable, else the provider's own."""
    urls = {
        provider.name: next((environ[name] for name in provider.url_variables if environ.get(name)), None)
        or provider.default_url
        for provider in PROVIDERS
    }
    for each in named:
        name, _, url = each.partition("=")
        if name not in urls or not url:
            hint = f"write NAME=URL; the names are {', '.join(urls)}"
            raise SettingError(Problem(f"--provider {each[:200]!r} is unknown", None, hint))
        urls[name] = url
    return {name: _add_version(name, require_plain_url(name, url)) for name, url in urls.items()}


def describe_base_urls(urls: Mapping[str, str], secrets: Collection[str]) -> dict[str, str]:
    """The providers that are not asked at their own default, as NAME=URL.

    As NAME alone if the URL is one of this machine, which no other one reaches, or may hold a secret.

    >>> describe_base_urls({"openai": "https://llm.example/v1", "anthropic": "http://127.0.0.1:9/v1"}, [])
    {'openai': 'openai=https://llm.example/v1', 'anthropic': 'anthropic'}
    >>> describe_base_urls({"openai": "https://llm.example/t/9f3c1b7a5d2e4f60/v1"}, [])
    {'openai': 'openai'}
    """
    defaults = {provider.name: provider.default_url for provider in PROVIDERS}
    return {
        name: f"{name}={url}" if _may_be_kept(url, secrets) else name
        for name, url in urls.items()
        if url != defaults[name]
    }


def _may_be_kept(url: str, secrets: Collection[str]) -> bool:
    parts = re.split(r"[/.:]", url)
    has_secret = any(secret in url for secret in secrets) or redact(url) != url or any(map(_TOKEN.fullmatch, parts))
    return url.startswith("https://") and len(url) <= MAX_URL and not has_secret


def _add_version(name: str, url: str) -> str:
    """The URL; for Anthropic with the version, which its variable leaves out."""
    return url if name != "anthropic" or url.endswith("/v1") else f"{url}/v1"
