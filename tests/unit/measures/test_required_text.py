import pytest
import regex
from hypothesis import assume, given
from hypothesis import strategies as st

from evalgate.measures.text.patterns import find_required_text

PIECES = st.sampled_from(
    [
        *["a", "b", "ab", " ", "é", r"\.", r"\-", r"\_", r"\é", ".", "^", "$", "|", "*", "+", "?", "{2}", "{0}", "{,1}", "{0,2}"],
        *["{}", "{", "}", "{a", "{e<=1}", "*?", "++", "??", "(", ")", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?P<n>"],
        *["(?i)", "(?i:", "(?x)", "(?#", "(?|", "(?P=n)", "(?(1)", "(*FAIL)", r"\b", r"\d", r"\w", r"\1", r"\x61", r"\u0061"],
        *[r"\n", r"\K", r"\R", r"\X", r"\N{DIGIT ONE}", r"\p{L}", r"\m", r"\G", "[", "]", "[ab]", "[^a]", "[]a]", "[^]a]"],
        *["[[:alpha:]]", r"[\]a]", r"[\w-]", "[a-c]", "#", "\n", "(?V1)", "(?r)", "(?f)", "(?e)", "&&", "--", "||"],
    ]
)  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@given(st.lists(PIECES, min_size=1, max_size=6).map("".join), st.text("ab .é-_{}1c\n#]", max_size=8))
def test_text_that_matches__holds_the_required_text(source, text):
    try:
        pattern = regex.compile(source)
    except regex.error:
        assume(False)
    assert pattern.search(text) is None or find_required_text(source) in text


@pytest.mark.parametrize(
    ("source", "required"),
    [
        ("order 17", "order 17"),
        ("^A-1007$", "A-1007"),
        (r"^\w+@example\.com$", "@example.com"),
        (r"a[bc]+ refund (now|later)", " refund "),
        ("colou?r", "colo"),
        ("ab{2}c", "a"),
        ("late|lost", ""),
        ("(late)", ""),
        ("(?i)late", ""),
        ("(?x) a b", ""),
        (r"\d{4}-\d{2}", "-"),
        (r"\x41bc", ""),
        ("", ""),
    ],
)
def test_required_text__is_the_longest_run_outside_of_groups(source, required):
    assert find_required_text(source) == required
