"""Shapes of tokens: each is known by a prefix, and found by plain search for it."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

REDACTED = "[redacted: "
"""The beginning of the mark that replaces a redacted secret."""

# A prefix that could end a word (`task-`) needs an edge before it; a literal `\n` or `%20` is one.
_EDGE = rb"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbfv])|(?<=%[0-9A-Fa-f]{2}))"
_END = rb"(?![A-Za-z0-9])"

_compiled = cache(re.compile)


class TokenShape(NamedTuple):
    """A kind of token: its prefixes, and the pattern after them."""

    kind: str
    prefixes: Sequence[bytes]
    rest: bytes
    needs_edge: bool = False

    def find_spans(self, flat: bytes, prefix: bytes) -> Iterator[tuple[int, int, str]]:
        """Yields such tokens in the text that start with one of the prefixes."""
        pattern = _compiled((_EDGE if self.needs_edge else b"") + re.escape(prefix) + self.rest)
        position = flat.find(prefix)
        while position >= 0:
            match = pattern.match(flat, position)
            if match:
                yield match.start(), match.end(), self.kind
            position = flat.find(prefix, match.end() if match else position + len(prefix))


SHORTEST_SHAPE = 20
"""No shape matches a shorter run of letters, digits, `_`, `-` and `.`."""

SHAPES: Sequence[TokenShape] = (
    TokenShape("GitHub token", [b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_"], rb"[A-Za-z0-9]{30,}"),
    TokenShape("GitHub token", [b"github_pat_"], rb"\w{30,}"),
    TokenShape("GitLab token", [b"glpat-", b"gldt-", b"glrt-", b"glcbt-", b"glptt-"], rb"[\w-]{20,}"),
    TokenShape("AWS key", [b"AKIA", b"ASIA", b"ABIA", b"ACCA"], rb"[A-Z0-9]{16}" + _END),
    TokenShape("Google key", [b"AIza"], rb"[\w-]{35}"),
    TokenShape("Google key", [b"ya29.", b"GOCSPX-"], rb"[\w-]{20,}"),
    TokenShape("Anthropic key", [b"sk-ant-"], rb"[\w-]{16,}"),
    TokenShape("OpenRouter key", [b"sk-or-"], rb"[\w-]{20,}"),
    TokenShape("Langfuse key", [b"sk-lf-"], rb"[\w-]{20,}"),
    TokenShape("OpenAI key", [b"sk-proj-", b"sk-svcacct-", b"sk-admin-"], rb"[\w-]{20,}"),
    TokenShape("API key", [b"sk-"], rb"[A-Za-z0-9]{20,}", needs_edge=True),
    TokenShape("LangSmith key", [b"lsv2_pt_", b"lsv2_sk_"], rb"\w{20,}"),
    TokenShape("Slack token", [b"xoxa-", b"xoxb-", b"xoxe-", b"xoxo-", b"xoxp-", b"xoxr-", b"xoxs-"], rb"[\w-]{10,}"),
    TokenShape("Slack token", [b"xoxe.", b"xapp-"], rb"[\w-]{12,}"),
    TokenShape("Stripe key", [b"sk_live_", b"sk_test_", b"rk_live_", b"rk_test_"], rb"[A-Za-z0-9]{16,}"),
    TokenShape("Stripe key", [b"whsec_"], rb"[A-Za-z0-9+/=]{16,}"),
    TokenShape("npm token", [b"npm_"], rb"[A-Za-z0-9]{36}"),
    TokenShape("PyPI token", [b"pypi-AgE"], rb"[\w-]{16,}"),
    TokenShape("Hugging Face token", [b"hf_", b"api_org_"], rb"[A-Za-z0-9]{30,}", needs_edge=True),
    TokenShape("SendGrid key", [b"SG."], rb"[\w-]{16,}\.[\w-]{16,}"),
    TokenShape("Twilio key", [b"SK"], rb"[0-9a-f]{32}" + _END, needs_edge=True),
    TokenShape("DigitalOcean token", [b"dop_v1_", b"doo_v1_", b"dor_v1_"], rb"[0-9a-f]{64}"),
    TokenShape("Shopify token", [b"shpat_", b"shpca_", b"shppa_", b"shpss_"], rb"[0-9a-fA-F]{32}"),
    TokenShape("Databricks token", [b"dapi"], rb"[0-9a-f]{32}(?:-[0-9])?" + _END, needs_edge=True),
    TokenShape("Docker token", [b"dckr_pat_", b"dckr_oat_"], rb"[\w-]{20,}"),
    TokenShape("Vault token", [b"hvs.", b"hvb.", b"hvr."], rb"[\w-]{24,}", needs_edge=True),
    TokenShape("Doppler token", [b"dp.pt.", b"dp.st.", b"dp.sa.", b"dp.ct."], rb"[\w.]{32,}"),
    TokenShape("Grafana token", [b"glsa_", b"glc_"], rb"\w{32,}"),
    TokenShape("Groq key", [b"gsk_"], rb"[A-Za-z0-9]{40,}", needs_edge=True),
    TokenShape("xAI key", [b"xai-"], rb"[A-Za-z0-9]{40,}", needs_edge=True),
    TokenShape("Perplexity key", [b"pplx-"], rb"[A-Za-z0-9]{32,}", needs_edge=True),
    TokenShape("Replicate token", [b"r8_"], rb"[A-Za-z0-9]{37}", needs_edge=True),
    TokenShape("Tavily key", [b"tvly-"], rb"[\w-]{20,}", needs_edge=True),
    TokenShape("Pinecone key", [b"pcsk_"], rb"\w{40,}", needs_edge=True),
    TokenShape("Notion token", [b"ntn_"], rb"[A-Za-z0-9]{40,}", needs_edge=True),
    TokenShape("Linear key", [b"lin_api_", b"lin_oauth_"], rb"[A-Za-z0-9]{32,}"),
    TokenShape("Postman key", [b"PMAK-"], rb"[0-9a-f]{24}-[0-9a-f]{34}"),
    TokenShape("Sentry token", [b"sntrys_", b"sntryu_"], rb"[\w-]{32,}"),
    TokenShape("Telegram token", [b":AA"], rb"(?<=[0-9]:AA)[\w-]{33}" + _END),
    TokenShape("age key", [b"AGE-SECRET-KEY-1"], rb"[A-Z0-9]{50,}"),
    TokenShape("JWT", [b"eyJ"], rb"[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]*)?"),
)
