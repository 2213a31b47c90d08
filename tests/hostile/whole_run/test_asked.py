"""How the model was asked: at another address, or with other settings, than in the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from hostile.whole_run.case import PASS, SUITE, Case, check, suite, trace, trials

if TYPE_CHECKING:
    from pathlib import Path

CHECK = check("output_contains", value="refund")
EVIL = "https://evil.example/v1"


def asked(settings: str | None = "unset", urls: str | None = None, minute: int = 0, **more: Any) -> dict[str, Any]:
    """A recording that says how its model was asked."""
    found = {"evalgate.model_settings": settings, "evalgate.base_urls": urls, **more}
    metadata = {name: value for name, value in found.items() if value is not None}
    return trace("issue_refund", started_at=f"2026-11-27T10:{minute:02}:00Z", metadata=metadata)


def judge(before: list[dict[str, Any]], now: list[dict[str, Any]], folder: Path) -> str:
    """The comment on a run that is recorded one day later, and passes."""
    now = [{**each, "started_at": each["started_at"].replace("-27T", "-28T")} for each in now]
    files = {SUITE: suite(CHECK), **trials(*now)}
    case = Case("asked", files, PASS, before={SUITE: suite(CHECK), **trials(*before)})
    result = case.run(folder)
    assert case.find_faults(result) == []
    return result.text("comment.md")


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        (asked(), asked(urls=f"openai={EVIL}"), f"the model was asked at ` {EVIL} `, before at the default address"),
        (asked(urls=f"openai={EVIL}"), asked(), f"the model was asked at the default address, before at ` {EVIL} `"),
        (asked(), asked(urls="openai"), "the model was asked at an address of this machine or one that is not kept"),
        (asked(), asked(urls=f"anthropic,openai={EVIL}"), f"one that is not kept and ` {EVIL} `, before"),
        (asked("temperature=0"), asked("temperature=2"), "` temperature `: ` 0 ` \u2192 ` 2 `"),
        (asked("temperature=0"), asked(), "` temperature `: ` 0 ` \u2192 ` unset `"),
        (asked(), asked("max_tokens=5 temperature=2"), "` max_tokens `: ` unset ` \u2192 ` 5 `"),
        (asked("temperature=0"), asked("temperature=0|2"), "` temperature `: ` 0 ` \u2192 ` 0,2 `"),
    ],
)
def test_a_model_that_is_asked_in_another_way_is_named(
    before: dict[str, Any], now: dict[str, Any], words: str, tmp_path: Path
) -> None:
    text = judge([before], [now], tmp_path)
    assert "\n## \u2705 EvalGate passed: scenario ` refund ` asks the model in another way" in text
    assert words in text


HARMLESS = {
    "the same": ([asked("temperature=0", "openai")], [asked("temperature=0", "openai")]),
    "a baseline of before": ([asked(None)], [asked("temperature=2", f"openai={EVIL}")]),
    "a recording without them": ([asked("temperature=2", f"openai={EVIL}")], [asked(None)]),
    "a mix on both sides": (
        [asked(urls=f"openai={EVIL}"), asked(minute=1)],
        [asked(), asked(urls=f"openai={EVIL}", minute=1)],
    ),
    "replayed answers, which were asked nowhere": (
        [asked(urls=f"openai={EVIL}")],
        [asked(**{"evalgate.replayed": True})],
    ),
    "a limit that depends on what is left": ([asked("max_tokens=3811|3904")], [asked("max_tokens=3790|3902")]),
    "a limit of each call": (
        [asked("max_tokens=3811"), asked("max_tokens=3904", minute=1)],
        [asked("max_tokens=3790"), asked("max_tokens=3902", minute=1)],
    ),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_a_model_that_is_asked_in_the_same_way_or_an_unknown_one_is_not(name: str, tmp_path: Path) -> None:
    text = judge(*HARMLESS[name], tmp_path)
    assert "no change since the baseline" in text
    assert "asked at" not in text
    assert "` \u2192 `" not in text


@pytest.mark.parametrize(
    "url", ["https://u:pw9x@llm.example/v1", "https://llm.example/v1?key=pw9x", "x y", "\u202ehttps"]
)
def test_an_address_that_may_hold_a_secret_is_not_kept(url: str, tmp_path: Path) -> None:
    text = judge([asked()], [asked(urls=f"openai={url}")], tmp_path)
    assert "asked at an address of this machine or one that is not kept, before" in text
    assert "pw9x" not in (tmp_path / "now/.evalgate/results.json").read_text()


def with_prompt(text: str) -> dict[str, Any]:
    """A recording with a system prompt."""
    found = asked()
    return {**found, "messages": [{"role": "system", "content": text}, *found["messages"]]}


def test_a_prompt_with_another_date_is_shown(tmp_path: Path) -> None:
    before, now = (
        f"Today is 2026-11-27. Refunds are allowed from {day}T00:00:00Z." for day in ("2020-01-01", "2099-01-01")
    )
    text = judge([with_prompt(before)], [with_prompt(now)], tmp_path)
    assert "passed: scenario ` refund ` has another system prompt" in text
    assert "from 2099-01-01T00:00:00Z." in text


def test_a_prompt_with_the_day_of_the_run_is_the_same(tmp_path: Path) -> None:
    before, now = (f"Today is 2026-11-{day}, 10:{day}. We refund since 2020-01-01." for day in (27, 28))
    assert "no change since" in judge([with_prompt(before)], [with_prompt(now)], tmp_path)
