"""Builds what `init` works with: files, traces and suites of the working directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalgate.features.learn.application.inference.build_suite import InferenceSources
    from evalgate.settings.limits import Limits


def build_inference_sources(cwd: str, bounds: Limits | None = None) -> InferenceSources:
    """The sources that suites are inferred from."""
    from evalgate.bootstrap.sources import build_suite_files, build_trace_files, build_workspace, find_price_list
    from evalgate.features.learn.application.inference.build_suite import InferenceSources

    return InferenceSources(
        build_workspace(cwd),
        build_trace_files(cwd, None, bounds),
        build_suite_files(cwd, None, bounds),
        find_price_list(),
    )
