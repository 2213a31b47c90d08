"""Trackers as an output of a run: keys are read before it, experiments are published after its verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from evalgate.errors import InvalidInput, TrackerKeyMissing
from evalgate.models.run.chunks import join_chunks
from evalgate.ports.outputs import Delivered, DeliveryNote, Rendered, RunOutput, ServiceLinks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalgate.features.track.application.track_run import TrackingReport
    from evalgate.features.track.models import TrackingContext, TrackingOptions
    from evalgate.features.track.ports import Tracker
    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.run.chunks import Content
    from evalgate.ports.outputs import OutputSettings, OutputSource, RunSubject

MOST_TRIALS = 30_000
"""Trials of a run that a job's judge publishes; more would take the memory that it has for judging."""
FORK_REASON = "; GitHub gives no secrets to pull requests from forks"


class TrackerOutput(RunOutput):
    """What leaves for trackers: one document for all of them."""

    name = "published.json"
    is_late = True
    needs_traces = True
    refusal = "not tracked: the judge's document for trackers is not one of this run"

    def __init__(self) -> None:
        self._trackers: Sequence[Tracker] = ()

    def prepare(self, settings: OutputSettings, environ: Mapping[str, str]) -> TrackingOptions | None:
        """Connects the trackers that have a key; None without any, and for a report of the own repository."""
        from evalgate.features.track.models import TrackingOptions
        from evalgate.features.track.settings import require_tracker

        names = list(dict.fromkeys(map(require_tracker, settings.given["track"])))
        run = settings.report_of
        if run is not None and (run.is_same_repository or not settings.given.get("track_forks")):
            return None
        self._trackers = _build_trackers(names, settings, environ)
        if not self._trackers:
            return None
        most = MOST_TRIALS if settings.is_job else None
        return TrackingOptions(_read_context(settings, environ), settings.given["track_content"], most)

    def render(self, source: OutputSource, options: TrackingOptions) -> Rendered:
        """The run as it may leave."""
        from evalgate.features.track.application.published_run import render_published_run

        return render_published_run(source, options)

    def is_allowed(
        self,
        content: Content,
        results: ResultsDoc,  # noqa: ARG002
        subject: RunSubject,
        options: TrackingOptions,
    ) -> bool:
        """Whether names and facts are those of the run, and no text leaves that its level keeps."""
        from evalgate.features.track.application.published_check import decode_published
        from evalgate.features.track.application.published_run import make_names

        names = make_names(options.context, subject.run_id, subject.branch, subject.commit)
        return decode_published(join_chunks(content), names, options.content) is not None

    def deliver(self, content: Content, results: ResultsDoc) -> Delivered:  # noqa: ARG002
        """Publishes the run to each tracker; what fails is a note."""
        import orjson

        from evalgate.features.track.application.track_run import TRACKING, build_tracking_document, track_run
        from evalgate.features.track.models import PublishedRun

        run = msgspec.json.decode(join_chunks(content), type=PublishedRun)
        reports = [track_run(run, tracker) for tracker in self._trackers]
        url = next((each.url for report in reports for each in report.experiments), "")
        return Delivered(
            links=[ServiceLinks(report.tracker, [each.url for each in report.experiments]) for report in reports],
            outputs={"tracking-url": url} if url else {},
            files={TRACKING: orjson.dumps(build_tracking_document(reports), option=orjson.OPT_INDENT_2)},
            notes=[note for report in reports for note in _describe(report)],
        )


def _build_trackers(names: Sequence[str], settings: OutputSettings, environ: Mapping[str, str]) -> list[Tracker]:
    """The trackers that have keys; a missing key is a notice, any other problem a warning."""
    from evalgate.features.track.bootstrap import build_tracker
    from evalgate.features.track.feature import MAX_SECONDS

    given = settings.given
    seconds = given.get("track_timeout", MAX_SECONDS) / len(names)
    found: list[Tracker] = []
    missing: list[str] = []
    for name in names:
        try:
            allow_http = given.get("track_allow_http", False)
            found.append(build_tracker(name, environ, allow_http=allow_http, seconds=seconds))
        except TrackerKeyMissing as error:
            missing.append(error.problems[0].message)
        except InvalidInput as error:
            settings.note("warning", f"not tracked: {error.problems[0]}")
    if missing:
        reason = FORK_REASON if settings.is_from_fork else ""
        settings.note("notice", f"not tracked: {', '.join(missing)}{reason}")
    return found


def _read_context(settings: OutputSettings, environ: Mapping[str, str]) -> TrackingContext:
    from evalgate.features.track.settings import read_fork_context, read_tracking_context

    if settings.report_of is not None:
        return read_fork_context(environ, settings.report_of)
    return read_tracking_context(environ, settings.cwd, settings.branch)


def _describe(report: TrackingReport) -> Iterator[DeliveryNote]:
    for experiment in report.experiments:
        yield DeliveryNote("log", f"tracked: {experiment.name} {experiment.url}")
    if report.problem is not None:
        yield DeliveryNote("failure", f"not tracked: {report.problem}")
    for _, message in report.warnings:
        yield DeliveryNote("warning", message)
