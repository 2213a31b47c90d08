"""What the HTML page adds to the command line."""

from evalgate.bootstrap.feature import Feature, Verb

PAGE = Feature(
    "page",
    "a finished run as one HTML file",
    verbs={"view": Verb("write a finished run as one HTML file", f"{__package__}.cli.view", after="explain")},
)
