"""Progress: silence in pipes and for short work, a counting line for long work on a terminal."""

import io
from itertools import count

from evalgate.adapters.progress import SilentProgress, SpinnerProgress, progress_for


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_pipe__gets_no_progress():
    assert isinstance(progress_for(io.StringIO(), quiet=False), SilentProgress)


def test_a_terminal__gets_none_with_quiet():
    assert isinstance(progress_for(Terminal(), quiet=True), SilentProgress)
    assert isinstance(progress_for(Terminal(), quiet=False), SpinnerProgress)


def test_short_work__shows_no_progress():
    screen = Terminal()
    spinner = SpinnerProgress(screen, clock=lambda: 0.0)
    for _ in range(100):
        spinner.advance("traces")
    spinner.finish()
    assert screen.getvalue() == ""


def test_long_work__shows_a_count_and_removes_the_line_at_the_end():
    screen, seconds = Terminal(), count()
    spinner = SpinnerProgress(screen, clock=lambda: float(next(seconds)))
    for _ in range(1_234):
        spinner.advance("traces")
    spinner.finish()
    shown = screen.getvalue()
    assert "traces" in shown
    assert "1,234" in shown
    assert shown.endswith("\x1b[2K"), "the line is erased at the end"


def test_long_work__shows_its_pace_and_after_a_while_the_time_left():
    screen, seconds = Terminal(), count()
    spinner = SpinnerProgress(screen, clock=lambda: float(next(seconds)), share=lambda: 0.25)
    for _ in range(60):
        spinner.advance("traces", 100)
    shown = screen.getvalue()
    spinner.finish()
    assert "100/s" in shown
    assert "180 s left" not in shown.split("5,0")[0], "not while the total is unknown"
    assert "3 min left" in shown


def test_a_line_without_a_known_total__shows_no_time_left():
    screen, seconds = Terminal(), count()
    spinner = SpinnerProgress(screen, clock=lambda: float(next(seconds)), share=lambda: None)
    for _ in range(20):
        spinner.advance("traces", 100)
    spinner.finish()
    assert "left" not in screen.getvalue()
