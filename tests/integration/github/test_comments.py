from __future__ import annotations

import time

import pytest
from fakes.hub import site_of

from evalgate.adapters.github.client import Client
from evalgate.adapters.github.pull_requests import Comments, marker
from evalgate.adapters.http import RequestDeadline
from evalgate.errors import Forbidden, Unreachable

KEY = "evalgate.yml/gate"
BOT = "github-actions[bot]"
CREATE = {"method": "POST", "path": "/comments$"}


def body(text="all is well", key=KEY):
    return f"{marker(key)}\n## {text}\n"


@pytest.fixture
def comments(client):
    return Comments(client, 7)


def own_comments(hub):
    return [comment["body"] for comment in hub.comments_of(BOT)]


def writes(hub):
    return [request for request in hub.requests if request["method"] != "GET"]


def test_the_first_run_creates_and_the_second_updates(hub, comments):
    first = comments.upsert_comment(KEY, body("one"))
    second = comments.upsert_comment(KEY, body("two"))
    assert own_comments(hub) == [body("two")]
    assert (first.created, first.changed, second.created, second.changed) == (True, True, False, True)
    assert first.id == second.id
    assert first.url.startswith("https://")


def test_a_body_without_its_marker_gets_it(hub, comments):
    comments.upsert_comment(KEY, "## plain\n")
    assert own_comments(hub) == [f"{marker(KEY)}\n## plain\n"]


def test_an_unchanged_body_is_no_request(hub, comments):
    comments.upsert_comment(KEY, body())
    before = len(writes(hub))
    again = comments.upsert_comment(KEY, body())
    assert len(writes(hub)) == before
    assert (again.created, again.changed) == (False, False)


def test_with_105_comments_before_it_there_is_still_one(hub, comments):
    hub.comment("me too", "alice", count=105)
    comments.upsert_comment(KEY, body("one"))
    comments.upsert_comment(KEY, body("two"))
    assert own_comments(hub) == [body("two")]


def test_two_gates_update_only_their_own_comment(hub, comments):
    comments.upsert_comment(KEY, body("one"))
    comments.upsert_comment("other", body("two", "other"))
    assert own_comments(hub) == [body("one"), body("two", "other")]


@pytest.mark.parametrize("other", [f"{KEY}-2", f"{KEY}/", KEY[:-1], f"x{KEY}", KEY.upper()])
def test_a_gate_with_a_similar_key_keeps_its_own_comment(hub, comments, other):
    for text in ("one", "two"):
        comments.upsert_comment(other, body(text, other))
        comments.upsert_comment(KEY, body(text))
    assert sorted(own_comments(hub)) == sorted([body("two"), body("two", other)])


def test_another_users_comment_with_the_marker_is_left_alone(hub, comments):
    hub.comment(body("I pass"), "mallory")
    comments.upsert_comment(KEY, body())
    assert [comment["body"] for comment in hub.comments_of("mallory")] == [body("I pass")]
    assert own_comments(hub) == [body()]


def test_an_own_comment_that_only_quotes_the_marker_is_left_alone(hub, comments):
    hub.comment(f"see {marker(KEY)}", BOT)
    comments.upsert_comment(KEY, body())
    assert len(own_comments(hub)) == 2


def test_a_user_of_the_bots_name_is_not_the_bot(hub, comments):
    hub.state["users"][BOT]["type"] = "User"
    hub.comment(body("forged"), BOT)
    comments.upsert_comment(KEY, body())
    assert body("forged") in own_comments(hub)


def test_a_persons_token_keeps_the_persons_comment(hub, budget):
    hub.state["tokens"]["ghp_alice"]["permissions"]["pull_requests"] = "write"
    client = Client(site_of(hub, "ghp_alice"), budget)
    for text in ("one", "two"):
        Comments(client, 7).upsert_comment(KEY, body(text))
    client.close()
    assert [comment["body"] for comment in hub.comments_of("alice")] == [body("two")]


def test_an_apps_token_keeps_the_apps_comment(hub, budget):
    hub.state["users"]["gate[bot]"] = {"id": 99, "type": "Bot"}
    hub.state["tokens"]["ghs_app"] = {**hub.state["tokens"]["ghs_write"], "login": "gate[bot]"}
    client = Client(site_of(hub, "ghs_app"), budget)
    for words in ("one", "two"):
        Comments(client, 7).upsert_comment(KEY, body(words))
    client.close()
    assert [comment["body"] for comment in hub.comments_of("gate[bot]")] == [body("two")]


@pytest.mark.parametrize("fault", [{"kind": "commit_then_reset"}, {"kind": "commit_then_status", "status": 502}])
def test_a_lost_answer_never_doubles_the_comment(hub, comments, fault):
    hub.fail(fault, **CREATE)
    posted = comments.upsert_comment(KEY, body())
    assert own_comments(hub) == [body()]
    assert posted.created


def test_a_comment_that_may_still_appear_is_not_posted_again(hub, site):
    hub.fail({"kind": "slow", "seconds": 0.9}, **CREATE)
    with pytest.raises(Unreachable, match=r"no complete response|timed out"):
        Comments(Client(site, RequestDeadline(pace=0.03)), 7).upsert_comment(KEY, body())
    deadline = time.monotonic() + 5
    while not own_comments(hub) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert own_comments(hub) == [body()]
    assert [request["method"] for request in writes(hub)] == ["POST"]


def test_of_comments_that_two_runs_created_at_once_the_oldest_stays(hub, comments):
    hub.comment(body("old"), BOT, count=2)
    hub.comment(body("I am the gate"), "mallory")
    kept = comments.upsert_comment(KEY, body("new"))
    assert own_comments(hub) == [body("new")]
    assert kept.id == min(comment["id"] for comment in hub.comments_of(BOT))
    assert len(hub.comments_of("mallory")) == 1


def test_a_duplicate_that_can_not_be_deleted_is_left_for_the_next_run(hub, comments):
    hub.comment(body("old"), BOT, count=2)
    hub.fail({"kind": "forbidden"}, method="DELETE")
    assert comments.upsert_comment(KEY, body("new")).changed
    assert sorted(own_comments(hub)) == sorted([body("new"), body("old")])
    comments.upsert_comment(KEY, body("new"))
    assert own_comments(hub) == [body("new")]


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "status", "status": 502},
        {"kind": "reset"},
        {"kind": "secondary_rate_limit", "retry_after": 3},
        {"kind": "primary_rate_limit", "reset_in": 2},
        {"kind": "bad_json"},
    ],
)
def test_a_refused_post_is_tried_again(hub, comments, fault):
    hub.fail(fault, **CREATE)
    comments.upsert_comment(KEY, body())
    assert own_comments(hub) == [body()]


def test_the_wait_is_the_one_github_asks_for(hub, comments, pauses):
    hub.fail({"kind": "secondary_rate_limit", "retry_after": 3}, **CREATE)
    comments.upsert_comment(KEY, body())
    assert pauses == [3.0]


def test_a_requested_wait_of_a_day_is_given_up_at_once(hub, comments, pauses):
    hub.fail({"kind": "secondary_rate_limit", "retry_after": 86_400}, **CREATE)
    with pytest.raises(Unreachable, match="rate limit"):
        comments.upsert_comment(KEY, body())
    assert pauses == []


def test_a_limit_without_a_time_is_given_up(hub, comments, pauses):
    hub.fail({"kind": "secondary_rate_limit"}, **CREATE)
    with pytest.raises(Unreachable, match="rate limit"):
        comments.upsert_comment(KEY, body())
    assert pauses == []


def test_a_comment_deleted_meanwhile_is_created_again(hub, comments):
    comments.upsert_comment(KEY, body("one"))
    hub.fail({"kind": "not_found"}, method="PATCH")
    gone = {"kind": "status", "status": 200, "body": []}
    hub.fail(gone, method="GET", path="/comments$", skip=1)
    posted = comments.upsert_comment(KEY, body("two"))
    assert posted.created


def test_an_existing_comment_that_can_not_be_changed_gets_no_duplicate(hub, comments):
    comments.upsert_comment(KEY, body("one"))
    hub.fail({"kind": "not_found"}, method="PATCH")
    with pytest.raises(Unreachable, match="not visible with this token"):
        comments.upsert_comment(KEY, body("two"))
    assert own_comments(hub) == [body("one")]


def test_without_create_only_an_existing_comment_is_updated(hub, comments):
    assert comments.upsert_comment(KEY, body(), create=False) is None
    assert own_comments(hub) == []
    comments.upsert_comment(KEY, body("one"))
    comments.upsert_comment(KEY, body("two"), create=False)
    assert own_comments(hub) == [body("two")]


def test_with_a_read_only_token_the_error_names_the_permission(hub, budget):
    client = Client(site_of(hub, "ghs_readonly"), budget)
    with pytest.raises(Forbidden, match="add `pull-requests: write` to `permissions:`"):
        Comments(client, 7).upsert_comment(KEY, body())
    client.close()
    assert own_comments(hub) == []


def test_a_locked_conversation_is_named_and_no_permission_is(hub, comments):
    hub.state["pulls"]["7"]["locked"] = True
    with pytest.raises(Forbidden) as caught:
        comments.upsert_comment(KEY, body())
    assert str(caught.value) == 'GitHub refuses it (403): "Unable to create comment because issue is locked."'


def test_an_endless_list_leaves_the_comment_unposted(hub, comments):
    hub.comment("me too", "alice")
    link = f'<{hub.info.api}/repos/acme/agent/issues/7/comments?page=2>; rel="next"'
    answer = {"kind": "status", "status": 200, "headers": {"Link": link}, "body": []}
    hub.fail(answer, method="GET", times=-1, path="/comments$")
    with pytest.raises(Unreachable, match="more than 2,000"):
        comments.upsert_comment(KEY, body())
    assert own_comments(hub) == []


def test_nothing_is_posted_when_the_time_is_used_up(hub, site):
    client = Client(site, RequestDeadline(0))
    with pytest.raises(Unreachable, match="used up"):
        Comments(client, 7).upsert_comment(KEY, body())
    assert hub.requests == []
