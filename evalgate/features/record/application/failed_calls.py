"""Why the last model call of a trial failed, as the provider says, and what a person may set."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from evalgate.features.record.application.providers import PROVIDERS
from evalgate.features.record.measures.provider_error import find_error_message
from evalgate.features.record.measures.streams import read_answer
from evalgate.features.record.models.exchange import FIRST_ERROR, GOT_NO_ANSWER, FailedCall
from evalgate.measures.text.plain_text import mark_part
from evalgate.measures.values.json_values import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalgate.features.record.application.outcome import TrialOutcome
    from evalgate.features.record.models.exchange import Exchange, ProviderAnswer

MAX_MESSAGE, MAX_NAMED = 300, 3
"""Characters of a provider's message; reasons that are named."""
NO_KEY, NOT_FOUND = (401, 403), 404


def find_failed_call(exchanges: Sequence[Exchange]) -> FailedCall | None:
    """The last model call, if it failed: one that was made again, and answered then, is none."""
    last = max(exchanges, key=lambda exchange: exchange.arrived_at, default=None)
    if last is None:
        return None
    answer, found = last.answer, read_answer(last.answer)
    is_whole = found.is_complete and not answer.is_broken
    has_error = found.value.get("error") is not None or found.value.get("status") == "failed"
    if is_whole and answer.status < FIRST_ERROR and not has_error:
        return None
    text = find_error_message(found.value) or ("" if found.value else _read_text(answer))
    shown = " ".join(text.removeprefix(GOT_NO_ANSWER).split())
    return FailedCall(last.request.provider, answer.status, shown, is_broken=not is_whole)


def _read_text(answer: ProviderAnswer) -> str:
    """An answer that is no JSON, unless it is a page for a browser or a stream."""
    is_text = answer.content_type.startswith("text/plain") and not answer.is_stream
    return answer.body[: 10 * MAX_MESSAGE].decode("utf-8", "replace") if is_text else ""


def describe_failed_calls(outcomes: Sequence[TrialOutcome], upstreams: Mapping[str, str]) -> Iterator[str]:
    """A line for each reason, most frequent first, and one that says what to set; `upstreams` are the base URLs."""
    counts = Counter(each.failed_call for each in outcomes if each.failed_call is not None)
    for failed, count in counts.most_common(MAX_NAMED):
        where = f"{count:,} of {len(outcomes):,} trials: " if len(outcomes) > 1 else ""
        host = upstreams[failed.provider].partition("://")[2].partition("/")[0]
        said = f": {mark_part(shorten(failed.message, MAX_MESSAGE))}" if failed.message else ""
        yield f"{where}the last model call failed: {failed.provider} at {host} {_describe_end(failed)}{said}"
    hints = dict.fromkeys(_advise(failed, upstreams[failed.provider]) for failed, _ in counts.most_common(MAX_NAMED))
    yield from (f"  {hint}" for hint in hints if hint is not None)


def _describe_end(failed: FailedCall) -> str:
    if failed.has_no_answer:
        return "gave no answer"
    return "broke off its answer" if failed.is_broken else f"answered {failed.status}"


def _advise(failed: FailedCall, url: str) -> str | None:
    """What may mend it; None for an outage, and for a request that the provider refuses."""
    provider = next(each for each in PROVIDERS if each.name == failed.provider)
    key = f"the key that the agent sends, mostly {provider.keys[0]}"
    causes: dict[int | None, str] = {
        None: "the network",
        NOT_FOUND: "the name of the model",
        **dict.fromkeys(NO_KEY, key),
    }
    cause = causes.get(None if failed.has_no_answer else failed.status)
    if cause is None:
        return None
    address = f"{provider.url_variables[0]} or --provider {provider.name}=URL"
    if url == provider.default_url:
        own = f"requests went to the default address of {provider.name}: if yours is another, set {address}"
        return f"{own}; else check {cause}"
    if failed.status in NO_KEY:
        return f"check {cause}"
    path = ", whose path mostly ends in /v1," if failed.status == NOT_FOUND else ""
    return f"check the address ({address}){path} and {cause}"
