from __future__ import annotations

import base64
import json
import time

import orjson
import pydantic_core  # noqa: F401  without it the quick test is not used
import pytest
from hypothesis import given
from hypothesis import strategies as st
from secret_samples import CONTEXTS, HEX, TOKENS, A

from evalgate.measures.redaction.known_secrets import SHAPES
from evalgate.measures.redaction.redact import MAX_DEPTH, Redactor, is_clean, redact, redact_value

ORDINARY = [
    "550e8400-e29b-41d4-a716-446655440000",
    "token: 550e8400-e29b-41d4-a716-446655440000",
    "be4cf5c1d2e3f405162738495a6b7c8d9e0f1a2b",
    "sha256:" + HEX,
    "input_tokens: 900, output_tokens: 80, max_tokens=100000",
    "The password is required. Password: please enter your new one",
    "the password must be changed; password: required",
    "secret santa: bob and alice",
    "risk-abcdefghijklmnopqrstuvwxyz0123 and task-abcdefghijklmnopqrstuvwxyz",
    "Basic authentication and Bearer authentication are schemes",
    "password: ${{ secrets.DB_PASSWORD }} or password=$DB_PASSWORD or password=<your-password>",
    "see https://docs.example.com/a:b@c and http://x.example/@user/p",
    "call_oBgbzB6sZDbYKQ7zwBMxEVw2 toolu_01A09q90qw90lq917835lq9",
    "the key: value pairs; primary_key=12345678, page_token=next",
    "traces/2026-01-01T00:00:00Z/run.jsonl",
    "sk-learn and hf_hub and npm_config",
    "git@github.com:org/repo.git",
    "a cookie: recipe = flour",
]


@pytest.mark.parametrize("name", TOKENS)
@pytest.mark.parametrize("around", ["{}", "x\\n{}", "key is {} ok", '"{}"', "a%20{}", "({})"])
def test_redact__token_of_a_known_shape__is_gone(name, around):
    secret = TOKENS[name]
    clean = redact(around.format(secret))
    assert secret not in clean
    assert secret[-12:] not in clean
    assert "[redacted: " in clean


@pytest.mark.parametrize("text", CONTEXTS)
def test_redact__value_given_away_by_its_context__is_gone(text):
    clean = redact(text)
    assert CONTEXTS[text] not in clean
    assert "[redacted: " in clean


@pytest.mark.parametrize("text", ORDINARY)
def test_redact__ordinary_text__stays(text):
    assert redact(text) == text


def test_redact__names_around_a_secret__stay():
    assert redact("user=bob password=hunter22 host=x") == "user=bob password=[redacted: password] host=x"


def test_redact__two_secrets__both_gone_and_the_rest_in_place():
    text = f"a {TOKENS['ghp']} b {TOKENS['aws']} c"
    assert redact(text) == "a [redacted: GitHub token] b [redacted: AWS key] c"


def test_redact__secret_beside_other_scripts__is_found_at_its_place():
    assert (
        redact(f"\u4f60\u597d \U0001f600 {TOKENS['npm']} \u00e9")
        == "\u4f60\u597d \U0001f600 [redacted: npm token] \u00e9"
    )


def test_redact__invisible_characters_inside__do_not_hide_a_secret():
    assert redact("gh\u200bp_" + A[:20] + "\u2060" + A[20:36]) == "[redacted: GitHub token]"


def test_redact__invisible_characters_without_a_secret__stay():
    assert redact("a\u200bb \U0001f468\u200d\U0001f469") == "a\u200bb \U0001f468\u200d\U0001f469"


@given(st.text())
def test_redact__any_text__gives_text_and_is_settled_after_once(text):
    once = redact(text)
    assert redact(once) == once


@given(st.lists(st.sampled_from([*TOKENS.values(), "token:abcd1234efgh5678", "password=hunter22", "x", " "])))
def test_redact__secrets_without_a_gap__are_all_gone_at_once(pieces):
    """A secret that needs a boundary may have it only after its neighbour is removed."""
    clean = redact("".join(pieces))
    assert redact(clean) == clean


@pytest.mark.parametrize(
    ("text", "open_part"),
    [
        ("AKIARMEOULDOFOWXDOGDAKIARCA33NUNGR42BXPF", "AKIARMEOULDOFOWXDOGD"),
        ("dapi350888b48ce92e031ef236cfca4747b5xoxb-ttTVhzciw3TW", "350888b48ce92e031"),
        ("npm_" + "a1" * 18 + "sk-" + "b2" * 12, "b2b2"),
        ("AIzaSyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Qtoken:abcd1234efgh5678", "abcd1234"),
    ],
)
def test_redact__secret_that_touches_another__is_gone(text, open_part):
    assert open_part in text
    assert open_part not in redact(text)


def test_redactor__secret_behind_an_exact_one__is_gone():
    assert Redactor(["hunter2x"]).redact_text("hunter2xsk-" + "a1" * 12) == "[redacted: secret][redacted: API key]"


def test_redactor__short_secret_with_an_invisible_character__is_gone():
    assert "f" not in Redactor(["abcdef"]).redact_text("abc\u200bdef").replace("redacted", "")


def test_redact_value__name_with_an_invisible_character__is_still_that_name():
    assert redact_value({"pass\u200bword": "hunter22"}) == {"pass\u200bword": "[redacted: field]"}


def test_redact__at_least_twenty_kinds_of_token__are_known():
    assert len({shape.kind for shape in SHAPES}) >= 20


def test_redactor__exact_secret__is_gone_in_every_spelling():
    secret = "p@ss/w\u00f6rd+1"
    raw = secret.encode()
    texts = [
        f"x {secret} y",
        f"x {base64.b64encode(raw).decode()} y",
        f"x {base64.urlsafe_b64encode(raw).decode()} y",
        "x p%40ss%2Fw%C3%B6rd%2B1 y",
        "x p%40ss%2fw%c3%b6rd%2b1 y",
    ]
    for text in texts:
        assert Redactor([secret]).redact_text(text).rstrip("= y") == "x [redacted: secret]"


def test_redactor__very_short_secret__is_passed_over():
    assert Redactor(["a"]).redact_text("a banana") == "a banana"


def test_redact_value__fields_named_like_secrets__lose_their_text_and_nothing_else():
    value = {
        "password": "x y",
        "user": "bob",
        "api_key": "k",
        "nested": [{"Authorization": "z", "n": 1}],
        "token_count": "9",
    }
    assert redact_value(value) == {
        "password": "[redacted: field]",
        "user": "bob",
        "api_key": "[redacted: field]",
        "nested": [{"Authorization": "[redacted: field]", "n": 1}],
        "token_count": "9",
    }


def test_redact_value__schema_of_a_password_field__stays():
    schema = {"properties": {"password": {"type": "string", "description": "the password"}}}
    assert redact_value(schema) == schema


class Text(str):
    __slots__ = ()


class Mapping(dict):
    __slots__ = ()


class Items(list):
    __slots__ = ()


@pytest.mark.parametrize("wrap", [Text, lambda text: Mapping({"a": text}), lambda text: Items([text])])
@pytest.mark.parametrize("name", ["note", Text("note"), Text("password")])
def test_redact_value__of_a_subclass_of_text_object_or_list__is_redacted(wrap, name):
    """A decoder or a plugin may build such values; a test of their exact class would let them through."""
    token = "ghp_" + "a" * 36
    assert token not in json.dumps(redact_value({name: wrap(f"it is {token} now")}))


def test_redact_value__name_that_is_a_secret__is_gone():
    assert redact_value({TOKENS["ghp"]: 1}) == {"[redacted: GitHub token]": 1}


PIECES = (
    *(
        *TOKENS.values(),
        *CONTEXTS,
        "password",
        "api_key",
        "ap\u0130_key",
        "to\u212aen",
        "\u017fecret",
        "credent\u0131als",
    ),
    *("token", "bearer ", "bearer a1b2c3d4e5f6g7h8", "https://u:pw1234@h", "&sig=" + A[:24], "cookie: a=b2c3d4e5f6"),
    *(
        ":",
        "=",
        '"',
        "'",
        "\\",
        "\n",
        "\v",
        " ",
        "\b",
        "\u200b",
        "\\u0070",
        "\\/",
        "{",
        "x",
        "hunter22",
        A[:20],
        "caf\u00e9",
    ),
)
TEXTS = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)


@given(st.dictionaries(TEXTS, TEXTS | st.lists(TEXTS) | st.dictionaries(TEXTS, TEXTS)))
def test_is_clean__of_a_record__only_if_redacting_changes_nothing(record):
    assert not is_clean(orjson.dumps(record)) or redact_value(record) == record


@pytest.mark.parametrize("secret", ['p"ss\\w\u00f6rd\t1', "line one of it\nline two of it"])
def test_redactor__record_with_an_exact_secret__is_not_clean(secret):
    assert not Redactor([secret]).is_clean(orjson.dumps({"note": [f"it is {secret}."]}))
    assert Redactor([secret]).is_clean(orjson.dumps({"note": ["it is here."]}))


def test_redact_value__deeply_nested_value__ends():
    value = {}
    inner = value
    for _ in range(500):
        inner["a"] = {}
        inner = inner["a"]
    assert json.dumps(redact_value(value)).count("{") == MAX_DEPTH


@pytest.mark.parametrize(
    "piece",
    [
        "-----begin private key-----",
        "password=",
        "://a",
        "://" + "a" * 60 + ":",
        "bearer ",
        "token:'",
        "authorization: ",
        "sk-",
        "eyJaaaaaaaaaa.",
        "cookie: a=",
        'key="',
        "&sig=",
    ],
)
def test_redact__hostile_repetition__takes_linear_time(piece):
    def seconds(size):
        text = piece * (size // len(piece))
        started = time.thread_time()
        redact(text)
        return time.thread_time() - started

    seconds(1_000)
    assert seconds(400_000) < 2.0
