"""What a worker does: judges the traces of one batch, independently of other batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from evalgate.application.evaluation.baseline_scenarios import WorstTrialRecorder
from evalgate.application.evaluation.evaluate import RecordJudge
from evalgate.application.evaluation.trace_warnings import WarningCollector
from evalgate.errors import InvalidInput, JudgeCrashed, OverLimit, Problem, RefusedPath, SettingError
from evalgate.measures.redaction.redact import add_project_secrets, get_project_secrets
from evalgate.models.trace.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evalgate.application.evaluation.evaluate import TraceChoice
    from evalgate.application.evaluation.suite_judge import JudgedRecord
    from evalgate.models.trace.trace import Warning_
    from evalgate.ports.batches import Batch, BatchSource, TracePart
    from evalgate.suite.models import Configuration

REFUSALS: Mapping[str, type[InvalidInput]] = {
    each.code: each for each in (InvalidInput, SettingError, RefusedPath, OverLimit)
}


class BatchTask(NamedTuple):
    """One batch for one suite; whether to keep its traces for a baseline and judge them by its rules too."""

    suite: int
    batch: Batch
    keeps: bool = False
    crosses: bool = False
    judges: bool = True  # else only find the files that hold parts of traces


class JudgedBatch(Struct):
    """What was found in one batch: `lines` are its traces for a baseline (None: not kept), `size` their bytes.

    `warnings` come with the number of traces, `unpriced` counts traces by model; `parts` wait for other files.
    """

    parts: Sequence[TracePart] = ()
    is_judged: bool = False
    records: list[JudgedRecord] = []
    warnings: list[tuple[Warning_, int]] = []
    unpriced: dict[str, int] = {}
    lines: list[bytes] | None = None
    size: int = 0


class BatchRefusal(Struct):
    """Invalid input that ended a batch, or a bug: the class of an exception and where it was raised."""

    code: str = ""
    problems: Sequence[Problem] = ()
    bug: tuple[str, str] | None = None


class BatchJudge:
    """Judges batches; built once per run, then sent or forked to the workers.

    `encode_line` encodes a trace for a baseline.
    """

    def __init__(
        self,
        configuration: Configuration,
        choice: TraceChoice,
        source: BatchSource,
        encode_line: Callable[[Trace], bytes],
    ) -> None:
        self._source, self._encode_line = source, encode_line
        self._hidden = get_project_secrets()
        self._forms = [choice.resolve_for_suite(suite)[2] for suite in configuration.suites]
        self._judges = [RecordJudge(suite, choice) for suite in configuration.suites]

    def __call__(self, task: BatchTask) -> JudgedBatch | BatchRefusal:
        """The results, or why there are none."""
        if self._hidden is not None:
            add_project_secrets(self._hidden)
        try:
            return self._judge_batch(task)
        except InvalidInput as error:
            return BatchRefusal(error.code, error.problems)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001  (the waiting process reports the bug)
            return BatchRefusal(bug=(type(error).__name__, _error_location(error)))

    def _judge_batch(self, task: BatchTask) -> JudgedBatch:
        form, judge = self._forms[task.suite], self._judges[task.suite]
        if not task.judges:
            return JudgedBatch(self._source.find_parts(task.batch, form))
        batch, warnings = self._source.open_batch(task.batch, form), WarningCollector(most=None)
        records, lines = [], []
        judge.begin(WorstTrialRecorder())
        for record in batch:
            records.append(judge.judge(record, crosses=task.crosses))
            if isinstance(record, Trace):
                if task.keeps:
                    lines.append(self._encode_line(record))
                warnings.add(record)
                warnings.add_pricing(record)
        counts, unpriced = warnings.count_messages()
        return JudgedBatch(
            batch.parts,
            is_judged=True,
            records=records,
            warnings=counts,
            unpriced=unpriced,
            lines=lines if task.keeps else None,
            size=batch.size,
        )


def require_judged(answer: JudgedBatch | BatchRefusal) -> JudgedBatch:
    """The results of a batch; raises why there are none."""
    if isinstance(answer, JudgedBatch):
        return answer
    if answer.bug is not None:
        kind, place = answer.bug
        raise JudgeCrashed(kind, [place])
    raise REFUSALS.get(answer.code, InvalidInput)(*answer.problems)


def _error_location(error: BaseException) -> str:
    """Where in EvalGate's code the error was raised; without its message, which may quote untrusted text."""
    where, place = "unknown", error.__traceback__
    while place is not None:
        name = str(place.tb_frame.f_globals.get("__name__", ""))
        if name.startswith("evalgate"):
            where = f"{name}:{place.tb_lineno}"
        place = place.tb_next
    return where
