"""The documents of a scenario's trials, decoded on access."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast, overload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evalgate.models.results.results import TrialDoc
    from evalgate.models.run.run import StoredTrial


class TrialDocs(Sequence["TrialDoc"]):
    """The documents of a scenario's trials, each decoded from its bytes, and converted, on every access."""

    __slots__ = ("_convert", "trials")

    def __init__(self, trials: Sequence[StoredTrial], convert: Callable[[TrialDoc], TrialDoc] | None = None) -> None:
        self.trials = trials
        self._convert = convert

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
            return TrialDocs(self.trials[index], self._convert)
        return self._decode(self.trials[index])

    def __iter__(self) -> Iterator[TrialDoc]:
        return map(self._decode, self.trials)

    def select(self, status: str) -> TrialDocs:
        """The documents of the trials with this status."""
        return TrialDocs([trial for trial in self.trials if trial.status == status], self._convert)

    def _decode(self, trial: StoredTrial) -> TrialDoc:
        import orjson

        document = cast("TrialDoc", orjson.loads(trial.document))
        return self._convert(document) if self._convert is not None else document
