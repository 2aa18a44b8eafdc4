"""Deaths in a row make a server broken; an answer between them, or a long life, breaks the row."""

from jupyter_lsp_agent.core.ids import DocumentUri, ServerId
from jupyter_lsp_agent.pool.crashes import CrashHistory
from jupyter_lsp_agent.pool.keys import ClientKey, PoolLimits

KEY = ClientKey(ServerId("one"), DocumentUri("file:///w"))
LIMITS = PoolLimits(max_crashes=3, crash_window_seconds=60.0)


def test_the_third_death_in_a_row_is_one_too_many() -> None:
    history = CrashHistory(LIMITS)
    assert [history.record_death(KEY, 1.0) for _ in range(3)] == [False, False, True]


def test_an_answer_between_deaths_forgives_those_before() -> None:
    history = CrashHistory(LIMITS)
    for _ in range(10):
        assert not history.record_death(KEY, 1.0)
        history.record_start(KEY)
        history.record_answer(KEY)
    assert history.restarts(KEY) == 10
    assert history.back_off_seconds(KEY) == 0.0


def test_a_long_life_does_too() -> None:
    history = CrashHistory(LIMITS)
    assert not any(history.record_death(KEY, lifetime) for lifetime in (1.0, 1.0, 61.0, 1.0))
