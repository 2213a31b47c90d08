"""What the coding agent of a person gets: a failed run in short, and a skill."""

from evalgate.bootstrap.feature import Feature, Verb
from evalgate.settings.readers import read_flag
from evalgate.settings.setting import Setting, SettingGroup, Text


class CodingAgentInputs(SettingGroup):
    """What the comment has for coding agents."""

    for_agent = Setting(
        False,
        read_flag,
        Text(
            "true for a folded part of the comment for coding agents (docs/coding-agents.md)",
            "`true` adds a folded part [for coding agents](coding-agents.md#in-the-comment) to the comment",
        ),
    )


CODING_AGENT = Feature(
    "coding_agent",
    "what a coding agent reads: why a run failed, in short, and how to work with EvalGate",
    verbs={"skill": Verb("print a skill (SKILL.md) for coding agents", f"{__package__}.cli.skill", after="explain")},
    provides={
        "explainer_for_agent": f"{__package__}.application.explain_for_agent:explain_for_agent",
        "comment_part_for_agent": f"{__package__}.application.explain_for_agent:build_comment_part",
    },
    settings=CodingAgentInputs,
)
