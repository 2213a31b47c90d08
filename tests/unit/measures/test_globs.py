import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evalgate.measures.text.globs import GlobError, compile_path_glob, matches_id


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("*", "", True),
        ("a*", "abc", True),
        ("*c", "abc", True),
        ("a*b*c", "a-b-b-c", True),
        ("a*a", "a", False),
        ("a*b*b", "ab", False),
        ("[x]?", "[x]?", True),
        ("[x]?", "x1", False),
        ("a", "a*", False),
    ],
)
def test_matches_id__only_the_star_is_special(pattern, text, fits):
    assert matches_id(pattern, text) is fits


@given(st.text("ab*", max_size=6), st.text("ab", max_size=8))
def test_matches_id__agrees_with_a_slow_definition(pattern, text):
    def slow(p, t):
        if not p:
            return not t
        if p[0] == "*":
            return any(slow(p[1:], t[i:]) for i in range(len(t) + 1))
        return bool(t) and p[0] == t[0] and slow(p[1:], t[1:])

    assert matches_id(pattern, text) == slow(pattern, text)


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("*.json", "a.json", True),
        ("*.json", "x/a.json", False),
        ("**/*.json", "a.json", True),
        ("**/*.json", "x/y/a.json", True),
        ("x/**", "x/y/a.json", True),
        ("a?.json", "ab.json", True),
        ("a?.json", "a/.json", False),
        ("a.json", "axjson", False),
    ],
)
def test_path_pattern__stars_stay_in_their_folder(pattern, path, fits):
    assert (compile_path_glob(pattern).fullmatch(path) is not None) is fits


@given(st.text("ab*?/", max_size=7), st.text("ab/", max_size=8))
def test_path_pattern__agrees_with_a_slow_definition(pattern, path):
    def slow(p, t):
        if not p:
            return not t
        if p[0] == "*":
            return slow(p[1:], t) or (bool(t) and t[0] != "/" and slow(p, t[1:]))
        return bool(t) and (p[0] == t[0] or (p[0] == "?" and t[0] != "/")) and slow(p[1:], t[1:])

    assume("**" not in pattern)
    assert (compile_path_glob(pattern).fullmatch(path) is not None) == slow(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [("*a" * 100 + "b", "a" * 4_000), ("**/a/**/a/b", "a/" * 500), ("*a*/" * 50 + "x", "a" * 250 + "/y")],
)
def test_path_pattern__takes_bounded_time(pattern, path):
    assert not compile_path_glob(pattern).fullmatch(path)


def test_path_pattern__that_crosses_folders_too_often_is_refused():
    with pytest.raises(GlobError, match="2 `\\*\\*`"):
        compile_path_glob("**/a/**/b/**")
