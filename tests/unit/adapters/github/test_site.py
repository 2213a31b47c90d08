from __future__ import annotations

from evalgate.adapters.github.site import Budget, origin


def test_an_origin_is_scheme_host_and_port():
    assert origin("https://API.github.com/x?y") == origin("https://api.github.com:443/z")
    assert origin("https://api.github.com") != origin("http://api.github.com")
    assert origin("https://api.github.com.evil.example") != origin("https://api.github.com")
    assert origin("https://api.github.com@evil.example/") != origin("https://api.github.com")


def test_a_budget_refuses_a_wait_it_can_not_afford():
    slept = []
    budget = Budget(5, sleep=slept.append)
    assert budget.wait(3)
    assert not budget.wait(3)
    assert slept == [3]
    assert budget.left() == 2


def test_a_budget_is_never_below_nothing():
    budget = Budget(1)
    budget.spend(5)
    assert budget.left() == 0
