"""Which server of a chain was found to work, so that the next check does not go through the others again."""

from dataclasses import dataclass

from jupyter_lsp_agent.core.clock import Clock
from jupyter_lsp_agent.core.ids import ServerId
from jupyter_lsp_agent.pool.keys import ClientKey

Chain = tuple[ClientKey, ...]


@dataclass(frozen=True, slots=True)
class ServerFailure:
    """Why a server of a chain did not answer: the contract's `reason`, and a sentence for people."""

    server_id: ServerId
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class Choice:
    """The server that spoke, and why those before it did not."""

    key: ClientKey
    failures: tuple[ServerFailure, ...]
    until_seconds: float | None


class Choices:
    """Remembers the choice of each chain in which the first did not work.

    Args:
        clock: the time.
        retry_seconds: how long a choice lasts; 0 for until `clear`.
    """

    def __init__(self, clock: Clock, retry_seconds: float) -> None:
        self._clock = clock
        self._retry_seconds = retry_seconds
        self._choices: dict[Chain, Choice] = {}

    def find(self, chain: Chain) -> Choice | None:
        """The choice of `chain`, while it lasts."""
        choice = self._choices.get(chain)
        if choice and choice.until_seconds is not None and choice.until_seconds <= self._clock.monotonic_seconds():
            self.forget(chain)
            return None
        return choice

    def remember(self, chain: Chain, key: ClientKey, failures: tuple[ServerFailure, ...]) -> None:
        """Have `key` asked first from now on."""
        now = self._clock.monotonic_seconds()
        self._choices[chain] = Choice(key, failures, now + self._retry_seconds if self._retry_seconds > 0 else None)

    def forget(self, chain: Chain) -> None:
        """It did not work any more."""
        self._choices.pop(chain, None)

    def clear(self) -> None:
        """Forget all choices."""
        self._choices.clear()
