"""What the coding agent of a person gets: a failed run in short, and a skill."""

from evalgate.bootstrap.feature import Feature, Verb

CODING_AGENT = Feature(
    "coding_agent",
    "what a coding agent reads: why a run failed, in short, and how to work with EvalGate",
    verbs={"skill": Verb("print a skill (SKILL.md) for coding agents", f"{__package__}.cli.skill", after="explain")},
    provides={"explainer_for_agent": f"{__package__}.application.explain_for_agent:explain_for_agent"},
)
