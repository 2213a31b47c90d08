"""Whether the agent or the rules caused a change: every row of the table."""

from itertools import product

import pytest

from evalgate.gate.trajectory.cause import CrossScores, ScoredVerdict, find_cause

PASS, FAIL = ScoredVerdict("PASS", 1.0), ScoredVerdict("FAIL", 0.0)
SIDES = {"P": PASS, "F": FAIL, "?": None}
"""Before, now, now by the old rules, before by the new ones."""
TABLE = {
    "PFPF": "rules_stricter",
    "PFPP": "together",
    "PFP?": "rules_stricter",
    "PFFP": "agent",
    "PFFF": "both",
    "PFF?": "agent",
    "PF?P": "agent",
    "PF?F": "rules_stricter",
    "PF??": "unknown",
    "FPFP": "rules_looser",
    "FPFF": "together",
    "FPF?": "rules_looser",
    "FPPF": "agent",
    "FPPP": "both",
    "FPP?": "agent",
    "FP?P": "rules_looser",
    "FP?F": "agent",
    "FP??": "unknown",
    **{f"PPF{each}": "masked" for each in "PF?"},
    **{f"PP{now}{each}": None for now in "P?" for each in "PF?"},
    **{f"FFP{each}": "outgrown" for each in "PF?"},
    **{f"FF{now}{each}": None for now in "F?" for each in "PF?"},
}


def cause(row, least=0.05):
    before, now, now_by_old, before_by_new = (SIDES[each] for each in row)
    return find_cause(before, now, CrossScores(now_by_old, before_by_new, "why"), least)


def test_the_table__has_every_row():
    rows = {"".join(row) for row in product("PF", "PF", "PF?", "PF?")}
    assert set(TABLE) == rows


@pytest.mark.parametrize("row", TABLE)
def test_verdicts__determine_the_cause(row):
    found = cause(row)
    assert (found and found.kind) == TABLE[row]


@pytest.mark.parametrize("row", [row for row, kind in TABLE.items() if kind not in (None, "unknown")])
def test_the_cause__has_the_verdicts_it_is_based_on(row):
    found = cause(row)
    sides = [SIDES[each] for each in row[2:]]
    assert [found.now_by_old_rules, found.before_by_new_rules] == [each and each.verdict for each in sides]


def mirrored(row):
    return row.translate(str.maketrans("PF", "FP"))


@pytest.mark.parametrize("row", [row for row in TABLE if row[0] != row[1]])
def test_a_break_and_its_fix__have_the_same_cause(row):
    opposite = {"rules_stricter": "rules_looser", "rules_looser": "rules_stricter"}
    kind = TABLE[row]
    assert TABLE[mirrored(row)] == opposite.get(kind, kind)


def test_the_messages_of_common_causes():
    assert cause("PFPF").message == "the agent is the same, the rules got stricter"
    assert "would fail under the baseline's rules" in cause("PPFP").message
    assert cause("PFFF").message == (  # whether such rules are stricter is unknown: they may also be weaker
        "the agent and the rules changed: it would fail under the baseline's rules too, and the baseline's traces fail"
        " the new ones"
    )
    assert cause("PF??").message == "the cause (agent or rules) is unknown: why"


@pytest.mark.parametrize("verdict", ["MISSING", "ERROR", "NOT_EVALUABLE"])
def test_a_run_that_was_not_evaluable__has_no_cause(verdict):
    nothing = ScoredVerdict(verdict, None)
    assert find_cause(nothing, PASS, CrossScores(PASS, PASS), 0.05) is None
    assert find_cause(PASS, nothing, CrossScores(PASS, PASS), 0.05) is None


@pytest.mark.parametrize("verdict", ["MISSING", "ERROR", "NOT_EVALUABLE"])
def test_a_cross_scoring_that_was_not_evaluable__counts_as_unknown(verdict):
    found = find_cause(PASS, FAIL, CrossScores(ScoredVerdict(verdict, 0.0), FAIL), 0.05)
    assert (found.kind, found.now_by_old_rules) == ("rules_stricter", None)


def scores(before, now, now_by_old, before_by_new, least=0.05):
    sides = [None if each is None else ScoredVerdict("PASS", each) for each in (before, now, now_by_old, before_by_new)]
    found = find_cause(sides[0], sides[1], CrossScores(sides[2], sides[3]), least)
    return found and found.kind


@pytest.mark.parametrize(
    ("figures", "kind"),
    [
        ((1.0, 0.8, 1.0, 0.8), "rules_stricter"),
        ((1.0, 0.8, 0.8, 1.0), "agent"),
        ((1.0, 0.8, 0.9, 0.9), "both"),
        ((1.0, 0.8, 1.0, 1.0), "together"),
        ((1.0, 0.8, None, None), "unknown"),
        ((0.8, 1.0, 0.8, 1.0), "rules_looser"),
        ((0.8, 1.0, 1.0, 0.8), "agent"),
        ((1.0, 0.96, 0.9, 0.9), None),
        ((0.90, 0.85, 1.0, 1.0), None),
    ],
)
def test_a_score_that_moved_without_a_flip__has_a_cause_too(figures, kind):
    assert scores(*figures) == kind
