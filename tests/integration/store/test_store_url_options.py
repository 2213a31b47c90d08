"""Options of a server's URL that can't be meant are wrong input, before anything is judged or connected."""

from __future__ import annotations

import pytest

from evalgate.errors import SettingError
from evalgate.features.store.adapters.store_url import parse_store_url
from evalgate.features.store.bootstrap.store import open_store

SERVER = "postgresql://zelda:s3cret@127.0.0.1:1/gate"
PRIVATE = "s3cret"

REFUSED = {
    "sslmod=require": "no option of PostgreSQL (did you mean `sslmode`?)",
    "zzzz=1": "no option of PostgreSQL (after the `?` options of libpq are written, such as sslmode=require)",
    "s3cret=1": "no option of PostgreSQL",
    "autocommit=1": "no option of PostgreSQL",
    "prepare_threshold=5": "no option of PostgreSQL",
    "cursor_factory=x": "no option of PostgreSQL",
    "sslmode": "option `sslmode` has no value",
    "sslmode=": "option `sslmode` has no value",
    "": "no option of PostgreSQL",
    "sslmode=require&": "no option of PostgreSQL",
    "sslmode=s3cret": "option `sslmode` must be disable, allow, prefer, require, verify-ca or verify-full",
    "sslmode=Require": "option `sslmode` must be disable, allow",
    "gssencmode=yes": "option `gssencmode` must be disable, prefer or require",
    "channel_binding=no": "option `channel_binding` must be",
    "target_session_attrs=master": "option `target_session_attrs` must be",
    "keepalives=yes": "option `keepalives` must be 0 or 1",
    "connect_timeout=s3cret": "option `connect_timeout` must be a whole number",
    "connect_timeout=-1": "option `connect_timeout` must be a whole number",
    "connect_timeout=1.5": "option `connect_timeout` must be a whole number",
    "connect_timeout=99999999999999999999": "option `connect_timeout` must be a whole number",
    "port=0": "option `port` must be a number from 1 to 65535",
    "port=70000": "option `port` must be a number from 1 to 65535",
    "sslmode=require&sslmode=disable": "option `sslmode` is given twice",
    "dbname=other": "option `dbname` is part of the URL already",
    "host=other": "option `host` is part of the URL already",
    "port=5": "option `port` is part of the URL already",
    "user=other": "option `user` is part of the URL already",
    "password=s3cret": "option `password` is part of the URL already",
    "replication=database": "option `replication` must be false",
    "application_name=%ff": "option `application_name` is not UTF-8 text",
    "application_name=a%00b": "option `application_name` is not UTF-8 text",
}
MEANT = [
    "sslmode=require",
    "sslmode=verify-full&sslrootcert=/etc/ssl/ca.pem&channel_binding=require",
    "connect_timeout=3",
    "application_name=a+b%20c&options=-c%20search_path%3Dgate",
    "target_session_attrs=read-write&keepalives=0&keepalives_idle=30",
    "sslnegotiation=direct&sslmode=require",
    "service=gate",
    "replication=false",
]


@pytest.mark.parametrize(("options", "reason"), REFUSED.items())
def test_an_option_that_can_not_be_meant_is_wrong_input(options, reason):
    with pytest.raises(SettingError) as refused:
        parse_store_url(f"{SERVER}?{options}", "/")

    assert refused.value.exit_code == 2
    assert reason in str(refused.value)
    assert PRIVATE not in str(refused.value)
    assert str(refused.value).count("\n") == 0


@pytest.mark.parametrize("options", MEANT)
def test_every_option_that_can_be_meant_is_accepted(options):
    parsed = parse_store_url(f"{SERVER}?{options}", "/")

    assert parsed.shown == "postgresql://127.0.0.1:1/gate"
    assert parsed.target == f"{SERVER}?{options}"


@pytest.mark.parametrize("address", ["127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:s3cret", "127.0.0.1:", "[::1]:99999"])
def test_a_port_that_no_server_has_is_wrong_input(address):
    with pytest.raises(SettingError, match="port must be a number from 1 to 65535"):
        parse_store_url(f"postgresql://zelda:s3cret@{address}/gate", "/")


def test_socket_user_and_password_may_be_options_of_a_url_without_them():
    parsed = parse_store_url("postgresql:///gate?host=/run/pg&port=5433&user=zelda&password=s3cret", "/")

    assert parsed.shown == "postgresql:///run/pg/gate"
    assert parse_store_url("postgresql://[::1]/gate?port=5433", "/").shown == "postgresql://[::1]/gate"
    assert parse_store_url("postgresql:///gate?host=a,b&port=5433,5434", "/").shown == "postgresql://a,b/gate"


def test_a_server_is_opened_with_options(postgres_url):
    with open_store(f"{postgres_url}&sslmode=prefer&connect_timeout=5&application_name=here", "/") as store:
        assert store.goldens.list() == []


@pytest.mark.parametrize("verb", ["run", "history", "validate"])
def test_every_verb_refuses_it_with_exit_code_2(verb, tmp_path):
    from store_verbs import Verbs

    (tmp_path / "suite.yaml").write_text(
        "suite: s\ntraces: ['*.json']\ngoldens: [{store: {suite: release}}]\n", encoding="utf-8"
    )
    words = [] if verb == "history" else ["suite.yaml"]
    done = Verbs(tmp_path, "unused.db")(verb, *words, "--store-url", f"{SERVER}?sslmod=require", code=2)

    assert "did you mean `sslmode`?" in done.err
    assert PRIVATE not in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["suite.yaml"]
