"""The optional features, by name; of each only its declaration is read at the start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.features.coding_agent.feature import CODING_AGENT
from evalgate.features.evidence.feature import EVIDENCE
from evalgate.features.gitlab.feature import GITLAB
from evalgate.features.importing.feature import IMPORTING
from evalgate.features.learn.feature import LEARN
from evalgate.features.page.feature import PAGE
from evalgate.features.record.feature import RECORD
from evalgate.features.store.feature import STORE
from evalgate.features.testing.feature import TESTING
from evalgate.features.track.feature import TRACK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.bootstrap.feature import Verb
    from evalgate.settings.setting import Setting

FEATURES = (CODING_AGENT, EVIDENCE, GITLAB, IMPORTING, LEARN, PAGE, RECORD, STORE, TESTING, TRACK)


def load_port(port: str) -> Any:
    """The function with which a feature fills a port of the kernel, imported now."""
    return next(feature for feature in FEATURES if port in feature.provides).load(port)


def feature_settings() -> list[Setting[Any]]:
    """The settings of all features."""
    return [setting for feature in FEATURES for setting in feature.settings.declared()]


def all_settings() -> list[Setting[Any]]:
    """Every setting, in the order of action.yml: those of features follow the kernel's files that they are like."""
    from evalgate.settings.inputs import Inputs

    own = Inputs.declared()
    place = own.index(Inputs.sarif_path) + 1
    return [*own[:place], *feature_settings(), *own[place:]]


def with_feature_verbs(own: Mapping[str, Verb]) -> dict[str, Verb]:
    """The verbs of kernel and features, each after the one that it follows; `own` are the kernel's, in their order."""
    waiting = {name: verb for feature in FEATURES for name, verb in feature.verbs.items()}
    ordered: dict[str, Verb] = {}

    def add(name: str, verb: Verb) -> None:
        ordered[name] = verb
        for follower, each in waiting.items():
            if each.after == name:
                add(follower, each)

    for name, verb in own.items():
        add(name, verb)
    return ordered
