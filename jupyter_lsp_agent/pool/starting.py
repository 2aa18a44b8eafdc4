"""How a pool of real servers starts one."""

from collections.abc import Awaitable, Callable

from jupyter_lsp_agent.core.clock import Clock
from jupyter_lsp_agent.core.launch import ServerLaunch
from jupyter_lsp_agent.lsp.client import LanguageClient
from jupyter_lsp_agent.pool.keys import PoolLimits


def starter(limits: PoolLimits, clock: Clock) -> Callable[[ServerLaunch], Awaitable[LanguageClient]]:
    """Starts a server and greets it; what was started is ended where that fails."""

    async def start(launch: ServerLaunch) -> LanguageClient:
        client = LanguageClient(launch, clock=clock, max_open_documents=limits.max_open_documents)
        await client.start()
        return client

    return start
