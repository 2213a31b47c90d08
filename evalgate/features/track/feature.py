"""What tracking adds to the command line."""

from evalgate.bootstrap.feature import Feature, OutputDeclaration, Verb

TRACK = Feature(
    "track",
    "publish a finished run to LangSmith, MLflow or Phoenix",
    verbs={
        "track": Verb(
            "publish a finished run to LangSmith, MLflow or Phoenix", f"{__package__}.cli.track", after="convert"
        )
    },
    connecting=("track",),
    outputs={"published.json": OutputDeclaration(f"{__package__}.output:TrackerOutput", asked_by=("track",))},
)
