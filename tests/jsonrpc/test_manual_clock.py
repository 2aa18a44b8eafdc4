"""The clock of the tests is itself tested: a wrong one would make every test of time worthless."""

from tests.support.clock import ManualClock


def test_timers_fire_in_order_at_their_own_time_and_not_before() -> None:
    clock = ManualClock(100.0)
    fired: list[tuple[str, float]] = []

    def note(name: str) -> None:
        fired.append((name, clock.monotonic_seconds()))

    clock.call_later(2.0, lambda: note("later"))
    clock.call_later(1.0, lambda: (note("first"), clock.call_later(0.5, lambda: note("made by first")))[0])
    clock.call_later(1.0, lambda: note("second"))
    clock.call_later(1.0, lambda: note("never")).cancel()
    assert clock.next_due == 1.0
    clock.advance(0.99)
    assert fired == []
    clock.advance(1.0)
    assert fired == [("first", 101.0), ("second", 101.0), ("made by first", 101.5)]
    assert clock.monotonic_seconds() == 101.99
    clock.advance(10)
    assert fired[-1] == ("later", 102.0)
    assert clock.next_due is None
