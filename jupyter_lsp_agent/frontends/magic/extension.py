"""Loading into a shell and unloading from it, both as often as one likes."""

import atexit
from typing import Any

from jupyter_lsp_agent.frontends.magic.completion import LspCheckCompleter, option_values
from jupyter_lsp_agent.frontends.magic.magics import LspMagics

_REGISTERED = LspMagics.__name__


def load(shell: Any) -> None:
    """Add the magic, its completion, and the way to end with the interpreter."""
    if _REGISTERED in shell.magics_manager.registry:
        return
    magics = LspMagics(shell)
    shell.register_magics(magics)
    magics.start()
    shell.Completer.custom_matchers.append(LspCheckCompleter(option_values(magics.cell_count)))
    atexit.register(magics.close)


def unload(shell: Any) -> None:
    """Take it all away, and stop what was started."""
    magics = shell.magics_manager.registry.pop(_REGISTERED, None)
    if magics is None:
        return
    atexit.unregister(magics.close)
    magics.stop()
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop("lsp_check", None)
    matchers = shell.Completer.custom_matchers
    matchers[:] = [matcher for matcher in matchers if not isinstance(matcher, LspCheckCompleter)]
