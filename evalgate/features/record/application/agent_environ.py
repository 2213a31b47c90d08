"""The environment of the recorded agent: its trial, the base URLs of providers, and where its spans go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from evalgate.features.record.application.providers import PROVIDERS, REPLAY_KEY
from evalgate.features.record.measures.paths import percent_encode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.features.record.models.exchange import TrialId

LOOPBACK_HOSTS = "127.0.0.1,localhost"
CACHE_WORDS = ("read", "write")
"""Values of LANGSMITH_TEST_CACHE that are EvalGate's; for LangSmith's SDK it names a folder."""
OTEL = {
    "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
    "OTEL_TRACES_EXPORTER": "otlp",
    "OTEL_LOGS_EXPORTER": "otlp",
    "OTEL_METRICS_EXPORTER": "none",
    "OTEL_BSP_SCHEDULE_DELAY": "200",
    "OTEL_BLRP_SCHEDULE_DELAY": "200",
    "OTEL_TRACES_SAMPLER": "always_on",
}
REMOVED = (
    *(f"OTEL_EXPORTER_OTLP_{name}" for name in ("HEADERS", "CERTIFICATE")),
    *(
        f"OTEL_EXPORTER_OTLP_{signal}_{name}"
        for signal in ("TRACES", "LOGS")
        for name in ("ENDPOINT", "HEADERS", "CERTIFICATE", "PROTOCOL")
    ),
    "OTEL_SDK_DISABLED",
)
"""Variables that would send spans elsewhere, or with the key of somebody else."""


class Endpoints(Struct, frozen=True):
    """Addresses of the recording server; `record_url` is that of the control endpoint, `trial_url` of the trial."""

    trial_url: str
    record_url: str
    providers: tuple[str, ...]
    has_otlp: bool = True


class AgentFacts(Struct, frozen=True):
    """What the agent is given to know of its run."""

    trial: TrialId
    prompt: str | None = None
    commit: str | None = None
    agent_hash: str | None = None
    is_replay: bool = False


def build_environ(
    environ: Mapping[str, str], endpoints: Endpoints, facts: AgentFacts, extra: Mapping[str, str]
) -> dict[str, str]:
    """The variables of the agent; those in `extra`, which the user named, come last."""
    found = {name: value for name, value in environ.items() if name not in REMOVED}
    if found.get("LANGSMITH_TEST_CACHE") in CACHE_WORDS:
        del found["LANGSMITH_TEST_CACHE"]
    trial = facts.trial
    own = {
        "EVALGATE_SUITE": trial.suite,
        "EVALGATE_SCENARIO": trial.scenario,
        "EVALGATE_VARIANT": trial.variant,
        "EVALGATE_TRIAL": str(trial.trial),
        "EVALGATE_PROMPT": facts.prompt,
        "EVALGATE_RECORD_URL": endpoints.record_url,
        "EVALGATE_COMMIT": facts.commit,
        "EVALGATE_AGENT_HASH": facts.agent_hash,
    }
    for name, value in own.items():
        found.pop(name, None)
        if value is not None:
            found[name] = value
    for name in ("NO_PROXY", "no_proxy"):
        found[name] = ",".join(filter(None, [found.get(name), LOOPBACK_HOSTS]))
    if endpoints.has_otlp:
        found |= OTEL
        found["OTEL_EXPORTER_OTLP_ENDPOINT"] = endpoints.trial_url
        found["OTEL_RESOURCE_ATTRIBUTES"] = _add_resource(found.get("OTEL_RESOURCE_ATTRIBUTES"), facts)
    for provider in PROVIDERS:
        if provider.name in endpoints.providers:
            found |= dict.fromkeys(provider.url_variables, base_url(endpoints.trial_url, provider.name))
            if facts.is_replay and not any(found.get(key) for key in provider.keys):
                found[provider.keys[0]] = REPLAY_KEY
    return found | dict(extra)


def base_url(trial_url: str, provider: str) -> str:
    """The base URL of a provider for one trial."""
    return f"{trial_url}/{provider}"


def _add_resource(given: str | None, facts: AgentFacts) -> str:
    trial = facts.trial
    own = {
        "evalgate.scenario.id": trial.scenario,
        "evalgate.trial": str(trial.trial),
        "evalgate.commit": facts.commit,
        "evalgate.agent_hash": facts.agent_hash,
    }
    added = [f"{name}={percent_encode(value)}" for name, value in own.items() if value is not None]
    return ",".join([*filter(None, [given]), *added])
