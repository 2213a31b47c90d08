from __future__ import annotations

from evalgate.adapters.github.connection import origin
from evalgate.adapters.http import RequestDeadline


def test_an_origin_is_scheme_host_and_port():
    assert origin("https://API.github.com/x?y") == origin("https://api.github.com:443/z")
    assert origin("https://api.github.com") != origin("http://api.github.com")
    assert origin("https://api.github.com.evil.example") != origin("https://api.github.com")
    assert origin("https://api.github.com@evil.example/") != origin("https://api.github.com")


def test_a_deadline_refuses_a_wait_beyond_it():
    slept = []
    budget = RequestDeadline(5, sleep=slept.append)
    assert budget.wait(3)
    assert not budget.wait(3)
    assert slept == [3]
    assert budget.seconds_left() == 2


def test_a_deadline_is_never_negative():
    budget = RequestDeadline(1)
    budget.spend(5)
    assert budget.seconds_left() == 0


def test_time_spent_of_a_half_is_spent_of_the_whole():
    whole = RequestDeadline(60)
    half = whole.take_half()
    half.spend(20)
    assert (half.seconds_left(), whole.seconds_left()) == (10, 40)
    whole.spend(35)
    assert half.seconds_left() == 5


def test_at_another_pace_a_second_lasts_as_long_as_configured():
    slept = []
    budget = RequestDeadline(5, sleep=slept.append, clock=lambda: 3.0, pace=0.5)
    assert budget.take_half().wait(2)
    assert slept == [1.0]
    assert budget.seconds_left() == 3
    assert budget.clock() == 6
