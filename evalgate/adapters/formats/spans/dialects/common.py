"""Reads what all vocabularies share: errors, exit codes, sessions, scores, framework, and attributes for EvalGate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.side_fields import ORIGIN_KEYS, SCENARIO_KEYS, TRIAL_KEYS
from evalgate.adapters.formats.core.fields import count, identifier, number
from evalgate.adapters.formats.spans.dialects.attributes import first_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.adapters.formats.spans.span import Span, SpanEvent, SpanFacts

SCOPES = ("openinference.instrumentation.", "opentelemetry.instrumentation.")
FRAMEWORKS = {
    "agno": "agno",
    "autogen": "autogen",
    "autogen_agentchat": "autogen",
    "beeai": "beeai",
    "claude_agent_sdk": "claude-agent-sdk",
    "crewai": "crewai",
    "google_adk": "google-adk",
    "haystack": "haystack",
    "langchain": "langchain",
    "llama_index": "llama-index",
    "llamaindex": "llama-index",
    "openai_agents": "openai-agents",
    "pydantic_ai": "pydantic-ai",
    "smolagents": "smolagents",
    "strands_agents": "strands",
}
FRAMEWORK_SCOPES = {
    "gcp.vertex.agent": "google-adk",
    "pydantic-ai": "pydantic-ai",
    "ai": "vercel-ai",
    "autogen-core": "autogen",
    "strands.telemetry.tracer": "strands",
}
STATUS_CODES = ("http.response.status_code", "http.status_code", "error.status_code", "gen_ai.response.status_code")
EXIT_CODES = ("process.exit.code", "process.exit_code", "exit_code")
SCORE = "gen_ai.evaluation.result"


def add_common(span: Span, facts: SpanFacts) -> None:
    """Adds facts that no dialect has set."""
    attributes = span.attributes
    facts.framework = facts.framework or _framework(span.scope)
    facts.conversation_id = facts.conversation_id or first_text(attributes, "session.id", "langfuse.session.id")
    facts.error_type = facts.error_type or first_text(attributes, "error.type")
    for event in span.events:
        if event.name == "exception" and span.has_failed:
            facts.error_type = facts.error_type or first_text(event.attributes, "exception.type")
            facts.error_message = facts.error_message or first_text(event.attributes, "exception.message")
        elif event.name == SCORE:
            _add_score(event, facts)
    if facts.kind == "inference" and facts.error_status is None:
        facts.error_status = next((attributes[key] for key in STATUS_CODES if type(attributes.get(key)) is int), None)
    if facts.kind == "tool" and facts.exit_code is None:
        codes = [attributes[key] for key in EXIT_CODES if type(attributes.get(key)) is int]
        facts.exit_code = codes[0] if codes else None


def _framework(scope: str | None) -> str | None:
    if scope is None:
        return None
    for prefix in SCOPES:
        if scope.startswith(prefix):
            return FRAMEWORKS.get(scope.removeprefix(prefix))
    return FRAMEWORK_SCOPES.get(scope)


def _add_score(event: SpanEvent, facts: SpanFacts) -> None:
    values = event.attributes
    name = first_text(values, "gen_ai.evaluation.name")
    if name is not None:
        facts.evaluations.append(
            {
                "name": name,
                "score_value": number(values.get("gen_ai.evaluation.score.value"), f"{SCORE} {name[:40]}"),
                "score_label": first_text(values, "gen_ai.evaluation.score.label"),
                "explanation": first_text(values, "gen_ai.evaluation.explanation"),
                "source": None,
            }
        )


ROLE = "evalgate.role"
EXCLUDED_ROLES = frozenset({"user", "judge"})
MAX_DIGITS = 9


def add_evalgate_attributes(span: Span, facts: SpanFacts) -> None:
    """Adds them from the span, its metadata or its resource; raises FieldError for invalid values."""
    for source in (span.attributes, facts.metadata, span.resource):
        _add_scenario(source, facts, is_metadata=source is facts.metadata)
        for key in ORIGIN_KEYS:
            if type(source.get(key)) is str:
                facts.metadata.setdefault(key, source[key])
    role = span.attributes.get(ROLE)
    if type(role) is str and role in EXCLUDED_ROLES:
        facts.kind = "excluded"


def _add_scenario(attributes: Mapping[str, Any], facts: SpanFacts, *, is_metadata: bool) -> None:
    for key in SCENARIO_KEYS if is_metadata else SCENARIO_KEYS[:1]:
        if attributes.get(key) is not None and facts.scenario_id is None:
            facts.scenario_id = identifier(attributes[key], key)
    for key in TRIAL_KEYS:
        if attributes.get(key) is not None and facts.trial is None:
            facts.trial = count(_parse_number(attributes[key]), key)


def _parse_number(value: Any) -> Any:
    """Parses digits, since many tracers store text only."""
    is_digits = type(value) is str and value.isascii() and value.isdigit() and len(value) <= MAX_DIGITS
    return int(value) if is_digits else value
