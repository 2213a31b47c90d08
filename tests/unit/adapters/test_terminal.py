"""Progress: silence in pipes and for short work, a counting line for long work on a terminal."""

import io
from itertools import count

from evalgate.adapters.progress import SilentProgress, SpinnerProgress, progress_for


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_pipe__gets_no_progress():
    assert isinstance(progress_for(io.StringIO(), quiet=False), SilentProgress)


def test_a_terminal__gets_none_where_quiet_is_asked_for():
    assert isinstance(progress_for(Terminal(), quiet=True), SilentProgress)
    assert isinstance(progress_for(Terminal(), quiet=False), SpinnerProgress)


def test_short_work__shows_nothing():
    screen = Terminal()
    spinner = SpinnerProgress(screen, clock=lambda: 0.0)
    for _ in range(100):
        spinner.advance("traces")
    spinner.finish()
    assert screen.getvalue() == ""


def test_long_work__is_counted_and_the_line_taken_away():
    screen, seconds = Terminal(), count()
    spinner = SpinnerProgress(screen, clock=lambda: float(next(seconds)))
    for _ in range(1_234):
        spinner.advance("traces")
    spinner.finish()
    shown = screen.getvalue()
    assert "traces" in shown
    assert "1,234" in shown
    assert shown.endswith("\x1b[2K"), "the line is erased at the end"


def test_long_work__tells_its_pace_and_after_a_while_how_much_is_left():
    screen, seconds = Terminal(), count()
    spinner = SpinnerProgress(screen, clock=lambda: float(next(seconds)), share=lambda: 0.25)
    for _ in range(60):
        spinner.advance("traces", 100)
    shown = screen.getvalue()
    spinner.finish()
    assert "100/s" in shown
    assert "180 s left" not in shown.split("5,0")[0], "not while nobody can know"
    assert "3 min left" in shown


def test_a_line_that_can_not_know_what_is_left__says_nothing_of_it():
    screen, seconds = Terminal(), count()
    spinner = SpinnerProgress(screen, clock=lambda: float(next(seconds)), share=lambda: None)
    for _ in range(20):
        spinner.advance("traces", 100)
    spinner.finish()
    assert "left" not in screen.getvalue()
