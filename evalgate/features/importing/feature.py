"""What the way over from other tools adds: one verb."""

from evalgate.bootstrap.feature import Feature, Verb

IMPORTING = Feature(
    "importing",
    "write a suite from the checks of promptfoo, Vally, Agent Skills or OpenAI's evals",
    verbs={
        "import-suite": Verb(
            "write a suite from the checks of another tool", f"{__package__}.cli.import_suite", after="evaluators"
        )
    },
)
