"""The base URLs of the model providers that are recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.errors import Problem, SettingError
from evalgate.features.record.application.providers import PROVIDERS
from evalgate.settings.plain_url import require_plain_url

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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


def _add_version(name: str, url: str) -> str:
    """The URL; for Anthropic with the version, which its variable leaves out."""
    return url if name != "anthropic" or url.endswith("/v1") else f"{url}/v1"
