"""The names of servers, for whoever completes them."""

from jupyter_lsp_agent.servers.registry import ServerRegistry


def server_ids(language: str) -> tuple[str, ...]:
    """The ids of the servers that take documents of a language, in the catalogue's order."""
    return tuple(spec.server_id for spec in ServerRegistry() if spec.takes(language))
