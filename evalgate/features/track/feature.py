"""What tracking adds: the verb, the inputs of the Action, and the flags of `evalgate run`."""

from typing import Literal, get_args

from evalgate.bootstrap.feature import Feature, OutputDeclaration, Verb
from evalgate.settings.readers import Count, OneOf, OneOrMoreOf, read_flag
from evalgate.settings.setting import Flag, Setting, SettingGroup, Text

TRACKERS = ("langsmith", "mlflow", "phoenix")
MAX_SECONDS = 30
"""Seconds that all requests of one run may take."""
ContentLevel = Literal["none", "final", "full"]
"""How much text leaves: ids and numbers only; also prompts, names of tools and final answers; also conversations."""
LEVELS = OneOf(*get_args(ContentLevel))


class TrackInputs(SettingGroup):
    """What is published where after the verdict."""

    track: Setting[tuple[str, ...]] = Setting(
        (),
        OneOrMoreOf(*TRACKERS),
        Text(
            "Trackers to publish the run to after the verdict, separated by commas: "
            f"{', '.join(TRACKERS)}; keys come from the step's env (docs/tracking.md). Default none",
            "[trackers](tracking.md#in-a-workflow) to publish the run to, separated by commas: "
            f"{', '.join(f'`{name}`' for name in TRACKERS)}",
        ),
        flag=Flag(
            f"after the verdict publish the run to these trackers: {', '.join(TRACKERS)}", metavar="NAME", default=[]
        ),
    )
    track_content: Setting[ContentLevel] = Setting(
        "final",
        LEVELS,
        Text(
            "Which texts leave for trackers, all redacted: none, final or full",
            "[which texts leave](tracking.md#what-leaves) for trackers: `none`, `final`, `full`",
        ),
        flag=Flag("which texts leave, as `evalgate track --content` (default final)", default="final"),
    )
    track_timeout = Setting(
        MAX_SECONDS,
        Count(1, MAX_SECONDS),
        Text(
            f"Seconds that all requests to trackers may take together, 1 to {MAX_SECONDS}",
            f"seconds that all requests to trackers may take together, 1 to {MAX_SECONDS}",
        ),
    )
    track_forks = Setting(
        False,
        read_flag,
        Text(
            "true to publish a pull request from a fork too, with mode publish, as ids and numbers only",
            "`true` publishes [pull requests from forks](tracking.md#forks) too, with `mode: publish`",
        ),
    )
    track_allow_http = Setting(
        False,
        read_flag,
        Text(
            "true to allow a tracker at http on another machine",
            "`true` allows a tracker at `http://` on another machine",
        ),
    )


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
    settings=TrackInputs,
)
