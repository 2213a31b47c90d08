"""The documents of a scenario's trials, decoded on access."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast, overload

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.models.results.results import TrialDoc
    from evalgate.models.run.run import StoredTrial


class TrialDocs(Sequence["TrialDoc"]):
    """The documents of a scenario's trials, each decoded from its bytes on every access."""

    __slots__ = ("trials",)

    def __init__(self, trials: Sequence[StoredTrial]) -> None:
        self.trials = trials

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def __hash__(self) -> int:
        return id(self)

    def __len__(self) -> int:
        return len(self.trials)

    @overload
    def __getitem__(self, index: int) -> TrialDoc: ...
    @overload
    def __getitem__(self, index: slice) -> TrialDocs: ...
    def __getitem__(self, index: int | slice) -> TrialDoc | TrialDocs:
        if isinstance(index, slice):
            return TrialDocs(self.trials[index])
        return _decode(self.trials[index].document)

    def __iter__(self) -> Iterator[TrialDoc]:
        return (_decode(trial.document) for trial in self.trials)


def _decode(document: bytes) -> TrialDoc:
    import orjson

    return cast("TrialDoc", orjson.loads(document))
